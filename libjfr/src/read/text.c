/* SPDX-License-Identifier: Apache-2.0 */
#include "read/text_impl.h"

#include "error_impl.h"

#include <inttypes.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };

static uint16_t read_char(jfr__cursor *c)
{
    return (uint16_t)(c->compressed ? jfr__varint(c) : jfr__read_be(c, 2));
}

void jfr__skip_string(jfr__cursor *c)
{
    switch (jfr__read_u8(c)) {
    case JFR__NULL:
    case JFR__EMPTY:
        return;
    case JFR__POOL:
        (void)jfr__read_long(c);
        return;
    case JFR__UTF8:
    case JFR__LATIN1:
        jfr__skip_bytes(c, jfr__read_count(c));
        return;
    case JFR__UTF16: {
        uint32_t count = jfr__read_count(c);
        if (c->compressed)
            jfr__skip_varints(c, count);
        else
            jfr__skip_bytes(c, (uint64_t)count * 2);
        return;
    }
    default:
        c->failed = true;
        c->end = c->pos;
    }
}

static size_t encode_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static bool is_high(uint32_t code)
{
    return code >= 0xD800 && code < 0xDC00;
}

static bool is_low(uint32_t code)
{
    return code >= 0xDC00 && code < 0xE000;
}

/* Decodes one code point of UTF-8 or modified UTF-8, with surrogates unchanged. Returns its length;
 * an invalid byte gives one U+FFFD. Clears `*plain` when the bytes are not strict UTF-8. */
static size_t decode_utf8(const uint8_t *p, size_t left, uint32_t *code, bool *plain)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = *p < 0x80 ? 1 : *p >= 0xF0 ? 4 : *p >= 0xE0 ? 3 : 2;
    if (len == 1) {
        *code = *p;
        return 1;
    }
    bool legal = *p >= 0xC0 && *p < 0xF8 && len <= left;
    uint32_t value = *p & (0x7Fu >> len);
    for (size_t i = 1; legal && i < len; i++) {
        legal = (p[i] & 0xC0) == 0x80;
        value = value << 6 | (p[i] & 0x3F);
    }
    bool modified_nul = legal && len == 2 && value == 0;
    if (!legal || value > 0x10FFFF || (value < least[len] && !modified_nul)) {
        *plain = false;
        *code = REPLACEMENT;
        return 1;
    }
    if (modified_nul || is_high(value) || is_low(value))
        *plain = false;
    *code = value;
    return len;
}

