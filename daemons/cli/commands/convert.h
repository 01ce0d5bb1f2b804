/* SPDX-License-Identifier: Apache-2.0 */
/* What `hotstack profile` uses of `hotstack convert`. */
#ifndef HOTSTACK_CLI_CONVERT_H
#define HOTSTACK_CLI_CONVERT_H

#include "cli/options/options.h"

/* What is known of an input that was just recorded; {0} of others. */
typedef struct convert_note {
    const char *absent; /* the events that the profiler refused, and why; NULL = none */
    uint64_t dropped;   /* events that the profiler dropped */
    bool report;        /* name the file that was written; several are named in any case */
} convert_note;

/* Converts what the options say, with their format set; complains and returns an exit code. */
int convert_files(cli_options *o, const convert_note *note);

#endif
