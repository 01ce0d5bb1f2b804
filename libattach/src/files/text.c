/* SPDX-License-Identifier: Apache-2.0 */
#include "files/text_impl.h"

#include <limits.h>
#include <string.h>

attach__span attach__span_of(const char *p, size_t n)
{
    return (attach__span){p, n};
}

bool attach__span_is(attach__span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n == n && (n == 0 || memcmp(s.p, literal, n) == 0);
}

bool attach__span_starts(attach__span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && (n == 0 || memcmp(s.p, literal, n) == 0);
}

bool attach__span_ends(attach__span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && (n == 0 || memcmp(s.p + (s.n - n), literal, n) == 0);
}

ptrdiff_t attach__span_find(attach__span s, const char *literal)
{
    const char *hit = s.n == 0 ? NULL : memmem(s.p, s.n, literal, strlen(literal));
    return hit == NULL ? -1 : hit - s.p;
}

attach__span attach__span_skip(attach__span s, size_t n)
{
    if (n > s.n)
        n = s.n;
    return n == 0 ? s : attach__span_of(s.p + n, s.n - n);
}

attach__span attach__span_basename(attach__span s)
{
    const char *slash = s.n == 0 ? NULL : memrchr(s.p, '/', s.n);
    return slash == NULL ? s : attach__span_skip(s, (size_t)(slash - s.p) + 1);
}

attach__span attach__span_dirname(attach__span s)
{
    const char *slash = s.n == 0 ? NULL : memrchr(s.p, '/', s.n);
    return attach__span_of(s.p, slash == NULL ? 0 : (size_t)(slash - s.p));
}

bool attach__next_field(attach__span *rest, char separator, attach__span *field)
{
    if (rest->n == 0)
        return false;
    const char *end = memchr(rest->p, separator, rest->n);
    size_t n = end == NULL ? rest->n : (size_t)(end - rest->p);
    *field = attach__span_of(rest->p, n);
    *rest = attach__span_skip(*rest, end == NULL ? n : n + 1);
    return true;
}

bool attach__next_line(attach__span *rest, attach__span *line)
{
    return attach__next_field(rest, '\n', line);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool attach__next_word(attach__span *rest, attach__span *word)
{
    size_t start = 0;
    *word = *rest;
    if (rest->n == 0)
        return false;
    while (start < rest->n && is_blank(rest->p[start]))
        start++;
    size_t end = start;
    while (end < rest->n && !is_blank(rest->p[end]))
        end++;
    *word = attach__span_of(rest->p + start, end - start);
    *rest = attach__span_skip(*rest, end);
    return word->n > 0;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return INT_MAX;
}

bool attach__parse_u64(attach__span s, int base, uint64_t *out)
{
    uint64_t value = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = digit_value(s.p[i]);
        if (digit >= base || value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base)
            return false;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    *out = value;
    return true;
}

bool attach__parse_u32(attach__span s, uint32_t *out)
{
    uint64_t value = 0;
    if (!attach__parse_u64(s, 10, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* Returns the bytes of the well-formed UTF-8 character at s (RFC 3629's table without controls), or
 * 0. */
static size_t utf8_length(attach__span s)
{
    const unsigned char *b = (const unsigned char *)s.p;
    if (b[0] < 0x80)
        return b[0] >= 0x20 && b[0] != 0x7f;
    size_t n = b[0] >= 0xc2 && b[0] < 0xe0   ? 2
               : (b[0] & 0xf0) == 0xe0       ? 3
               : b[0] >= 0xf0 && b[0] < 0xf5 ? 4
                                             : 0;
    if (n == 0 || s.n < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xf0 && b[1] < 0x90);
    bool outside = (b[0] == 0xed && b[1] >= 0xa0) || (b[0] == 0xf4 && b[1] >= 0x90);
    bool c1_control = b[0] == 0xc2 && b[1] < 0xa0;
    return overlong || outside || c1_control ? 0 : n;
}

void attach__copy_text(char *out, size_t cap, attach__span s)
{
    size_t used = 0;
    while (s.n > 0) {
        size_t n = utf8_length(s);
        size_t width = n == 0 ? 1 : n;
        if (used + width >= cap)
            break;
        if (n == 0)
            out[used] = '?';
        else
            memcpy(out + used, s.p, n);
        used += width;
        s = attach__span_skip(s, width);
    }
    out[used] = '\0';
}

bool attach__copy_exact(char *out, size_t cap, attach__span s)
{
    out[0] = '\0';
    if (s.n >= cap || (s.n > 0 && memchr(s.p, '\0', s.n) != NULL))
        return false;
    if (s.n > 0)
        memcpy(out, s.p, s.n);
    out[s.n] = '\0';
    return true;
}

/* Returns the byte of a \ooo escape at the start of s, or -1. */
static int octal_escape(attach__span s)
{
    if (s.n < 4 || s.p[0] != '\\')
        return -1;
    int value = 0;
    for (size_t i = 1; i < 4; i++) {
        if (s.p[i] < '0' || s.p[i] > '7')
            return -1;
        value = value * 8 + (s.p[i] - '0');
    }
    return value > 0 && value < 256 ? value : -1;
}

bool attach__copy_unescaped(char *out, size_t cap, attach__span s)
{
    size_t used = 0;
    out[0] = '\0';
    while (s.n > 0) {
        int escaped = octal_escape(s);
        if (used + 1 >= cap || s.p[0] == '\0') {
            out[0] = '\0';
            return false;
        }
        out[used++] = escaped < 0 ? s.p[0] : (char)escaped;
        s = attach__span_skip(s, escaped < 0 ? 1 : 4);
    }
    out[used] = '\0';
    return true;
}
