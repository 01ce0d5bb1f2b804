/* SPDX-License-Identifier: Apache-2.0 */
/* The one bounds-checked reader for the texts that this library parses: procfs files, markers,
 * logs. */
#ifndef ATTACH_TEXT_H
#define ATTACH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of text, not NUL-terminated. Borrowed from the buffer that it is a part of. */
typedef struct attach__span {
    const char *p;
    size_t n;
} attach__span;

attach__span attach__span_of(const char *p, size_t n);
bool attach__span_is(attach__span s, const char *literal);
bool attach__span_starts(attach__span s, const char *literal);
bool attach__span_ends(attach__span s, const char *literal);
/* Returns the offset of `literal` in s, or -1. */
ptrdiff_t attach__span_find(attach__span s, const char *literal);
/* Returns the part after the last '/', all of s without one. */
attach__span attach__span_basename(attach__span s);
/* Returns the part before the last '/', empty without one. */
attach__span attach__span_dirname(attach__span s);
attach__span attach__span_skip(attach__span s, size_t n);

/* Takes the next line without its newline; false at the end. */
bool attach__next_line(attach__span *rest, attach__span *line);
/* Takes the next word; spaces and tabs separate words. False at the end. */
bool attach__next_word(attach__span *rest, attach__span *word);
/* Takes the text before the next `separator`, or all the rest; false at the end. */
bool attach__next_field(attach__span *rest, char separator, attach__span *field);

/* Parses the whole span as a number; false when it is anything else or does not fit. */
bool attach__parse_u64(attach__span s, int base, uint64_t *out);
bool attach__parse_u32(attach__span s, uint32_t *out);

/* Copies at most cap - 1 bytes into out, always NUL-terminated; a '?' replaces bytes that are not
 * printable UTF-8. */
void attach__copy_text(char *out, size_t cap, attach__span s);
/* Copies bytes as they are; false (and an empty out) when they do not fit or hold a NUL. */
bool attach__copy_exact(char *out, size_t cap, attach__span s);
/* Copies to out[cap], decoding the kernel's \ooo escapes (space, tab, newline, backslash); false
 * when the result does not fit. */
bool attach__copy_unescaped(char *out, size_t cap, attach__span s);

#endif
