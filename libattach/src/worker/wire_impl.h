/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian numbers and tagged fields of the worker's messages, bounds-checked both ways. */
#ifndef ATTACH_WIRE_H
#define ATTACH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field: u16 tag, u16 length, that many bytes. */
#define ATTACH__FIELD_HEADER 4

typedef struct attach__writer {
    uint8_t *p;
    size_t n;
    size_t cap;
    bool full; /* a field did not fit, so the message is incomplete */
} attach__writer;

void attach__put_u32(uint8_t out[4], uint32_t value);
uint32_t attach__get_u32(const uint8_t in[4]);

void attach__put_field(attach__writer *w, uint16_t tag, const void *bytes, size_t n);
/* Append a string without its NUL, or a number. The empty string and 0 are left out, because an
 * absent field has that meaning. */
void attach__put_text(attach__writer *w, uint16_t tag, const char *text);
void attach__put_number(attach__writer *w, uint16_t tag, uint64_t value);

typedef struct attach__field {
    uint16_t tag;
    const uint8_t *p;
    size_t n;
    size_t at; /* offset of its header */
} attach__field;

typedef struct attach__reader {
    const uint8_t *p;
    size_t n;
    size_t at;
} attach__reader;

/* Takes the next field. Returns 1 for a field, 0 at the end, -1 when the message is cut short. */
int attach__next_tagged(attach__reader *r, attach__field *out);
/* Reads a number, which has 8 bytes; false for another length or a value above max. */
bool attach__field_number(const attach__field *field, uint64_t max, uint64_t *out);
/* Copies the text and adds a NUL; false when it is too long or contains a NUL. */
bool attach__field_text(const attach__field *field, char *out, size_t cap);

#endif
