/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples `hotstack convert` and `hotstack top` take. */
#ifndef HOTSTACK_CLI_CONVERT_FILTER_H
#define HOTSTACK_CLI_CONVERT_FILTER_H

#include <getopt.h>
#include <regex.h>

#include <recording/recording.h>
#include <recording/thread_memo.h>

#include "cli/options/time_option.h"

typedef struct convert_filter {
    const char *thread; /* the whole name; NULL = any */
    bool has_pattern;
    regex_t pattern; /* has a match in the name */
    time_point from, to;
    int64_t from_ns; /* of the input that is read */
    int64_t to_ns;   /* the moment itself is out */
    uint32_t states; /* bits 1 << jfr_thread_state; 0 = all */
    thread_memo threads;
} convert_filter;

/* Its options in a command's table. */
enum {
    FILTER_OPT_THREAD = 1100,
    FILTER_OPT_THREAD_PATTERN,
    FILTER_OPT_FROM,
    FILTER_OPT_TO,
    FILTER_OPT_STATE
};

/* clang-format off */
#define FILTER_LONGS                                                                               \
    {"thread", required_argument, NULL, FILTER_OPT_THREAD},                                        \
    {"thread-pattern", required_argument, NULL, FILTER_OPT_THREAD_PATTERN},                        \
    {"from", required_argument, NULL, FILTER_OPT_FROM},                                            \
    {"to", required_argument, NULL, FILTER_OPT_TO},                                                \
    {"state", required_argument, NULL, FILTER_OPT_STATE}
/* clang-format on */

/* How a command's help explains them. */
#define FILTER_HELP                                                                                \
    "      --thread NAME    only threads of exactly this name\n"                                   \
    "      --thread-pattern REGEX\n"                                                               \
    "                       only threads whose name has a match (extended regular expression)\n"   \
    "      --from TIME      only samples from then on: 2026-01-31T09:15:00Z (no zone is UTC),\n"   \
    "                       Unix seconds, +2s after the start of each recording or -2s before\n"   \
    "                       its end (units ms, s, m, h, d)\n"                                      \
    "      --to TIME        only samples before then\n"                                            \
    "      --state STATE,.. only samples in these thread states: runnable, sleeping, native,\n"    \
    "                       unknown (the recorder did not say)\n"

/* Takes one of them with getopt's argument. Returns -1 to go on, or an exit code after it has
 * complained. */
int filter_option(convert_filter *filter, int option);

/* Whether it asks for the time or state of samples, which only JFR has. */
bool filter_looks_at_times(const convert_filter *filter);

/* Whether it leaves out anything at all. */
bool filter_is_set(const convert_filter *filter);

/* What a recording asks; it borrows the filter. */
recording_tap filter_tap(convert_filter *filter);

void filter_free(convert_filter *filter);

#endif
