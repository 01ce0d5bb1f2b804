/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of Java's UTF-16 to UTF-8. */
#ifndef HOTSTACK_THREADS_UTF16_H
#define HOTSTACK_THREADS_UTF16_H

#include <stddef.h>
#include <stdint.h>

/* The most UTF-8 bytes that n units can need. */
#define TEXT_UTF8_MAX(n) ((n)*3)

/* Writes to out[TEXT_UTF8_MAX(n)] and returns the bytes. Lone surrogates and NUL become U+FFFD. */
size_t text_utf8(char *out, const uint16_t *units, size_t n);

#endif
