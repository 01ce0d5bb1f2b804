/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `hotstack convert` that `hotstack profile` uses. */
#ifndef HOTSTACK_CLI_CONVERT_H
#define HOTSTACK_CLI_CONVERT_H

#include "cli/options/options.h"

/* Facts about an input that was just recorded; {0} for other inputs. */
typedef struct convert_note {
    const char *absent; /* the events that the profiler refused, and why; NULL = none */
    uint64_t dropped;   /* events that the profiler dropped */
    bool report; /* print the name of the file that was written; with several files the names are
                    printed in any case */
} convert_note;

/* Converts as the options say; their format must be set. Complains and returns an exit code. */
int convert_files(cli_options *o, const convert_note *note);

#endif
