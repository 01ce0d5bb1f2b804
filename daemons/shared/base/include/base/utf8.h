/* SPDX-License-Identifier: Apache-2.0 */
/* base/utf8.h: checks UTF-8 (Unicode standard, table 3-7). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length in bytes of the character at text[0, length); 0 for NUL and for invalid
 * bytes. */
size_t utf8_sequence(const unsigned char *text, size_t length);
/* Whether all of text[0, length) is UTF-8 without NUL. */
bool utf8_is_text(const char *text, size_t length);

#endif
