/* SPDX-License-Identifier: Apache-2.0 */
/* base/hex.h: bytes as lower-case hexadecimal digits. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes 2 * count digits and a NUL to out. Returns the digits written, 2 * count. */
size_t hex_write(char *out, const uint8_t *bytes, size_t count);

/* Reads a number of exactly 16 digits at the beginning of a text. Returns false for anything
 * else. */
bool hex_read_number(uint64_t *out, const char *digits);

#endif
