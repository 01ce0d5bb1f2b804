/* SPDX-License-Identifier: Apache-2.0 */
#include "output/meta_impl.h"

#include "fail_impl.h"

struct cursor {
    sagg_str text;
    size_t at;
};

/* Returns the next character, 0 at the end. */
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

/* Moves past the string that begins here. */
static bool skip_string(struct cursor *from)
{
    if (!take(from, '"'))
        return false;
    while (from->at < from->text.size && next(from) != '"')
        from->at += next(from) == '\\' ? 2 : 1;
    return take(from, '"');
}

/* Moves to the comma or brace that ends the member. */
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

static bool skip_member(struct cursor *from)
{
    skip_blanks(from);
    if (!skip_string(from) || !take(from, ':'))
        return false;
    skip_blanks(from);
    size_t start = from->at;
    return skip_value(from) && from->at > start;
}

static bool skip_object(struct cursor *from)
{
    if (!take(from, '{'))
        return false;
    if (take(from, '}'))
        return true;
    do {
        if (!skip_member(from))
            return false;
    } while (take(from, ','));
    return take(from, '}');
}

int sagg__meta_check(sagg_str text, sagg_error *err)
{
    struct cursor from = {.text = text};
    bool is_object = text.size == 0 || skip_object(&from);
    skip_blanks(&from);
    if (is_object && from.at == text.size)
        return 0;
    return sagg__fail(err, SAGG_ERR_FORMAT, 0, "The meta text is not a JSON object: give {...}.");
}
