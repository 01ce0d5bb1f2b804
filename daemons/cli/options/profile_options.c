/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/profile_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/event.h>

#include "cli/command.h"
#include "cli/options/option_values.h"

#define DEFAULT_SECONDS 10
#define SECONDS_MAX     86400
#define DEFAULT_RATE    10000

static const char help[] =
    "usage: hotstack profile [-d TIME] [-e EVENTS] [-t TYPE] [--engine NAME] [--loop] -f FILE "
    "PID|NAME\n"
    "\n"
    "Profiles a running JVM (HotSpot 11 or later) without a restart or a flag on it, and writes a\n"
    "flame graph. Ctrl-C ends the recording early; the file is written all the same. Nothing of\n"
    "ours stays in the JVM's file system.\n"
    "\n"
    "  -d, --duration TIME  how long: 10, 30s, 5m (default 10)\n"
    "  -e, --events LIST    what to record, comma-separated (default cpu,alloc,lock):\n"
    "                         cpu[=INTERVAL]    CPU time, default each 10ms, at least 1ms\n"
    "                         alloc[=BYTES]     allocation, default each 512k, at least 1k\n"
    "                         lock[=TIME]       lock contention, default each 1ms waited, at\n"
    "                                           least 1us\n"
    "                         wall[=INTERVAL]   all threads whatever they do, running and waiting\n"
    "                                           apart, default each 50ms, at least 5ms\n"
    "                         live[=BYTES]      objects still reachable at the end, among the\n"
    "                                           sampled allocations (interval as alloc)\n"
    "                         nativemem[=BYTES] native memory, default each 512k, at least 1k\n"
    "                       Intervals have a unit: ns, us, ms, s; k, m, g\n"
    "  -f, --file FILE      where to write; the ending names the format:\n"
    "                         .html             one self-contained, searchable page\n"
    "                         .heatmap.html     the same below a map of the time\n"
    "                         .jfr              the recording itself\n"
    "                         .collapsed        a line per stack; a file per profile type\n"
    "                         .pb.gz            pprof\n"
    "                       and all others that `hotstack convert --help` names\n"
    "      --engine NAME    async-profiler, or fail; jfr = the JDK's own recorder; auto (default) "
    "=\n"
    "                       async-profiler, and jfr where that cannot be loaded\n"
    "      --loop           one file after the other, each of -d TIME, until Ctrl-C; FILE holds "
    "%t\n"
    "                       (time, UTC) or %n (number)\n"
    "      --rate-limit N   record at most N events of one kind in a second (default 10000): the\n"
    "                       profiler drops the rest, and standard error says how many\n"
    "  -t, --type TYPE,...  only these profile types (see hotstack convert --help)\n"
    "  -h, --help           this text\n"
    "\n"
    "The JVM must be of your own user, or you must be root or have the capabilities SYS_PTRACE,\n"
    "KILL, SETUID and SETGID. `hotstack ps` lists the JVMs and says which of them can be "
    "profiled.\n"
    "HOTSTACK_ASYNC_PROFILER and HOTSTACK_ATTACH_WORKER name libasyncProfiler.so and\n"
    "hotstack-attach-worker where they are not installed beside this program.\n";

enum { OPTION_ENGINE = 1000, OPTION_LOOP, OPTION_RATE_LIMIT };

static const struct option longs[] = {
    {"duration", required_argument, NULL, 'd'},
    {"events", required_argument, NULL, 'e'},
    {"file", required_argument, NULL, 'f'},
    {"type", required_argument, NULL, 't'},
    {"engine", required_argument, NULL, OPTION_ENGINE},
    {"loop", no_argument, NULL, OPTION_LOOP},
    {"rate-limit", required_argument, NULL, OPTION_RATE_LIMIT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

typedef struct unit {
    const char *suffix;
    uint64_t factor;
} unit;

static const unit duration_units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}, {NULL, 0}};

/* A number greater than 0 with one of the units' suffixes. */
static bool parse_amount(uint64_t *out, const char *text, const unit *units)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || text[0] == '-' || number == 0)
        return false;
    for (; units->suffix != NULL; units++) {
        if (strcmp(end, units->suffix) != 0 || number > UINT64_MAX / units->factor)
            continue;
        *out = number * units->factor;
        return true;
    }
    return false;
}

static const event_intervals defaults = {{[EVENT_CPU] = 10000000,
                                          [EVENT_ALLOC] = 524288,
                                          [EVENT_LOCK] = 1000000,
                                          [EVENT_WALL] = 50000000,
                                          [EVENT_LIVE] = 524288,
                                          [EVENT_NATIVEMEM] = 524288}};

