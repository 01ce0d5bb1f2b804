/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings named on a command line: reading them, and saying what is wrong with them. */
#ifndef HOTSTACK_CLI_READING_H
#define HOTSTACK_CLI_READING_H

#include <stdbool.h>
#include <stdint.h>

#include <recording/recording.h>

#include "cli/options/options.h"

/* How many threads read: as many as asked for, or, if 0, one for each CPU that this process may run
 * on, up to eight. */
uint32_t reading_threads(uint32_t asked);

/* Whether standard input, "-", stands among the inputs once at most; complains when not. */
bool reading_stdin_once(char *const *paths, int count);

/* Adds the recording at `path` ("-" = standard input). Complains and returns false when it cannot
 * be read at all. */
bool reading_add(recording *rec, const char *path);

/* What a command wants of an input that may also be pprof's or collapsed stacks. */
typedef struct reading_wish {
    uint32_t types; /* asked for, as bits; 0 = all. One alone is the type of collapsed stacks */
    bool times;     /* the time or state of each sample is looked at: only JFR has them */
} reading_wish;

/* As reading_add, for an input of any kind. The type of collapsed stacks is the one in the file's
 * name ("app.cpu.collapsed"), else the one that was asked for. */
bool reading_add_any(recording *rec, const char *path, const reading_wish *wish);

/* As reading_add_any for each in turn; false at the first that cannot be read. */
bool reading_add_all(recording *rec, char *const *paths, int count, const reading_wish *wish);

/* A recording's options by the command line's; the caller adds group, tap and threads. */
recording_options reading_recording(const cli_options *o);

/* The aggregate of what was read, to write it: recording_aggregate, with counted events under their
 * own name. */
const sagg *reading_aggregate(recording *rec);

/* Says on standard error what is missing of the inputs, and what may be missed. */
void reading_report(const recording *rec);

#endif
