/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_JSON_TEXT_H
#define HOTSTACK_CLI_JSON_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include <stackagg/stackagg.h>

/* Writes UTF-8 as a JSON string in ASCII, without characters that could end a script element or
 * change the direction of text in a terminal. */
void json_text(FILE *to, sagg_str text);

/* Returns the length of the first character of UTF-8. *harmless: it may be written to a
 * terminal. */
size_t plain_step(const char *text, size_t left, bool *harmless);
/* Writes UTF-8 for a terminal: control and bidirectional formatting characters become '?'. */
void plain_text(FILE *to, sagg_str text);
/* Does the same to `text` in place; it can only get shorter. */
void defuse_text(char *text);

#endif
