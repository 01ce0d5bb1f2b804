/* SPDX-License-Identifier: Apache-2.0 */
/* base/hex.h: bytes as lower-case hexadecimal digits. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Writes 2 * count digits and a NUL to out. Returns the digits written, 2 * count. */
size_t hex_write(char *out, const uint8_t *bytes, size_t count);

#endif
