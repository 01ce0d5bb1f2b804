/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a table: lookup, getters, and the names of their flags and variables. */
#include "config_impl.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <base/near_miss.h>

int(config__fail)(config_error *err, int code, const config__origin *origin, const char *format,
                  ...)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->line = origin != NULL ? origin->line : 0;
    int used = 0;
    if (origin != NULL && origin->line > 0)
        used = snprintf(err->message, sizeof(err->message), "%s:%u: ", origin->name, origin->line);
    else if (origin != NULL)
        used = snprintf(err->message, sizeof(err->message), "%s: ", origin->name);
    if (used < 0 || (size_t)used >= sizeof(err->message))
        return code;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err->message + used, sizeof(err->message) - (size_t)used, format, arguments);
    va_end(arguments);
    return code;
}

config_section *config__section_new(const config_field *fields, size_t count)
{
    config_section *section = calloc(1, sizeof(*section));
    if (section == NULL)
        return NULL;
    section->fields = fields;
    section->count = count;
    section->values = calloc(count + 1, sizeof(*section->values));
    if (section->values == NULL) {
        config__section_free(section);
        return NULL;
    }
    const config__origin origin = {.source = SOURCE_DEFAULT, .name = "default"};
    for (size_t i = 0; i < count; i++) {
        const char *fallback = fields[i].fallback;
        if (fallback == NULL)
            continue;
        int rc = config__set(section, i, fallback, &origin, NULL);
        assert(rc != CONFIG_ERR_USAGE && "a default does not fit its own field");
        if (rc != 0) {
            config__section_free(section);
            return NULL;
        }
    }
    return section;
}

void config__value_clear(config__value *value)
{
    free(value->text);
    free(value->secret_file);
    for (size_t i = 0; i < value->item_count; i++)
        free(value->items[i]);
    free(value->items);
    for (size_t i = 0; i < value->rule_count; i++)
        config__section_free(value->rules[i]);
    free(value->rules);
    *value = (config__value){0};
}

void config__section_free(config_section *section)
{
    if (section == NULL)
        return;
    for (size_t i = 0; section->values != NULL && i < section->count; i++)
        config__value_clear(&section->values[i]);
    free(section->values);
    free(section);
}

long config__find(const config_section *section, const char *key, size_t length)
{
    for (size_t i = 0; i < section->count; i++) {
        const char *name = section->fields[i].key;
        if (strlen(name) == length && memcmp(name, key, length) == 0)
            return (long)i;
    }
    return -1;
}

const char *config__near_miss(const config_section *section, const char *key)
{
    near_miss near;
    near_miss_begin(&near, key, strlen(key));
    for (size_t i = 0; i < section->count; i++)
        near_miss_try(&near, section->fields[i].key, strlen(section->fields[i].key));
    long found = config__find(section, near.name, strlen(near.name));
    const char *last = strrchr(key, '.');
    for (size_t i = 0; found < 0 && i < section->count; i++) {
        const char *word = strrchr(section->fields[i].key, '.');
        if (word != NULL && strcmp(word + 1, last != NULL ? last + 1 : key) == 0)
            found = (long)i;
    }
    return found >= 0 ? section->fields[found].key : NULL;
}

bool config__near_group(const config_section *section, const char *key, char *name)
{
    near_miss near;
    near_miss_begin(&near, key, strlen(key));
    for (size_t i = 0; i < section->count; i++) {
        const char *end = strchr(section->fields[i].key, '.');
        if (end != NULL)
            near_miss_try(&near, section->fields[i].key, (size_t)(end - section->fields[i].key));
    }
    memcpy(name, near.name, sizeof(near.name));
    return name[0] != '\0';
}

void config__flag_name(char *out, const char *key)
{
    size_t used = (size_t)snprintf(out, NAME_MAX_LENGTH, "--%s", key);
    assert(used < NAME_MAX_LENGTH);
    for (char *at = out; *at != '\0'; at++) {
        if (*at == '.' || *at == '_')
            *at = '-';
    }
}

