/* SPDX-License-Identifier: Apache-2.0 */
/* Converts texts to typed values, and values to texts. */
#include "config_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
    const char *name;
    int64_t factor;
} unit;

static const unit durations[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000},
                                 {"s", 1000},     {"ms", 1},      {NULL, 0}};
static const unit sizes[] = {
    {"g", INT64_C(1073741824)}, {"m", INT64_C(1048576)}, {"k", 1024}, {"", 1}, {NULL, 0}};
static const unit plain[] = {{"", 1}, {NULL, 0}};

static const unit *units_of(enum config_type type)
{
    if (type == CONFIG_DURATION)
        return durations;
    return type == CONFIG_BYTES ? sizes : plain;
}

static bool parse_number(int64_t *out, const char *text, const unit *units)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno != 0 || (*text != '-' && (*text < '0' || *text > '9')))
        return false;
    if (number == 0 && *end == '\0') {
        *out = 0;
        return true;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, end) == 0)
            return !__builtin_mul_overflow((int64_t)number, units->factor, out);
    }
    return false;
}

static bool in_range(const config_field *field, int64_t number)
{
    return number >= field->min && (field->max == 0 || number <= field->max);
}

static bool parse_bool(int64_t *out, const char *text)
{
    *out = strcmp(text, "true") == 0;
    return *out != 0 || strcmp(text, "false") == 0;
}

static bool is_choice(const config_field *field, const char *text)
{
    if (field->choices == NULL)
        return true;
    for (const char *const *choice = field->choices; *choice != NULL; choice++) {
        if (strcmp(*choice, text) == 0)
            return true;
    }
    return false;
}

void config__format_number(char *out, size_t size, enum config_type type, int64_t number)
{
    const unit *best = units_of(type);
    while (best[1].name != NULL && (number == 0 || number % best->factor != 0))
        best++;
    (void)snprintf(out, size, "%" PRId64 "%s", number / best->factor,
                   number == 0 ? "" : best->name);
}

static void allowed_number(char *out, size_t size, const config_field *field, const char *kind)
{
    char low[32];
    char high[32];
    config__format_number(low, sizeof(low), field->type, field->min);
    config__format_number(high, sizeof(high), field->type, field->max);
    if (field->max != 0)
        (void)snprintf(out, size, "%s between %s and %s", kind, low, high);
    else
        (void)snprintf(out, size, "%s of at least %s", kind, low);
}

static void allowed_choice(char *out, size_t size, const config_field *field)
{
    size_t used = (size_t)snprintf(out, size, "one of");
    for (const char *const *choice = field->choices; *choice != NULL && used < size; choice++)
        used += (size_t)snprintf(out + used, size - used, "%s %s",
                                 choice == field->choices ? "" : ",", *choice);
}

void config__allowed(char *out, size_t size, const config_field *field)
{
    switch (field->type) {
    case CONFIG_STRING:
        if (field->choices != NULL)
            allowed_choice(out, size, field);
        else
            (void)snprintf(out, size, "text");
        return;
    case CONFIG_BOOL:
        (void)snprintf(out, size, "true or false");
        return;
    case CONFIG_INT:
        allowed_number(out, size, field, "a whole number");
        return;
    case CONFIG_DURATION:
        allowed_number(out, size, field, "a duration (units ms, s, m, h, d)");
        return;
    case CONFIG_BYTES:
        allowed_number(out, size, field, "a size (units k, m, g)");
        return;
    case CONFIG_LIST:
        (void)snprintf(out, size, "a list of texts");
        return;
    case CONFIG_RULES:
        (void)snprintf(out, size, "a list of rules, in the file only");
        return;
    }
}

static int refuse(const config_field *field, const char *text, const config__origin *origin,
                  config_error *err)
{
    char allowed[256];
    config__allowed(allowed, sizeof(allowed), field);
    return config__fail(err, CONFIG_ERR_USAGE, origin,
                        "%s: \"%.60s\" is not allowed; it takes %s%s%s", field->key,
                        (field->flags & CONFIG_SECRET) ? "***" : text, allowed,
                        field->fallback != NULL ? ", and its default is " : "",
                        field->fallback != NULL ? field->fallback : "");
}

int config__add_item(config__value *value, const char *text, size_t length)
{
    char **grown = realloc(value->items, (value->item_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return CONFIG_ERR_NO_MEMORY;
    value->items = grown;
    value->items[value->item_count] = strndup(text, length);
    if (value->items[value->item_count] == NULL)
        return CONFIG_ERR_NO_MEMORY;
    value->item_count++;
    return 0;
}

config_section *config__add_rule(config__value *value, const config_field *field)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    config_section **grown = realloc(value->rules, (value->rule_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    value->rules = grown;
    config_section *rule = config__section_new(field->items, field->item_count);
    if (rule != NULL)
        value->rules[value->rule_count++] = rule;
    return rule;
}

static int split_list(config__value *value, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (length > 0 && config__add_item(value, text, length) != 0)
            return CONFIG_ERR_NO_MEMORY;
        text += length;
        text += *text == ',';
    }
    return 0;
}

/* Returns 0, CONFIG_ERR_USAGE if the field does not allow the text, or CONFIG_ERR_NO_MEMORY. */
static int parse(config__value *value, const config_field *field, const char *text)
{
    bool fits = true;
    switch (field->type) {
    case CONFIG_STRING:
        fits = is_choice(field, text);
        value->text = fits ? strdup(text) : NULL;
        if (fits && value->text == NULL)
            return CONFIG_ERR_NO_MEMORY;
        break;
    case CONFIG_BOOL:
        fits = parse_bool(&value->number, text);
        break;
    case CONFIG_INT:
    case CONFIG_DURATION:
    case CONFIG_BYTES:
        fits = parse_number(&value->number, text, units_of(field->type)) &&
               in_range(field, value->number);
        break;
    case CONFIG_LIST:
        return split_list(value, text);
    case CONFIG_RULES:
        fits = false;
        break;
    }
    return fits ? 0 : CONFIG_ERR_USAGE;
}

int config__set(config_section *section, size_t index, const char *text,
                const config__origin *origin, config_error *err)
{
    const config_field *field = &section->fields[index];
    config__value *value = &section->values[index];
    config__value_clear(value);
    value->source = origin->source;
    value->line = origin->line;
    int rc = parse(value, field, text);
    if (rc == CONFIG_ERR_USAGE)
        return refuse(field, text, origin, err);
    if (rc == CONFIG_ERR_NO_MEMORY)
        return config__fail(err, rc, origin, "%s: out of memory", field->key);
    return 0;
}

int config__set_secret_file(config_section *section, size_t index, const char *path,
                            const config__origin *origin, config_error *err)
{
    config_error why = {0};
    char *secret = NULL;
    int rc = config_read_secret(&secret, path, &why);
    if (rc != 0)
        return config__fail(err, rc, origin, "%s_file: %s", section->fields[index].key,
                            why.message);
    rc = config__set(section, index, secret, origin, err);
    free(secret);
    if (rc != 0)
        return rc;
    section->values[index].secret_file = strdup(path);
    if (section->values[index].secret_file == NULL)
        return config__fail(err, CONFIG_ERR_NO_MEMORY, origin, "out of memory");
    return 0;
}
