/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include <stackagg/frame.h>

#include "frames/utf8_impl.h"

/* A longer run of digits is not a port or pool number, but a hash, an id or a time. */
#define LONGEST_KEPT_RUN 5u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t run_length(const char *text, size_t n, bool (*is)(char))
{
    size_t run = 0;
    while (run < n && is(text[run]))
        run++;
    return run;
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the length of an address or identity hash at `at`: "0x" with hexadecimal, or hexadecimal
 * after '@', up to the end of the word. */
static size_t address_run(const char *name, size_t n, size_t at)
{
    bool after_at = at > 0 && name[at - 1] == '@';
    size_t prefix = at + 1 < n && name[at] == '0' && name[at + 1] == 'x' ? 2 : 0;
    if (!after_at && prefix == 0)
        return 0;
    size_t run = run_length(name + at + prefix, n - at - prefix, is_hex);
    size_t end = at + prefix + run;
    return run == 0 || (end < n && is_word(name[end])) ? 0 : prefix + run;
}

/* Returns where the last run of digits outside addresses starts, n when there is none. */
static size_t last_run(const char *name, size_t n)
{
    size_t last = n;
    for (size_t at = 0; at < n;) {
        size_t address = address_run(name, n, at);
        size_t digits = run_length(name + at, n - at, is_digit);
        if (address == 0 && digits > 0)
            last = at;
        size_t step = address > digits ? address : digits;
        at += step > 0 ? step : 1;
    }
    return last;
}

/* Returns how many bytes at `at` are a counting number, 0 = none; `last` is where the last run of
 * digits starts. */
static size_t folded_run(const char *name, size_t n, size_t at, size_t last)
{
    size_t address = address_run(name, n, at);
    if (address > 0)
        return address;
    if (at > 0 && is_digit(name[at - 1]))
        return 0;
    size_t run = run_length(name + at, n - at, is_digit);
    bool in_parentheses = at > 0 && name[at - 1] == '(' && at + run < n && name[at + run] == ')';
    return at == last || in_parentheses || run > LONGEST_KEPT_RUN ? run : 0;
}

/* Returns the length after a cut to `capacity` bytes that does not split a code point. */
static size_t cut(const char *text, size_t size, size_t capacity)
{
    if (size <= capacity)
        return size;
    while (capacity > 0 && ((uint8_t)text[capacity] & 0xC0) == 0x80)
        capacity--;
    return capacity;
}

size_t sagg_pool_name(char *pool, size_t capacity, sagg_str name)
{
    char clean[3 * SAGG__THREAD_NAME_MAX], folded[3 * SAGG__THREAD_NAME_MAX];
    size_t given = name.size < SAGG__THREAD_NAME_MAX ? name.size : SAGG__THREAD_NAME_MAX;
    size_t n = sagg__clean(clean, name.data, given);
    size_t last = last_run(clean, n);
    size_t size = 0;
    for (size_t at = 0; at < n;) {
        size_t run = folded_run(clean, n, at, last);
        if (run == 0)
            folded[size++] = clean[at++];
        else if (size == 0 || folded[size - 1] != '#')
            folded[size++] = '#';
        at += run;
    }
    size = cut(folded, size, capacity);
    if (size > 0)
        memcpy(pool, folded, size);
    return size;
}
