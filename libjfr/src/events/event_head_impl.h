/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_EVENT_HEAD_H
#define JFR_SRC_EVENT_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the head of an event in the forms that writers use; walks over many events use
 * jfr__event_next for all other forms. Six bytes at `p` must be readable.
 */

enum { JFR__TYPES_NEAR = 1 << 14 }; /* ids of one or two bytes */

/*
 * Returns the size at `p` and its number of bytes: one, or the four that the JDK's writers reserve
 * (JfrWriterHost::write_padded). Returns 0 for other forms.
 */
static inline size_t jfr__size_at(const uint8_t *p, size_t *bytes)
{
    *bytes = 1;
    if (__builtin_expect(p[0] < 0x80, 1))
        return p[0];
    *bytes = 4;
    bool padded = p[1] >= 0x80 && p[2] == 0x80 && p[3] == 0;
    return padded ? (size_t)(p[0] & 0x7F) | (size_t)(p[1] & 0x7F) << 7 : 0;
}

/* Returns the type id at `p` and its number of bytes, one or two; JFR__TYPES_NEAR for a longer id.
 */
static inline uint32_t jfr__type_at(const uint8_t *p, size_t *bytes)
{
    *bytes = 1;
    if (p[0] < 0x80)
        return p[0];
    *bytes = 2;
    return p[1] < 0x80 ? (uint32_t)(p[0] & 0x7F) | (uint32_t)p[1] << 7 : JFR__TYPES_NEAR;
}

#endif