static int set_events(profile_options *out, const char *list)
{
    char why[200] = "";
    if (list[0] == '\0') {
        complain("--events names no event: use cpu, alloc, lock, wall, live and nativemem");
        return EXIT_USAGE;
    }
    if (event_intervals_parse(&out->events, list, &defaults, why, sizeof(why)) != 0) {
        complain("--events %s; as in cpu,alloc=512k,lock=1ms", why);
        return EXIT_USAGE;
    }
    return -1;
}

static int set_duration(profile_options *out, const char *text)
{
    uint64_t seconds = 0;
    if (parse_amount(&seconds, text, duration_units) && seconds <= SECONDS_MAX) {
        out->seconds = (uint32_t)seconds;
        return -1;
    }
    complain("--duration takes 1 to %d seconds, as in 10, 30s, 5m; not '%s'", SECONDS_MAX, text);
    return EXIT_USAGE;
}

static int set_recorder(profile_options *out, const char *name)
{
    for (int i = ATTACH_AP_RECORDER_AUTO; i <= ATTACH_AP_RECORDER_JFR; i++) {
        if (strcmp(attach_ap_recorder_name((attach_ap_recorder)i), name) != 0)
            continue;
        out->recorder = (attach_ap_recorder)i;
        return -1;
    }
    complain("--engine is auto, async-profiler or jfr, not '%s'", name);
    return EXIT_USAGE;
}

static int set_rate_limit(profile_options *out, const char *text)
{
    int rc = option_number(&out->rate_limit, "--rate-limit", text, 1);
    if (rc >= 0 || out->rate_limit <= ATTACH_RATE_LIMIT_MAX)
        return rc;
    complain("--rate-limit is at most %d, not '%s'", ATTACH_RATE_LIMIT_MAX, text);
    return EXIT_USAGE;
}

static int take_option(profile_options *out, int option)
{
    switch (option) {
    case 'd':
        return set_duration(out, optarg);
    case 'e':
        return set_events(out, optarg);
    case 'f':
        out->output = optarg;
        return -1;
    case 't':
        return option_types(&out->types, optarg);
    case OPTION_ENGINE:
        return set_recorder(out, optarg);
    case OPTION_LOOP:
        out->loop = true;
        return -1;
    case OPTION_RATE_LIMIT:
        return set_rate_limit(out, optarg);
    case 'h':
        (void)fputs(help, stdout);
        return EXIT_WHOLE;
    default:
        (void)fputs("`hotstack profile --help` lists the options.\n", stderr);
        return EXIT_USAGE;
    }
}

static int set_output_format(profile_options *out)
{
    if (out->output == NULL) {
        complain("say where to write with -f FILE, as in -f flame.html");
        return EXIT_USAGE;
    }
    const char *ending = strrchr(out->output, '.');
    out->keep_jfr = ending != NULL && strcmp(ending, ".jfr") == 0;
    out->format = out->keep_jfr ? FORMAT_NONE : convert_format_of(out->output);
    if (out->keep_jfr || out->format != FORMAT_NONE)
        return -1;
    complain("'%s' ends in no known format: use .html, .jfr, .collapsed, .pb.gz or another of "
             "`hotstack convert --help`",
             out->output);
    return EXIT_USAGE;
}

/* In a loop each file needs a name of its own. */
static int check_name(const profile_options *o)
{
    if (!o->loop || strstr(o->output, "%t") != NULL || strstr(o->output, "%n") != NULL)
        return -1;
    complain("with --loop the file's name holds %%t or %%n, as in flame-%%t.html");
    return EXIT_USAGE;
}

static int set_jvm(profile_options *out, int argc, char **argv)
{
    if (argc - optind == 1 && argv[optind][0] != '\0') {
        out->jvm = argv[optind];
        return -1;
    }
    complain("name one JVM by its process id or main class; `hotstack ps` lists them");
    return EXIT_USAGE;
}

int profile_parse(profile_options *out, int argc, char **argv)
{
    *out = (profile_options){.seconds = DEFAULT_SECONDS, .rate_limit = DEFAULT_RATE};
    for (event_id event = EVENT_CPU; event <= EVENT_LOCK; event++)
        out->events.of[event] = defaults.of[event];
    optind = 1;
    for (;;) {
        int option = getopt_long(argc, argv, "d:e:f:t:h", longs, NULL);
        if (option == -1)
            break;
        int rc = take_option(out, option);
        if (rc >= 0)
            return rc;
    }
    int rc = set_jvm(out, argc, argv);
    if (rc < 0)
        rc = set_output_format(out);
    return rc >= 0 ? rc : check_name(out);
}
