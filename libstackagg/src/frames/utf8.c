/* SPDX-License-Identifier: Apache-2.0 */
#include "frames/utf8_impl.h"

#include <stdbool.h>
#include <string.h>

static bool within(uint8_t byte, uint8_t low, uint8_t high)
{
    return byte >= low && byte <= high;
}

/* Returns the length of a sequence by its first byte, and the range of its second byte (Unicode
 * standard, table 3-7). */
static int lead(uint8_t first, uint8_t *low, uint8_t *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (within(first, 0xC2, 0xDF))
        return 2;
    if (within(first, 0xE0, 0xEF)) {
        if (first == 0xE0)
            *low = 0xA0;
        if (first == 0xED)
            *high = 0x9F;
        return 3;
    }
    if (within(first, 0xF0, 0xF4)) {
        if (first == 0xF0)
            *low = 0x90;
        if (first == 0xF4)
            *high = 0x8F;
        return 4;
    }
    return 0;
}

int sagg__utf8_step(const uint8_t *bytes, size_t n, uint32_t *code_point)
{
    if (bytes[0] < 0x80) {
        *code_point = bytes[0];
        return 1;
    }
    uint8_t low, high;
    int length = lead(bytes[0], &low, &high);
    if (length == 0)
        return -1;
    uint32_t value = bytes[0] & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if ((size_t)i >= n || !within(bytes[i], low, high))
            return -i;
        value = value << 6 | (bytes[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *code_point = value;
    return length;
}

static bool is_surrogate_pair(const uint8_t *bytes, size_t n)
{
    return n >= 6 && bytes[0] == 0xED && within(bytes[1], 0xA0, 0xAF) &&
           within(bytes[2], 0x80, 0xBF) && bytes[3] == 0xED && within(bytes[4], 0xB0, 0xBF) &&
           within(bytes[5], 0x80, 0xBF);
}

static void write_pair(char out[4], const uint8_t *bytes)
{
    uint32_t high = (bytes[1] & 0x0Fu) << 6 | (bytes[2] & 0x3Fu);
    uint32_t low = (bytes[4] & 0x0Fu) << 6 | (bytes[5] & 0x3Fu);
    uint32_t code_point = 0x10000u + (high << 10 | low);
    out[0] = (char)(0xF0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code_point & 0x3F));
}

/* U+FFFD. */
static const uint8_t replacement[] = {0xEF, 0xBF, 0xBD};

/* Makes one step of the scan: writes the output (1 to 4 bytes) and returns how many input bytes it
 * used. */
static size_t clean_step(char out[4], size_t *out_size, const uint8_t *in, size_t n)
{
    if (is_surrogate_pair(in, n)) {
        write_pair(out, in);
        *out_size = 4;
        return 6;
    }
    uint32_t code_point;
    int step = sagg__utf8_step(in, n, &code_point);
    if (step > 0 && in[0] != 0) {
        memcpy(out, in, (size_t)step);
        *out_size = (size_t)step;
        return (size_t)step;
    }
    memcpy(out, replacement, sizeof(replacement));
    *out_size = sizeof(replacement);
    if (n >= 2 && in[0] == 0xC0 && in[1] == 0x80)
        return 2;
    return in[0] == 0 ? 1 : (size_t)-step;
}

/* Returns how many bytes at the start are ASCII but not NUL. */
static size_t plain_run(const uint8_t *bytes, size_t n)
{
    size_t run = 0;
    for (uint64_t word; n - run >= sizeof(word); run += sizeof(word)) {
        memcpy(&word, bytes + run, sizeof(word));
        /* A top bit is set in a byte that is not ASCII, and in the difference when a byte is 0. */
        if (((word | (word - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (run < n && bytes[run] != 0 && bytes[run] < 0x80)
        run++;
    return run;
}

size_t sagg__clean(char *out, const char *in, size_t n)
{
    const uint8_t *bytes = (const uint8_t *)in;
    size_t size = 0;
    for (size_t at = 0; at < n;) {
        size_t run = plain_run(bytes + at, n - at);
        run = run < SAGG__NAME_MAX - size ? run : SAGG__NAME_MAX - size;
        if (run > 0) {
            memcpy(out + size, bytes + at, run);
            size += run;
            at += run;
            continue;
        }
        char piece[4];
        size_t piece_size;
        at += clean_step(piece, &piece_size, bytes + at, n - at);
        if (size + piece_size > SAGG__NAME_MAX)
            break;
        memcpy(out + size, piece, piece_size);
        size += piece_size;
    }
    return size;
}

size_t sagg__clean_room(size_t n)
{
    return n > SAGG__NAME_MAX / 3 ? SAGG__NAME_MAX : n * 3;
}

int sagg__hostile(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F) ||
           code_point == 0x061C || code_point == 0x200E || code_point == 0x200F ||
           (code_point >= 0x2028 && code_point <= 0x202E) ||
           (code_point >= 0x2066 && code_point <= 0x2069);
}
