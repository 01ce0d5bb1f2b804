/* SPDX-License-Identifier: Apache-2.0 */
/* Writes threads, classes, methods and frames of a recording, each in one line. */
#ifndef HOTSTACK_CLI_JFR_NAMES_H
#define HOTSTACK_CLI_JFR_NAMES_H

#include <jfr/jfr.h>

#include "cli/output/text.h"

/* Write a string with or without quotes; characters that could control a terminal become '?'. */
void names_text(text *out, jfr_str s);
void names_text_bare(text *out, jfr_str s);

/*
 * Writes a struct that has a short form: a thread, a class, a class loader, a method, a stack
 * frame. Returns 1 when it was written, 0 when the type has no short form, or a code of libjfr.
 */
int names_put(text *out, jfr_chunk *chunk, const jfr_type *type, const jfr_variant *value,
              jfr_error *err);

/* Writes a frame: "java.util.HashMap.put(Object, Object) line: 42". Returns 1 when it was written,
 * 0 when the frame is hidden or not Java, or a code of libjfr. */
int names_put_frame(text *out, jfr_chunk *chunk, const jfr_variant *frame, jfr_error *err);

#endif
