/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_JSON_TEXT_H
#define HOTSTACK_CLI_JSON_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include <stackagg/stackagg.h>

/* Writes UTF-8 as a JSON string in ASCII, with nothing in it that could end a script element or
 * turn a terminal around. */
void json_text(FILE *to, sagg_str text);

/* The bytes of the first character of UTF-8, and whether a terminal may have it as it is. */
size_t plain_step(const char *text, size_t left, bool *harmless);
/* Writes UTF-8 for a terminal: control and bidirectional formatting characters as '?'. */
void plain_text(FILE *to, sagg_str text);
/* Turns `text` into that in its place; it only gets shorter. */
void defuse_text(char *text);

#endif
