/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the recordings that a command line names, and reports their errors. */
#ifndef HOTSTACK_CLI_READING_H
#define HOTSTACK_CLI_READING_H

#include <stdbool.h>
#include <stdint.h>

#include <recording/recording.h>

#include "cli/options/options.h"

/* Returns how many threads read: as many as asked for; for 0, one for each CPU that this process
 * may run on, at most eight. */
uint32_t reading_threads(uint32_t asked);

/* Whether standard input, "-", is among the inputs at most once; complains when it is not. */
bool reading_stdin_once(char *const *paths, int count);

/* Adds the recording at `path` ("-" = standard input). Complains and returns false when it cannot
 * be read at all. */
bool reading_add(recording *rec, const char *path);

/* The data that a command needs from an input that may also be pprof or collapsed stacks. */
typedef struct reading_wish {
    uint32_t types; /* bits of the types asked for; 0 = all. A single one is also the type of
                       collapsed stacks */
    bool times;     /* the command needs the time or state of each sample, which only JFR has */
} reading_wish;

/* As reading_add, for an input of any kind. Collapsed stacks have the type in the file's name
 * ("app.cpu.collapsed"), else the type that was asked for. */
bool reading_add_any(recording *rec, const char *path, const reading_wish *wish);

/* Calls reading_add_any for each input; returns false at the first that cannot be read. */
bool reading_add_all(recording *rec, char *const *paths, int count, const reading_wish *wish);

/* Returns the options of a recording that the command line sets; the caller adds group, tap and
 * threads. */
recording_options reading_recording(const cli_options *o);

/* Returns the aggregate of all inputs for output: recording_aggregate, in which counted events have
 * a name of their own. */
const sagg *reading_aggregate(recording *rec);

/* Reports on standard error which parts of the inputs are missing or may be. */
void reading_report(const recording *rec);

#endif
