/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/wire_impl.h"

#include <string.h>

void attach__put_u32(uint8_t out[4], uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

uint32_t attach__get_u32(const uint8_t in[4])
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

void attach__put_field(attach__writer *w, uint16_t tag, const void *bytes, size_t n)
{
    if (w->full || n > UINT16_MAX || w->cap - w->n < ATTACH__FIELD_HEADER + n) {
        w->full = true;
        return;
    }
    uint8_t *p = w->p + w->n;
    attach__put_u32(p, (uint32_t)tag | (uint32_t)n << 16);
    if (n > 0)
        memcpy(p + ATTACH__FIELD_HEADER, bytes, n);
    w->n += ATTACH__FIELD_HEADER + n;
}

void attach__put_text(attach__writer *w, uint16_t tag, const char *text)
{
    if (text[0] != '\0')
        attach__put_field(w, tag, text, strlen(text));
}

void attach__put_number(attach__writer *w, uint16_t tag, uint64_t value)
{
    uint8_t bytes[8];
    if (value == 0)
        return;
    attach__put_u32(bytes, (uint32_t)value);
    attach__put_u32(bytes + 4, (uint32_t)(value >> 32));
    attach__put_field(w, tag, bytes, sizeof(bytes));
}

int attach__next_tagged(attach__reader *r, attach__field *out)
{
    if (r->at == r->n)
        return 0;
    if (r->n - r->at < ATTACH__FIELD_HEADER)
        return -1;
    uint32_t header = attach__get_u32(r->p + r->at);
    out->tag = (uint16_t)header;
    out->n = header >> 16;
    out->at = r->at;
    if (out->n > r->n - r->at - ATTACH__FIELD_HEADER)
        return -1;
    out->p = r->p + r->at + ATTACH__FIELD_HEADER;
    r->at += ATTACH__FIELD_HEADER + out->n;
    return 1;
}

bool attach__field_number(const attach__field *field, uint64_t max, uint64_t *out)
{
    if (field->n != 8)
        return false;
    *out = attach__get_u32(field->p) | (uint64_t)attach__get_u32(field->p + 4) << 32;
    return *out <= max;
}

bool attach__field_text(const attach__field *field, char *out, size_t cap)
{
    if (field->n >= cap || memchr(field->p, '\0', field->n) != NULL)
        return false;
    memcpy(out, field->p, field->n);
    out[field->n] = '\0';
    return true;
}
