/* SPDX-License-Identifier: Apache-2.0 */
/* Events as text for people, like the JDK's `jfr print`. */
#ifndef HOTSTACK_CLI_JFR_PRETTY_H
#define HOTSTACK_CLI_JFR_PRETTY_H

#include <stdint.h>

#include <jfr/jfr.h>

#include "cli/output/text.h"

typedef struct jfr_pretty jfr_pretty;

/* Makes a writer to `out`, which is borrowed. Returns NULL without memory. Free with
 * jfr_pretty_free. */
jfr_pretty *jfr_pretty_new(text *out, uint32_t stack_depth);
void jfr_pretty_free(jfr_pretty *pretty);

/* Must be called when a new chunk begins. */
int jfr_pretty_begin_chunk(jfr_pretty *pretty, jfr_chunk *chunk, jfr_error *err);

/* Writes an event and an empty line. On an error nothing is written. Returns 0 or a code of
 * libjfr. */
int jfr_pretty_event(jfr_pretty *pretty, const jfr_event *event, jfr_error *err);

#endif