void config__variable_name(char *out, const char *key)
{
    size_t used = (size_t)snprintf(out, NAME_MAX_LENGTH, "HOTSTACK_%s", key);
    assert(used < NAME_MAX_LENGTH);
    for (char *at = out; *at != '\0'; at++)
        *at = (char)(*at == '.' ? '_' : toupper((unsigned char)*at));
}

static const config__value *get(const config_section *section, const char *key,
                                enum config_type type)
{
    long index = config__find(section, key, strlen(key));
    assert(index >= 0 && "no such key in the table");
    assert(section->fields[index].type == type && "the key has another type");
    (void)type;
    return &section->values[index];
}

const char *config_string(const config_section *section, const char *key)
{
    const char *text = get(section, key, CONFIG_STRING)->text;
    return text != NULL ? text : "";
}

bool config_bool(const config_section *section, const char *key)
{
    return get(section, key, CONFIG_BOOL)->number != 0;
}

int64_t config_int(const config_section *section, const char *key)
{
    return get(section, key, CONFIG_INT)->number;
}

int64_t config_duration_ms(const config_section *section, const char *key)
{
    return get(section, key, CONFIG_DURATION)->number;
}

uint64_t config_bytes(const config_section *section, const char *key)
{
    return (uint64_t)get(section, key, CONFIG_BYTES)->number;
}

size_t config_list_count(const config_section *section, const char *key)
{
    return get(section, key, CONFIG_LIST)->item_count;
}

const char *config_list_item(const config_section *section, const char *key, size_t index)
{
    const config__value *value = get(section, key, CONFIG_LIST);
    assert(index < value->item_count);
    return value->items[index];
}

size_t config_rule_count(const config_section *section, const char *key)
{
    return get(section, key, CONFIG_RULES)->rule_count;
}

const config_section *config_rule(const config_section *section, const char *key, size_t index)
{
    const config__value *value = get(section, key, CONFIG_RULES);
    assert(index < value->rule_count);
    return value->rules[index];
}

static bool same_texts(char *const *a, char *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

static bool same_values(const config__value *a, const config__value *b);

static bool same_rules(const config__value *a, const config__value *b)
{
    for (size_t i = 0; i < a->rule_count; i++)
        for (size_t j = 0; j < a->rules[i]->count; j++)
            if (!same_values(&a->rules[i]->values[j], &b->rules[i]->values[j]))
                return false;
    return true;
}

static bool same_values(const config__value *a, const config__value *b)
{
    const char *one = a->text == NULL ? "" : a->text, *other = b->text == NULL ? "" : b->text;
    return a->number == b->number && strcmp(one, other) == 0 && a->item_count == b->item_count &&
           same_texts(a->items, b->items, a->item_count) && a->rule_count == b->rule_count &&
           same_rules(a, b);
}

const char *config_difference(const config *a, const config *b, const char *but)
{
    for (size_t i = 0; i < a->root->count; i++) {
        const config_field *field = &a->root->fields[i];
        bool skipped =
            (field->flags & CONFIG_SECRET) != 0 || (but != NULL && strcmp(field->key, but) == 0);
        if (!skipped && !same_values(&a->root->values[i], &b->root->values[i]))
            return field->key;
    }
    return NULL;
}

static const config__value *value_of(const config_section *section, const char *key)
{
    long index = config__find(section, key, strlen(key));
    assert(index >= 0 && "no such key in the table");
    return &section->values[index];
}

bool config_is_set(const config_section *section, const char *key)
{
    return value_of(section, key)->source != SOURCE_DEFAULT;
}

unsigned config_line(const config_section *section, const char *key)
{
    return value_of(section, key)->line;
}

const char *config_secret_file(const config_section *section, const char *key)
{
    return value_of(section, key)->secret_file;
}
