/* SPDX-License-Identifier: Apache-2.0 */
#include "events/generic_impl.h"

#include <string.h>

/* Returns whether the pattern matches: `*` matches any text, `?` one byte. Backtracks only to the
 * last `*`, so it never takes exponential time. */
static bool matches(jfr_str text, jfr_str pattern)
{
    size_t t = 0;
    size_t p = 0;
    size_t star = SIZE_MAX;
    size_t resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && (pattern.data[p] == '?' || pattern.data[p] == text.data[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.data[p] == '*')
        p++;
    return p == pattern.len;
}

/* Gives the next name of a list, without the blanks around it. Returns false at the end. */
static bool next_pattern(const char **list, jfr_str *out)
{
    while (**list != '\0') {
        size_t len = strcspn(*list, ",");
        const char *from = *list;
        *list += len + ((*list)[len] == ',');
        while (len > 0 && *from == ' ') {
            from++;
            len--;
        }
        while (len > 0 && from[len - 1] == ' ')
            len--;
        if (len > 0) {
            *out = (jfr_str){from, len};
            return true;
        }
    }
    return false;
}

static bool matches_name(jfr_str name, const char *list)
{
    jfr_str simple = name;
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '.')
            simple = (jfr_str){name.data + i + 1, name.len - i - 1};
    }
    jfr_str pattern;
    while (next_pattern(&list, &pattern)) {
        if (matches(name, pattern) || matches(simple, pattern))
            return true;
    }
    return false;
}

static bool is_initials(jfr_str category, jfr_str pattern)
{
    size_t at = 0;
    bool spaced = false;
    for (size_t i = 0; i < category.len; i++) {
        char c = category.data[i];
        spaced = spaced || c == ' ';
        if (c < 'A' || c > 'Z' || (i > 0 && category.data[i - 1] != ' '))
            continue;
        if (at == pattern.len || pattern.data[at++] != c)
            return false;
    }
    return spaced && at == pattern.len;
}

static bool matches_category(jfr_str category, const char *list)
{
    jfr_str pattern;
    while (next_pattern(&list, &pattern)) {
        if (matches(category, pattern) || is_initials(category, pattern))
            return true;
    }
    return false;
}

static bool matches_categories(const jfr_type *type, const char *list)
{
    static const jfr_str uncategorized = {"Uncategorized", 13};
    const jfr_annotation *a =
        jfr_annotation_find(type->annotations, type->annotation_count, "jdk.jfr.Category");
    if (a == NULL)
        return matches_category(uncategorized, list);
    for (uint32_t i = 0; i < a->value_count; i++) {
        if (matches_category(a->values[i].text, list))
            return true;
    }
    return false;
}

bool jfr_type_matches(const jfr_type *type, const char *events, const char *categories)
{
    return type->is_event && (events == NULL || matches_name(type->name, events)) &&
           (categories == NULL || matches_categories(type, categories));
}