/* Returns the length of the ASCII prefix. */
static size_t ascii_run(const uint8_t *p, size_t len)
{
    size_t run = 0;
    for (uint64_t eight; len - run >= sizeof(eight); run += sizeof(eight)) {
        memcpy(&eight, p + run, sizeof(eight));
        if ((eight & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (run < len && p[run] < 0x80)
        run++;
    return run;
}

static bool is_plain_utf8(const uint8_t *p, size_t len)
{
    bool plain = true;
    for (size_t i = ascii_run(p, len); i < len && plain; i += ascii_run(p + i, len - i)) {
        uint32_t code;
        i += decode_utf8(p + i, len - i, &code, &plain);
    }
    return plain;
}

/* Appends UTF-16 units or code points as UTF-8. It joins surrogate pairs and replaces lone
 * surrogates. */
struct writer {
    char *out;
    size_t len;
    uint32_t high; /* a high surrogate that still lacks its low surrogate, or 0 */
};

static void put_code(struct writer *w, uint32_t code)
{
    if (w->high != 0 && is_low(code)) {
        uint32_t joined = 0x10000 + ((w->high - 0xD800) << 10) + (code - 0xDC00);
        w->high = 0;
        w->len += encode_utf8(joined, w->out + w->len);
        return;
    }
    if (w->high != 0)
        w->len += encode_utf8(REPLACEMENT, w->out + w->len);
    w->high = is_high(code) ? code : 0;
    if (w->high == 0)
        w->len += encode_utf8(is_low(code) ? REPLACEMENT : code, w->out + w->len);
}

static void finish(struct writer *w, jfr_str *out)
{
    if (w->high != 0)
        w->len += encode_utf8(REPLACEMENT, w->out + w->len);
    *out = (jfr_str){w->out, w->len};
}

static int read_utf8(const uint8_t *bytes, size_t len, jfr__arena *arena, jfr_str *out)
{
    if (is_plain_utf8(bytes, len)) {
        *out = (jfr_str){(const char *)bytes, len};
        return 0;
    }
    struct writer w = {.out = jfr__arena_alloc(arena, len * 3)}; /* an invalid byte becomes three */
    if (w.out == NULL)
        return -1;
    bool plain = true;
    for (size_t i = 0; i < len;) {
        uint32_t code;
        i += decode_utf8(bytes + i, len - i, &code, &plain);
        put_code(&w, code);
    }
    finish(&w, out);
    return 0;
}

static int read_latin1(const uint8_t *bytes, size_t len, jfr__arena *arena, jfr_str *out)
{
    if (ascii_run(bytes, len) == len) {
        *out = (jfr_str){(const char *)bytes, len};
        return 0;
    }
    size_t wide = 0;
    for (size_t i = 0; i < len; i++)
        wide += bytes[i] >> 7;
    struct writer w = {.out = jfr__arena_alloc(arena, len + wide)};
    if (w.out == NULL)
        return -1;
    for (size_t i = 0; i < len; i++)
        put_code(&w, bytes[i]);
    finish(&w, out);
    return 0;
}

static int read_utf16(jfr__cursor *c, uint32_t count, jfr__arena *arena, jfr_str *out)
{
    /* The usual form in the JDK's metadata: each char is one byte with its value. */
    if (c->compressed && ascii_run(c->pos, count) == count) {
        *out = (jfr_str){(const char *)c->pos, count};
        jfr__skip_bytes(c, count);
        return 0;
    }
    struct writer w = {.out = jfr__arena_alloc(arena, (size_t)count * 3)};
    if (w.out == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        put_code(&w, read_char(c));
    finish(&w, out);
    return 0;
}

static int read_body(jfr__cursor *c, int encoding, uint32_t count, jfr__arena *arena, jfr_str *out)
{
    const uint8_t *bytes = c->pos;
    switch (encoding) {
    case JFR__UTF8:
        jfr__skip_bytes(c, count);
        return read_utf8(bytes, count, arena, out);
    case JFR__LATIN1:
        jfr__skip_bytes(c, count);
        return read_latin1(bytes, count, arena, out);
    default:
        return read_utf16(c, count, arena, out);
    }
}

int jfr__read_string(jfr__cursor *c, jfr__arena *arena, uint64_t max_bytes, jfr_str *out,
                     uint64_t *pool_key, jfr_error *err)
{
    uint64_t at = jfr__cursor_offset(c);
    int encoding = jfr__read_u8(c);
    *out = (jfr_str){encoding == JFR__EMPTY ? "" : NULL, 0};
    if (encoding == JFR__POOL)
        *pool_key = jfr__read_long(c);
    if (encoding >= JFR__UTF8 && encoding <= JFR__LATIN1) {
        uint32_t count = jfr__read_count(c);
        if (count > max_bytes)
            return jfr__fail(err, JFR_ERR_LIMIT, at,
                             "A string of %" PRIu32 " bytes passes max_string_bytes (%" PRIu64 ").",
                             count, max_bytes);
        c->failed = c->failed || count > jfr__cursor_left(c);
        if (!c->failed && read_body(c, encoding, count, arena, out) < 0)
            return jfr__arena_fail(arena, err);
    }
    if (c->failed || encoding > JFR__LATIN1)
        return jfr__fail(err, JFR_ERR_FORMAT, at,
                         "The string at this offset is damaged: encoding %d, or its length, is "
                         "impossible.",
                         encoding);
    return encoding;
}
