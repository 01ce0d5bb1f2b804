/* SPDX-License-Identifier: Apache-2.0 */
#include "output/meta_impl.h"

#include <string.h>

#include "fail_impl.h"

/* In the order in which they are written. */
static const char *const keys[SAGG__FACTS] = {"title",       "generator", "engine", "java_args",
                                              "jvm_version", "start_ns",  "end_ns", "intervals",
                                              "loss",        "notes"};

enum { START = 5, END = 6 };

struct cursor {
    sagg_str text;
    size_t at;
};

/* The next character, 0 at the end. */
static char next(const struct cursor *from)
{
    return from->at < from->text.size ? from->text.data[from->at] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static void skip_blanks(struct cursor *from)
{
    while (is_blank(next(from)))
        from->at++;
}

static bool take(struct cursor *from, char wanted)
{
    skip_blanks(from);
    if (next(from) != wanted)
        return false;
    from->at++;
    return true;
}

/* Behind the string that begins here. */
static bool skip_string(struct cursor *from)
{
    if (!take(from, '"'))
        return false;
    while (from->at < from->text.size && next(from) != '"')
        from->at += next(from) == '\\' ? 2 : 1;
    return take(from, '"');
}

/* Up to the comma or brace that ends the member, which stays. */
static bool skip_value(struct cursor *from)
{
    size_t depth = 0;
    for (char c = next(from); depth > 0 || (c != ',' && c != '}'); c = next(from)) {
        if (c == '"') {
            if (!skip_string(from))
                return false;
            continue;
        }
        if (from->at >= from->text.size || (depth == 0 && c == ']'))
            return false;
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']')
            depth--;
        from->at++;
    }
    return true;
}

static sagg_str between(const struct cursor *from, size_t start)
{
    size_t end = from->at;
    while (end > start && is_blank(from->text.data[end - 1]))
        end--;
    return (sagg_str){from->text.data + start, end - start};
}

static bool is(sagg_str text, const char *wanted)
{
    return text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0;
}

static void keep(sagg__meta *out, sagg_str key, sagg_str value)
{
    bool is_nothing = is(value, "{}") || is(value, "[]") || is(value, "\"\"");
    for (size_t i = 0; i < SAGG__FACTS && !is_nothing; i++)
        if (key.size == strlen(keys[i]) + 2 && memcmp(key.data + 1, keys[i], key.size - 2) == 0)
            out->facts[i] = value;
}

static bool read_member(sagg__meta *out, struct cursor *from)
{
    skip_blanks(from);
    size_t start = from->at;
    if (!skip_string(from))
        return false;
    sagg_str key = between(from, start);
    if (!take(from, ':'))
        return false;
    skip_blanks(from);
    start = from->at;
    if (!skip_value(from) || from->at == start)
        return false;
    keep(out, key, between(from, start));
    return true;
}

static bool read_object(sagg__meta *out, struct cursor *from)
{
    if (!take(from, '{'))
        return false;
    if (take(from, '}'))
        return true;
    do {
        if (!read_member(out, from))
            return false;
    } while (take(from, ','));
    return take(from, '}');
}

int sagg__meta_read(sagg__meta *out, sagg_str text, sagg_error *err)
{
    struct cursor from = {.text = text};
    *out = (sagg__meta){0};
    bool is_object = text.size == 0 || read_object(out, &from);
    skip_blanks(&from);
    if (is_object && from.at == text.size)
        return 0;
    return sagg__fail(err, SAGG_ERR_FORMAT, 0, "The meta text is not a JSON object: give {...}.");
}

/* Nanoseconds in a string of digits as a number of milliseconds, which is what pages show. Writes
 * nothing when it is something else. */
static bool write_ms(sagg_str fact, sagg__emit *emit)
{
    uint64_t ns = 0;
    if (fact.size < 3 || fact.size > 2 + 19)
        return false;
    for (size_t i = 1; i + 1 < fact.size; i++) {
        if (fact.data[i] < '0' || fact.data[i] > '9')
            return false;
        ns = ns * 10 + (uint64_t)(fact.data[i] - '0');
    }
    sagg__emit_number(emit, ns / 1000000);
    return true;
}

static void write_fact(sagg_str fact, bool is_time, sagg__emit *emit)
{
    if (is_time && write_ms(fact, emit))
        return;
    if (fact.size > 0 && !is_time)
        sagg__emit_json(emit, fact);
    else
        sagg__emit_text(emit, "0");
}

void sagg__meta_write(const sagg__meta *meta, sagg__emit *emit)
{
    size_t count = SAGG__FACTS;
    while (count > 0 && meta->facts[count - 1].size == 0)
        count--;
    for (size_t i = 0; i < count; i++) {
        sagg__emit_text(emit, i > 0 ? "," : ",\"meta\":[");
        write_fact(meta->facts[i], i == START || i == END, emit);
    }
    sagg__emit_text(emit, count > 0 ? "]" : "");
}
