/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/json_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Reads one code point. A byte that is not valid UTF-8 becomes U+FFFD. Names from libstackagg are
 * always valid UTF-8. */
static size_t step(const unsigned char *at, size_t left, uint32_t *code_point)
{
    size_t size = at[0] < 0x80 ? 1 : at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : at[0] >= 0xC0 ? 2 : 0;
    *code_point = 0xFFFD;
    if (size == 0 || size > left)
        return 1;
    uint32_t value = size == 1 ? at[0] : at[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (at[i] & 0x3F);
    }
    *code_point = value;
    return size;
}

static void write_escape(FILE *to, uint32_t code_point)
{
    if (code_point < 0x10000) {
        (void)fprintf(to, "\\u%04x", (unsigned)code_point);
        return;
    }
    uint32_t rest = code_point - 0x10000;
    (void)fprintf(to, "\\u%04x\\u%04x", 0xD800u | (unsigned)(rest >> 10),
                  0xDC00u | (unsigned)(rest & 0x3FF));
}

void json_text(FILE *to, sagg_str text)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    (void)fputc('"', to);
    for (size_t at = 0; at < text.size;) {
        uint32_t code_point;
        at += step(bytes + at, text.size - at, &code_point);
        if (code_point >= 0x20 && code_point < 0x7F && code_point != '"' && code_point != '\\' &&
            code_point != '<')
            (void)fputc((int)code_point, to);
        else
            write_escape(to, code_point);
    }
    (void)fputc('"', to);
}

static bool drives_terminal(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) || code_point == 0x61C ||
           (code_point >= 0x200E && code_point <= 0x200F) ||
           (code_point >= 0x2028 && code_point <= 0x202E) ||
           (code_point >= 0x2066 && code_point <= 0x2069);
}

size_t plain_step(const char *text, size_t left, bool *harmless)
{
    uint32_t code_point;
    size_t size = step((const unsigned char *)text, left, &code_point);
    bool broken = size == 1 && code_point == 0xFFFD;
    *harmless = !broken && !drives_terminal(code_point);
    return size;
}

void plain_text(FILE *to, sagg_str text)
{
    for (size_t at = 0; at < text.size;) {
        bool harmless;
        size_t size = plain_step(text.data + at, text.size - at, &harmless);
        if (harmless)
            (void)fwrite(text.data + at, 1, size, to);
        else
            (void)fputc('?', to);
        at += size;
    }
}

void defuse_text(char *text)
{
    size_t size = strlen(text);
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        bool harmless;
        size_t length = plain_step(text + at, size - at, &harmless);
        if (harmless)
            memmove(text + kept, text + at, length);
        else
            text[kept] = '?';
        kept += harmless ? length : 1;
        at += length;
    }
    text[kept] = '\0';
}
