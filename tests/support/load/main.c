/* SPDX-License-Identifier: Apache-2.0 */
/* hotstack-load: simulates the collectors of many nodes at the same time. See --help. */
#include "expect.h"
#include "run.h"

#include <base/clock.h>

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: hotstack-load --recording FILE --url URL [--url URL] --token-file FILE [OPTION...]\n"
    "       hotstack-load --recording FILE --expect [OPTION...]\n"
    "\n"
    "Sends what the collectors of a fleet of nodes send, each on a connection of its own, and "
    "follows\n"
    "their rules: a batch is sent until it is acknowledged or rejected, with the same id and the\n"
    "number of the try, and with more stacks where the backend asks for them. What is sent depends "
    "on\n"
    "the fleet's options alone, so --expect with the same ones tells what the store must then "
    "hold.\n"
    "Prints one line of JSON with what the calls came to.\n"
    "\n"
    "The fleet\n"
    "  --recording FILE   take stacks, pools and classes from this recording\n"
    "  --seed N           another fleet for another number (1)\n"
    "  --cluster NAME     of its nodes (load)\n"
    "  --nodes N          how many (4)\n"
    "  --jvms N           of each node (5)\n"
    "  --services N       that the JVMs of a node are spread over (as many as JVMs)\n"
    "  --rows N           of a JVM's window, over all sources of the recording (300)\n"
    "  --threads N        of a JVM's snapshot, one a window; 0 = no snapshots (50)\n"
    "  --apart            profiles and snapshots in batches of their own\n"
    "  --start-ms N       begin of the first window, Unix ms, cut to a minute (now)\n"
    "  --windows N        of a minute each, one after the other (2)\n"
    "\n"
    "The calls\n"
    "  --url URL          of a backend; with several, each call goes to the next one\n"
    "  --token-file FILE  its first line is the collectors' token\n"
    "  --speed N          minutes of the fleet in a real one; 1 = the real cadence, 0 = all "
    "windows\n"
    "                     are due at once (0)\n"
    "  --newest-first     send the windows in reverse order\n"
    "  --prepare          make all payloads before the first call\n"
    "  --timeout MS       give a call up (30000)\n"
    "  --backoff MS       first wait after a call that failed, doubled up to --backoff-max (1000)\n"
    "  --backoff-max MS   (60000)\n"
    "  --heartbeat MS     of each node, real time, 0 = none (30000)\n"
    "  --status MS        status report of each node, the same (60000)\n"
    "  --acknowledged F   append a line for each acknowledged batch: ID NODE WINDOW PART OUTCOME\n"
    "\n"
    "  --expect           print what the store must hold: lines of TABLE KEY SOURCE DAY ROWS and "
    "four\n"
    "                     sums, with tabs between them; tests/support/load/expect.h names the "
    "sums\n"
    "  --help\n"
    "\n"
    "Exits with 0 when all batches are acknowledged, 1 when some are rejected or a call is "
    "refused,\n"
    "2 for wrong options.\n";

enum { URLS_MAX = 8, TOKEN_SIZE = 1024, MINUTE_MS = 60000, COUNT_MAX = 1000000 };

typedef struct options {
    fleet fleet;
    run_options run;
    const char *recording;
    const char *urls[URLS_MAX];
    char token[TOKEN_SIZE];
    bool expect, help;
} options;

enum {
    RECORDING = 1,
    SEED,
    CLUSTER,
    NODES,
    JVMS,
    SERVICES,
    ROWS,
    THREADS,
    APART,
    START,
    WINDOWS,
    URL,
    TOKEN,
    SPEED,
    NEWEST_FIRST,
    PREPARE,
    TIMEOUT,
    BACKOFF,
    BACKOFF_MAX,
    HEARTBEAT,
    STATUS,
    ACKNOWLEDGED,
    EXPECT,
    HELP
};

static const struct option long_options[] = {
    {"recording", required_argument, NULL, RECORDING},
    {"seed", required_argument, NULL, SEED},
    {"cluster", required_argument, NULL, CLUSTER},
    {"nodes", required_argument, NULL, NODES},
    {"jvms", required_argument, NULL, JVMS},
    {"services", required_argument, NULL, SERVICES},
    {"rows", required_argument, NULL, ROWS},
    {"threads", required_argument, NULL, THREADS},
    {"apart", no_argument, NULL, APART},
    {"start-ms", required_argument, NULL, START},
    {"windows", required_argument, NULL, WINDOWS},
    {"url", required_argument, NULL, URL},
    {"token-file", required_argument, NULL, TOKEN},
    {"speed", required_argument, NULL, SPEED},
    {"newest-first", no_argument, NULL, NEWEST_FIRST},
    {"prepare", no_argument, NULL, PREPARE},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"backoff", required_argument, NULL, BACKOFF},
    {"backoff-max", required_argument, NULL, BACKOFF_MAX},
    {"heartbeat", required_argument, NULL, HEARTBEAT},
    {"status", required_argument, NULL, STATUS},
    {"acknowledged", required_argument, NULL, ACKNOWLEDGED},
    {"expect", no_argument, NULL, EXPECT},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static int refuse(const char *what, const char *value)
{
    (void)fprintf(stderr, "hotstack-load: %s: %s; see --help\n", what, value);
    return -1;
}

static int read_token(char out[TOKEN_SIZE], const char *path)
{
    FILE *from = fopen(path, "r");
    bool good = from != NULL && fgets(out, TOKEN_SIZE, from) != NULL;

    if (from != NULL)
        fclose(from);
    if (!good)
        return refuse("--token-file cannot be read", path);
    out[strcspn(out, "\n")] = '\0';
    return 0;
}

