/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_UTF8_H
#define STACKAGG_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Longest name after cleaning, bytes (docs/formats/stack-id.md, section 2, step 3). */
#define SAGG__NAME_MAX 65535u

/* Longest thread name that is used, bytes before cleaning. */
#define SAGG__THREAD_NAME_MAX 1024u

/* Decodes the start of `n` > 0 bytes. Returns the length of the well-formed sequence there and its
 * code point, or, when there is none, 0 minus the length of the maximal ill-formed subpart. */
int sagg__utf8_step(const uint8_t *bytes, size_t n, uint32_t *code_point);

/*
 * Cleans a name (stack-id.md, section 2) into `out`, which must have room for sagg__clean_room(n)
 * bytes. Returns the bytes written, <= SAGG__NAME_MAX.
 */
size_t sagg__clean(char *out, const char *in, size_t n);

/* Returns how many bytes cleaning `n` bytes may need. */
size_t sagg__clean_room(size_t n);

/* Returns whether the code point must be escaped for readers: C0, DEL, C1, line separators, bidi
 * formatting. */
int sagg__hostile(uint32_t code_point);

#endif
