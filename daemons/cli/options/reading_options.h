/* SPDX-License-Identifier: Apache-2.0 */
/* The options of every command that reads profiles. A command puts READING_SHORTS and READING_LONGS
 * into its tables and hands what is not its own to reading_option. */
#ifndef HOTSTACK_CLI_READING_OPTIONS_H
#define HOTSTACK_CLI_READING_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <recording/recording.h>

typedef struct reading_options {
    uint32_t types; /* bit 1 << PROFILE_TYPE_*; 0 = all that there are */
    bool raw_names;
    uint32_t max_stacks; /* cap of the aggregate */
    uint32_t max_mib;    /* cap of the aggregate's memory */
    uint32_t jobs;       /* threads that read; 0 = as reading_threads says */
} reading_options;

/* What holds where the command line does not say. */
#define READING_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .max_stacks = 2000000, .max_mib = 4096                                                     \
    }

/* Apart from the numbers that commands give theirs. */
enum { READING_OPT_RAW_NAMES = 1000, READING_OPT_MAX_STACKS, READING_OPT_MAX_MEMORY };

#define READING_SHORTS "t:j:h"

/* clang-format off */
#define READING_LONGS                                                                              \
    {"type", required_argument, NULL, 't'},                                                        \
    {"raw-names", no_argument, NULL, READING_OPT_RAW_NAMES},                                       \
    {"max-stacks", required_argument, NULL, READING_OPT_MAX_STACKS},                               \
    {"max-memory", required_argument, NULL, READING_OPT_MAX_MEMORY},                               \
    {"jobs", required_argument, NULL, 'j'},                                                        \
    {"help", no_argument, NULL, 'h'}
/* clang-format on */

/*
 * Takes what getopt_long found: one of those above, --help (prints `help`), or an unknown one.
 * Returns -1 to go on, or an exit code. `name` is the command's, such as "top".
 */
int reading_option(reading_options *o, int option, const char *name, const char *help);

/* A recording's options by these; the caller adds group, tap and threads. */
recording_options reading_recording(const reading_options *o);

#endif