static int add_url(options *o, const char *url)
{
    if (o->run.url_count == URLS_MAX)
        return refuse("too many --url", url);
    o->urls[o->run.url_count++] = url;
    return 0;
}

static int open_list(options *o, const char *path)
{
    o->run.acknowledged = fopen(path, "a");
    return o->run.acknowledged != NULL ? 0 : refuse("--acknowledged cannot be written", path);
}

/* Reads a number from `least` to `most`. */
static int read_number(const char *name, const char *value, uint64_t least, uint64_t most,
                       uint64_t *out)
{
    char *end = NULL;

    *out = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || *out < least || *out > most)
        return refuse(name, value);
    return 0;
}

static int read_count(const char *name, const char *value, uint32_t least, uint32_t *out)
{
    uint64_t number = 0;
    int rc = read_number(name, value, least, COUNT_MAX, &number);

    *out = (uint32_t)number;
    return rc;
}

static int read_speed(options *o, const char *value)
{
    char *end = NULL;

    o->run.pace.speed = strtod(value, &end);
    if (end == value || *end != '\0' || !(o->run.pace.speed >= 0))
        return refuse("--speed", value);
    return 0;
}

static int read_fleet_option(options *o, int option, const char *value)
{
    fleet *f = &o->fleet;

    switch (option) {
    case RECORDING:
        o->recording = value;
        return 0;
    case SEED:
        return read_number("--seed", value, 0, UINT32_MAX, &f->seed);
    case CLUSTER:
        f->cluster = value;
        return 0;
    case NODES:
        return read_count("--nodes", value, 1, &f->nodes);
    case JVMS:
        return read_count("--jvms", value, 1, &f->jvms);
    case SERVICES:
        return read_count("--services", value, 1, &f->services);
    case ROWS:
        return read_count("--rows", value, 0, &f->rows);
    case THREADS:
        return read_count("--threads", value, 0, &f->threads);
    case APART:
        f->apart = true;
        return 0;
    case START:
        return read_number("--start-ms", value, 0, UINT64_MAX / 2, &f->start_ms);
    case WINDOWS:
        return read_count("--windows", value, 1, &f->windows);
    default:
        return -1;
    }
}

static int read_option(options *o, int option, const char *value)
{
    switch (option) {
    case URL:
        return add_url(o, value);
    case TOKEN:
        return read_token(o->token, value);
    case SPEED:
        return read_speed(o, value);
    case NEWEST_FIRST:
        o->run.pace.newest_first = true;
        return 0;
    case PREPARE:
        o->run.prepare = true;
        return 0;
    case TIMEOUT:
        return read_number("--timeout", value, 1, INT32_MAX, &o->run.timeout_ms);
    case BACKOFF:
        return read_number("--backoff", value, 1, INT32_MAX, &o->run.pace.backoff_min);
    case BACKOFF_MAX:
        return read_number("--backoff-max", value, 1, INT32_MAX, &o->run.pace.backoff_max);
    case HEARTBEAT:
        return read_number("--heartbeat", value, 0, INT32_MAX, &o->run.pace.heartbeat_every);
    case STATUS:
        return read_number("--status", value, 0, INT32_MAX, &o->run.pace.status_every);
    case ACKNOWLEDGED:
        return open_list(o, value);
    case EXPECT:
        o->expect = true;
        return 0;
    case HELP:
        o->help = true;
        return 0;
    default:
        return read_fleet_option(o, option, value);
    }
}

static int read_options(options *o, int argc, char **argv)
{
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (option == '?' || read_option(o, option, optarg) != 0)
            return -1;
    }
    if (o->help)
        return 0;
    if (optind < argc)
        return refuse("no such argument", argv[optind]);
    if (o->recording == NULL || (!o->expect && (o->run.url_count == 0 || o->token[0] == '\0')))
        return refuse("missing", "--recording, and --url with --token-file or --expect");
    if (o->fleet.services == 0)
        o->fleet.services = o->fleet.jvms;
    o->fleet.start_ms -= o->fleet.start_ms % MINUTE_MS;
    o->run.urls = o->urls;
    o->run.token = o->token;
    return 0;
}

static int send_all(const options *o)
{
    tallies came;
    int rc = run_fleet(&o->fleet, &o->run, &came);

    if (rc == 0)
        tallies_print(&came, stdout);
    if (came.outcomes[CALL_BATCH][ANSWER_REJECTED] > 0)
        rc = -1;
    tallies_clear(&came);
    return rc;
}

int main(int argc, char **argv)
{
    options o = {
        .fleet = {.cluster = "load",
                  .seed = 1,
                  .nodes = 4,
                  .windows = 2,
                  .jvms = 5,
                  .rows = 300,
                  .threads = 50,
                  .start_ms = clock_unix_ms(NULL)},
        .run = {.pace = {.backoff_min = 1000,
                         .backoff_max = 60000,
                         .heartbeat_every = 30000,
                         .status_every = 60000},
                .timeout_ms = 30000},
    };
    char message[256];
    stock from = {0};

    if (read_options(&o, argc, argv) != 0)
        return 2;
    if (o.help) {
        fputs(usage, stdout);
        return 0;
    }
    if (stock_open(&from, o.recording, message, sizeof(message)) != 0) {
        (void)fprintf(stderr, "hotstack-load: cannot read recording %s: %s\n", o.recording,
                      message);
        stock_close(&from);
        return 2;
    }
    o.fleet.from = &from;
    int rc = o.expect ? expect_print(&o.fleet, stdout) : send_all(&o);
    stock_close(&from);
    if (o.run.acknowledged != NULL)
        fclose(o.run.acknowledged);
    return rc == 0 ? 0 : 1;
}
