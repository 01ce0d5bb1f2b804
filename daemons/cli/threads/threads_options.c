/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/threads/threads.h"
#include <diagnosis/busy.h>

#define DEFAULT_DURATION_MS 1000
#define LONGEST_DURATION_MS 600000
#define DEFAULT_TOP         10

static const char help[] =
    "usage: hotstack threads [OPTIONS] PID|NAME\n"
    "\n"
    "Says what the threads of a running JVM do: which use the CPU, with their stacks; which are\n"
    "blocked, by whom, those with one stack as one; which wait; and deadlocks, drawn as cycles. "
    "The JVM is stopped a few "
    "times,\n"
    "for some milliseconds in all, however large its heap.\n"
    "\n"
    "  -d, --duration TIME  measure CPU time over so long: 500ms, 2s (default 1s); 0 takes one\n"
    "                       snapshot, with the CPU time of the threads' whole lives\n"
    "  -w, --watch          again and again, until Ctrl-C\n"
    "      --json           JSON, one object a snapshot (docs/formats/threads-json.md)\n"
    "      --busy PERCENT   threads that used so much of a core are busy (default 2)\n"
    "      --top N          rows of each list in text (default 10)\n"
    "      --stacks N       take the stacks of so many threads (default 64)\n"
    "      --depth N        frames of a stack (default 256)\n"
    "      --pause TIME     no more stacks once the JVM was stopped so long for them (default "
    "10ms):\n"
    "                       those that matter come first. Not of --full\n"
    "      --max-threads N  of more than so many deadlocked ones and those with most CPU time\n"
    "                       are shown (default 10000)\n"
    "      --full           the stacks of all threads: a longer pause\n"
    "      --synchronizers  with --full: which java.util.concurrent locks each owns. Walks the\n"
    "                       whole heap in a pause; who blocks whom is known without\n"
    "      --contention     measure the time blocked and waited; switched on in the JVM while "
    "this\n"
    "                       program asks, and back after\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done; 1 the JVM cannot be asked; 2 wrong usage; 3 done, but threads or stacks\n"
    "are missing, which the output says.\n";

enum {
    OPT_JSON = 256,
    OPT_BUSY,
    OPT_TOP,
    OPT_STACKS,
    OPT_DEPTH,
    OPT_PAUSE,
    OPT_MAX_THREADS,
    OPT_FULL,
    OPT_SYNCHRONIZERS,
    OPT_CONTENTION
};

static const struct option longs[] = {
    {"duration", required_argument, NULL, 'd'},
    {"watch", no_argument, NULL, 'w'},
    {"json", no_argument, NULL, OPT_JSON},
    {"busy", required_argument, NULL, OPT_BUSY},
    {"top", required_argument, NULL, OPT_TOP},
    {"stacks", required_argument, NULL, OPT_STACKS},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"pause", required_argument, NULL, OPT_PAUSE},
    {"max-threads", required_argument, NULL, OPT_MAX_THREADS},
    {"full", no_argument, NULL, OPT_FULL},
    {"synchronizers", no_argument, NULL, OPT_SYNCHRONIZERS},
    {"contention", no_argument, NULL, OPT_CONTENTION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_number(uint32_t *out, const char *option, uint32_t most)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(optarg, &end, 10);
    if (errno == 0 && end != optarg && *end == '\0' && optarg[0] != '-' && number >= 1 &&
        number <= most) {
        *out = (uint32_t)number;
        return -1;
    }
    complain("--%s takes a number from 1 to %u, not '%s'", option, most, optarg);
    return EXIT_USAGE;
}

static int set_percent(double *out)
{
    char *end;
    errno = 0;
    double number = strtod(optarg, &end);
    if (errno == 0 && end != optarg && (*end == '\0' || strcmp(end, "%") == 0) && number >= 0 &&
        number <= 100) {
        *out = number;
        return -1;
    }
    complain("--busy takes a percentage of a core from 0 to 100, as 5 or 0.1, not '%s'", optarg);
    return EXIT_USAGE;
}

/* "2", "2s", "500ms", "1m"; `words` say what the option takes. */
static int set_time(uint32_t *out_ms, const char *words, uint32_t least_ms, uint32_t most_ms)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}};
    char *end;
    errno = 0;
    double number = strtod(optarg, &end);
    for (size_t i = 0; errno == 0 && end != optarg && i < sizeof(units) / sizeof(units[0]); i++) {
        double ms = number * units[i].ms;
        if (strcmp(end, units[i].unit) != 0 || !(ms >= least_ms) || ms > most_ms)
            continue;
        *out_ms = (uint32_t)ms;
        return -1;
    }
    complain("%s, not '%s'", words, optarg);
    return EXIT_USAGE;
}

static int take_option(threads_options *out, int option)
{
    switch (option) {
    case 'd':
        return set_time(&out->duration_ms, "--duration takes a time up to 10m, as 500ms or 2s", 0,
                        LONGEST_DURATION_MS);
    case 'w':
        out->watch = true;
        return -1;
    case OPT_JSON:
        out->json = true;
        return -1;
    case OPT_BUSY:
        return set_percent(&out->busy);
    case OPT_TOP:
        return set_number(&out->top, "top", 1000000);
    case OPT_STACKS:
        return set_number(&out->stacks, "stacks", 4096);
    case OPT_DEPTH:
        return set_number(&out->depth, "depth", 2048);
    case OPT_PAUSE:
        return set_time(&out->pause_ms, "--pause takes a time from 1ms to 1m, as 20ms", 1,
                        ATTACH_PAUSE_MS_MAX);
    case OPT_MAX_THREADS:
        return set_number(&out->max_threads, "max-threads", 100000);
    case OPT_FULL:
        out->full = true;
        return -1;
    case OPT_SYNCHRONIZERS:
        out->synchronizers = true;
        return -1;
    case OPT_CONTENTION:
        out->contention = true;
        return -1;
    case 'h':
        (void)fputs(help, stdout);
        return EXIT_WHOLE;
    default:
        (void)fputs("`hotstack threads --help` lists the options.\n", stderr);
        return EXIT_USAGE;
    }
}

static int check(const threads_options *o)
{
    if (o->jvm == NULL) {
        complain("name one JVM by its process id or main class; `hotstack ps` lists them");
        return EXIT_USAGE;
    }
    if (o->synchronizers && !o->full) {
        complain("--synchronizers goes with --full");
        return EXIT_USAGE;
    }
    if (o->watch && o->duration_ms == 0) {
        complain("--watch needs a --duration above 0");
        return EXIT_USAGE;
    }
    return -1;
}

int threads_parse(threads_options *out, int argc, char **argv)
{
    *out = (threads_options){
        .duration_ms = DEFAULT_DURATION_MS, .top = DEFAULT_TOP, .busy = DIAGNOSIS_BUSY_PERCENT};
    optind = 1;
    for (;;) {
        int option = getopt_long(argc, argv, "d:wh", longs, NULL);
        if (option == -1)
            break;
        int rc = take_option(out, option);
        if (rc >= 0)
            return rc;
    }
    out->jvm = optind + 1 == argc ? argv[optind] : NULL;
    return check(out);
}
