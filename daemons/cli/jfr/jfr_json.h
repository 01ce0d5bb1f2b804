/* SPDX-License-Identifier: Apache-2.0 */
/* Events of any type as JSON. */
#ifndef HOTSTACK_CLI_JFR_JSON_H
#define HOTSTACK_CLI_JFR_JSON_H

#include <stdint.h>

#include <jfr/jfr.h>

#include "cli/output/text.h"

typedef struct jfr_json jfr_json;

/* How values are laid out. */
typedef enum jfr_json_layout {
    JFR_JSON_LINE, /* no white space; strings in UTF-8 */
    JFR_JSON_JDK,  /* byte for byte as the JDK's `jfr print --json`: indented, ASCII */
} jfr_json_layout;

/*
 * A writer of events to `out`, which is borrowed. `stack_depth`: frames shown of a stack trace.
 * Returns NULL without memory. Free with jfr_json_free.
 */
jfr_json *jfr_json_new(text *out, jfr_json_layout layout, uint32_t stack_depth);
void jfr_json_free(jfr_json *json);

/* Call when a new chunk begins: what was kept of the constants of the one before is forgotten. */
int jfr_json_begin_chunk(jfr_json *json, jfr_chunk *chunk, jfr_error *err);

/*
 * Writes {"type": ..., "values": {...}}; `depth` of the layout's indentation stands before it
 * already. On an error nothing is written. Returns 0 or a code of libjfr.
 */
int jfr_json_event(jfr_json *json, const jfr_event *event, uint32_t depth, jfr_error *err);

#endif
