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
    bool full; /* something did not fit: the message is useless */
} attach__writer;

void attach__put_u32(uint8_t out[4], uint32_t value);
uint32_t attach__get_u32(const uint8_t in[4]);

void attach__put_field(attach__writer *w, uint16_t tag, const void *bytes, size_t n);
/* Strings without their NUL; the empty string and the number 0 are left out: absent means that. */
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

/* 1 = a field, 0 = the end, -1 = cut short. */
int attach__next_tagged(attach__reader *r, attach__field *out);
/* A number has 8 bytes; false for anything else or above max. */
bool attach__field_number(const attach__field *field, uint64_t max, uint64_t *out);
/* Copies with a NUL; false when too long or with a NUL inside. */
bool attach__field_text(const attach__field *field, char *out, size_t cap);

#endif
