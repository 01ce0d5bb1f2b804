/* SPDX-License-Identifier: Apache-2.0 */
/* Events of any type as JSON. */
#ifndef HOTSTACK_CLI_JFR_JSON_H
#define HOTSTACK_CLI_JFR_JSON_H

#include <stdint.h>

#include <jfr/jfr.h>

#include "cli/output/text.h"

typedef struct jfr_json jfr_json;

/* The layout of values. */
typedef enum jfr_json_layout {
    JFR_JSON_LINE, /* no white space; strings in UTF-8 */
    JFR_JSON_JDK,  /* byte for byte like the JDK's `jfr print --json`: indented, ASCII */
} jfr_json_layout;

/*
 * Makes a writer of events to `out`, which is borrowed. `stack_depth`: how many frames of a stack
 * trace are shown. Returns NULL without memory. Free with jfr_json_free.
 */
jfr_json *jfr_json_new(text *out, jfr_json_layout layout, uint32_t stack_depth);
void jfr_json_free(jfr_json *json);

/* Must be called when a new chunk begins; forgets the constants of the chunk before. */
int jfr_json_begin_chunk(jfr_json *json, jfr_chunk *chunk, jfr_error *err);

/*
 * Writes {"type": ..., "values": {...}}; the caller has already written `depth` levels of
 * indentation. On an error nothing is written. Returns 0 or a code of libjfr.
 */
int jfr_json_event(jfr_json *json, const jfr_event *event, uint32_t depth, jfr_error *err);

#endif
