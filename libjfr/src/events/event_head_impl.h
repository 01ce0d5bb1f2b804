/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_EVENT_HEAD_H
#define JFR_SRC_EVENT_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The head of an event, by the forms that writers use; walks over many events fall back on
 * jfr__event_next for all others. Six bytes at `p` can be read.
 */

enum { JFR__TYPES_NEAR = 1 << 14 }; /* ids of one or two bytes */

/*
 * The size at `p`, and how many bytes it takes: one, or the four that the JDK's writers reserve
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

/* The type id at `p`, of one or two bytes, and how many; JFR__TYPES_NEAR for longer ones. */
static inline uint32_t jfr__type_at(const uint8_t *p, size_t *bytes)
{
    *bytes = 1;
    if (p[0] < 0x80)
        return p[0];
    *bytes = 2;
    return p[1] < 0x80 ? (uint32_t)(p[0] & 0x7F) | (uint32_t)p[1] << 7 : JFR__TYPES_NEAR;
}

#endif
