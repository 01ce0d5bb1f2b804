/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples `hotstack convert` and `hotstack top` take. */
#ifndef HOTSTACK_CLI_CONVERT_FILTER_H
#define HOTSTACK_CLI_CONVERT_FILTER_H

#include <regex.h>

#include <recording/recording.h>
#include <recording/thread_memo.h>

#include "cli/options/time_option.h"

typedef struct convert_filter {
    const char *thread; /* the whole name; NULL = any */
    bool has_pattern;
    regex_t pattern; /* the thread's name has a match */
    time_point from, to;
    int64_t from_ns; /* of the input that is being read */
    int64_t to_ns;   /* exclusive */
    uint32_t states; /* bits 1 << jfr_thread_state; 0 = all */
    thread_memo threads;
} convert_filter;

/* --thread-pattern, as option_row.take; the field is the filter. */
struct option_row;
int filter_take_pattern(void *field, const struct option_row *row, const char *regex);

/* Whether it asks for the time or state of samples. Only JFR has them. */
bool filter_looks_at_times(const convert_filter *filter);

/* Whether it leaves out any sample. */
bool filter_is_set(const convert_filter *filter);

/* Returns the tap of a recording that keeps the filter's samples; it borrows the filter. */
recording_tap filter_tap(convert_filter *filter);

void filter_free(convert_filter *filter);

#endif
