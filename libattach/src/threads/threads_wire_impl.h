/* SPDX-License-Identifier: Apache-2.0 */
/* The one bounds-checked reader of protobuf bytes, for thread snapshots. */
#ifndef ATTACH_THREADS_WIRE_H
#define ATTACH_THREADS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a message. Borrowed. */
typedef struct attach__bytes {
    const uint8_t *p;
    size_t n;
    size_t at; /* offset of its first byte in the whole */
} attach__bytes;

typedef struct attach__pb_field {
    uint32_t number;
    bool is_bytes; /* else `value` */
    uint64_t value;
    attach__bytes bytes;
} attach__pb_field;

/* Takes the next field off `rest`. Returns 1, 0 at the end, or -1 for bytes that are no field
 * (rest->at says where). Skips fields of fixed size. */
int attach__pb_next(attach__bytes *rest, attach__pb_field *out);

/* Takes a varint off `rest`; false when it is cut short or longer than ten bytes. */
bool attach__pb_varint(attach__bytes *rest, uint64_t *out);

/* Returns how many varints a packed column has, if all of them are complete. */
size_t attach__pb_count(attach__bytes column);

/* Appends a field of bytes to p, which has room for n + 20; returns how many were written. */
size_t attach__pb_put_bytes(uint8_t *p, uint32_t number, const uint8_t *bytes, size_t n);
size_t attach__pb_put_varint(uint8_t *p, uint64_t value);

#endif
