/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings named on a command line: reading them, and saying what is wrong with them. */
#ifndef HOTSTACK_CLI_READING_H
#define HOTSTACK_CLI_READING_H

#include <stdbool.h>

#include <recording/recording.h>

/* Adds the recording at `path` ("-" = standard input). Complains and returns false when it cannot
 * be read at all. */
bool reading_add(recording *rec, const char *path);

/* Says on standard error what is missing of the inputs, and what may be missed. */
void reading_report(const recording *rec);

#endif
