/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_filter.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

static bool add_name(filter_names *out, const char *text, size_t length)
{
    filter_name *names = realloc(out->names, (out->count + 1) * sizeof(*names));
    if (names == NULL)
        return false;
    out->names = names;
    char *copy = strndup(text, length);
    if (copy == NULL)
        return false;
    names[out->count] = (filter_name){.text = copy};
    near_miss_begin(&names[out->count++].near, text, length);
    return true;
}

bool filter_names_begin(filter_names *out, const char *list, bool categories)
{
    *out = (filter_names){.categories = categories};
    for (const char *at = list != NULL ? list : ""; *at != '\0';) {
        size_t length = strcspn(at, ",");
        size_t blanks = strspn(at, " ");
        const char *end = at + length;
        blanks = blanks < length ? blanks : length;
        while (end > at + blanks && end[-1] == ' ')
            end--;
        if (end > at + blanks && !add_name(out, at + blanks, (size_t)(end - at) - blanks))
            return false;
        at += length + (at[length] == ',');
    }
    return true;
}

static void try_categories(near_miss *near, const jfr_type *type)
{
    const jfr_annotation *a =
        jfr_annotation_find(type->annotations, type->annotation_count, "jdk.jfr.Category");
    for (uint32_t i = 0; a != NULL && i < a->value_count; i++)
        near_miss_try(near, a->values[i].text.data, a->values[i].text.len);
}

/* Tries the whole name, and the part after its last dot. */
static void try_event(near_miss *near, const jfr_type *type)
{
    size_t simple = 0;
    for (size_t i = 0; i < type->name.len; i++)
        if (type->name.data[i] == '.')
            simple = i + 1;
    near_miss_try(near, type->name.data, type->name.len);
    near_miss_try(near, type->name.data + simple, type->name.len - simple);
}

static void look_for(filter_name *name, const jfr_type *type, bool categories)
{
    name->found =
        jfr_type_matches(type, categories ? NULL : name->text, categories ? name->text : NULL);
    if (name->found || !type->is_event)
        return;
    if (categories)
        try_categories(&name->near, type);
    else
        try_event(&name->near, type);
}

int filter_names_look(filter_names *names, jfr_chunk *chunk, jfr_error *err)
{
    const jfr_type *types;
    uint32_t count;
    int rc = names->count > 0 ? jfr_chunk_types(chunk, &types, &count, err) : 0;
    for (size_t i = 0; rc == 0 && i < names->count; i++)
        for (uint32_t n = 0; n < count && !names->names[i].found; n++)
            look_for(&names->names[i], &types[n], names->categories);
    return rc;
}

size_t filter_names_report(const filter_names *names, const char *path)
{
    size_t missing = 0;
    char hint[NEAR_MISS_LENGTH + 32];
    for (size_t i = 0; i < names->count; i++) {
        const filter_name *name = &names->names[i];
        if (name->found)
            continue;
        missing++;
        complain("%s has no %s '%s'%s", path, names->categories ? "category" : "event type",
                 name->text, near_miss_hint(&name->near, hint));
    }
    return missing;
}

void filter_names_free(filter_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i].text);
    free(names->names);
    *names = (filter_names){0};
}
