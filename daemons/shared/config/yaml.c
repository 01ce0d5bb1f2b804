/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a YAML file: a recursive descent over libyaml's events and the program's tables. */
#include "config_impl.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct reader {
    yaml_parser_t parser;
    const char *name;
    config_error *err;
    size_t events;
    unsigned depth;
} reader;

static config__origin at_mark(const reader *in, const yaml_mark_t *mark)
{
    return (config__origin){
        .source = SOURCE_FILE, .name = in->name, .line = (unsigned)mark->line + 1};
}

static int not_yaml(reader *in)
{
    const config__origin origin = at_mark(in, &in->parser.problem_mark);
    return config__fail(in->err, CONFIG_ERR_USAGE, &origin, "not valid YAML: %s%s%s",
                        in->parser.problem != NULL ? in->parser.problem : "unreadable",
                        in->parser.context != NULL ? " " : "",
                        in->parser.context != NULL ? in->parser.context : "");
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return event->data.alias.anchor;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

/* Reads the next event. After success the caller deletes it. */
static int next(reader *in, yaml_event_t *event)
{
    if (yaml_parser_parse(&in->parser, event) == 0)
        return not_yaml(in);
    const config__origin origin = at_mark(in, &event->start_mark);
    int rc = 0;
    if (++in->events > EVENTS_MAX)
        rc = config__fail(in->err, CONFIG_ERR_USAGE, &origin,
                          "more than %d YAML entries; a configuration needs far fewer", EVENTS_MAX);
    else if (anchor_of(event) != NULL)
        rc = config__fail(in->err, CONFIG_ERR_USAGE, &origin,
                          "anchors and aliases (&%.40s, *%.40s) are not allowed; write it out",
                          (const char *)anchor_of(event), (const char *)anchor_of(event));
    if (rc != 0)
        yaml_event_delete(event);
    return rc;
}

static int enter(reader *in, const yaml_event_t *event)
{
    if (++in->depth <= DEPTH_MAX)
        return 0;
    const config__origin origin = at_mark(in, &event->start_mark);
    return config__fail(in->err, CONFIG_ERR_USAGE, &origin, "more than %d levels deep", DEPTH_MAX);
}

static bool is_null(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (event->data.scalar.length == 0 ||
            strcmp((const char *)event->data.scalar.value, "~") == 0 ||
            strcmp((const char *)event->data.scalar.value, "null") == 0);
}

/* Returns a scalar's text. Returns NULL and sets the error for another event or a text with a NUL.
 */
static const char *scalar_text(reader *in, const yaml_event_t *event, const char *key,
                               const char *allowed)
{
    const config__origin origin = at_mark(in, &event->start_mark);
    if (event->type != YAML_SCALAR_EVENT) {
        config__fail(in->err, CONFIG_ERR_USAGE, &origin, "%s takes %s, not a %s", key, allowed,
                     event->type == YAML_MAPPING_START_EVENT ? "mapping" : "list");
        return NULL;
    }
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length) {
        config__fail(in->err, CONFIG_ERR_USAGE, &origin, "%s holds a NUL character", key);
        return NULL;
    }
    return text;
}

static int read_mapping(reader *in, config_section *section, const char *prefix);

static int read_rules(reader *in, config__value *value, const config_field *field)
{
    for (;;) {
        yaml_event_t event;
        int rc = next(in, &event);
        if (rc != 0)
            return rc;
        const config__origin origin = at_mark(in, &event.start_mark);
        yaml_event_type_t type = event.type;
        rc = type == YAML_MAPPING_START_EVENT ? enter(in, &event) : 0;
        yaml_event_delete(&event);
        if (rc != 0 || type == YAML_SEQUENCE_END_EVENT)
            return rc;
        if (type != YAML_MAPPING_START_EVENT)
            return config__fail(in->err, CONFIG_ERR_USAGE, &origin,
                                "%s: each entry is a mapping of keys and values", field->key);
        config_section *rule = config__add_rule(value, field);
        if (rule == NULL)
            return config__fail(in->err, CONFIG_ERR_NO_MEMORY, &origin, "out of memory");
        rc = read_mapping(in, rule, "");
        if (rc != 0)
            return rc;
        in->depth--;
    }
}

static int read_items(reader *in, config__value *value, const config_field *field)
{
    for (;;) {
        yaml_event_t event;
        int rc = next(in, &event);
        if (rc != 0)
            return rc;
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        if (!end) {
            const char *text = scalar_text(in, &event, field->key, "a list of texts");
            rc = text == NULL ? CONFIG_ERR_USAGE : config__add_item(value, text, strlen(text));
        }
        yaml_event_delete(&event);
        if (rc != 0 || end)
            return rc;
    }
}

static int read_sequence(reader *in, config_section *section, size_t index,
                         const yaml_event_t *start)
{
    const config_field *field = &section->fields[index];
    config__value *value = &section->values[index];
    int rc = enter(in, start);
    if (rc != 0)
        return rc;
    config__value_clear(value);
    value->source = SOURCE_FILE;
    value->line = (unsigned)start->start_mark.line + 1;
    rc = field->type == CONFIG_RULES ? read_rules(in, value, field) : read_items(in, value, field);
    in->depth--;
    return rc;
}

static int read_field(reader *in, config_section *section, size_t index, bool secret_file,
                      const config__origin *key_at)
{
    const config_field *field = &section->fields[index];
    config__value *value = &section->values[index];
    if (value->source == SOURCE_FILE)
        return config__fail(in->err, CONFIG_ERR_USAGE, key_at, "%s is set twice; first in line %u",
                            field->key, value->line);
    yaml_event_t event;
    int rc = next(in, &event);
    if (rc != 0)
        return rc;
    const config__origin origin = at_mark(in, &event.start_mark);
    bool sequence = field->type == CONFIG_RULES || field->type == CONFIG_LIST;
    char allowed[256];
    config__allowed(allowed, sizeof(allowed), field);
    if (sequence && event.type == YAML_SEQUENCE_START_EVENT) {
        rc = read_sequence(in, section, index, &event);
    } else if (!is_null(&event)) { /* "key:" alone leaves the default */
        const char *text = scalar_text(in, &event, field->key, allowed);
        if (text == NULL)
            rc = CONFIG_ERR_USAGE;
        else if (secret_file)
            rc = config__set_secret_file(section, index, text, &origin, in->err);
        else
            rc = config__set(section, index, text, &origin, in->err);
    }
    yaml_event_delete(&event);
    return rc;
}

static bool is_group(const config_section *section, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < section->count; i++) {
        const char *key = section->fields[i].key;
        if (strncmp(key, path, length) == 0 && key[length] == '.')
            return true;
    }
    return false;
}

static int read_group(reader *in, config_section *section, const char *path)
{
    yaml_event_t event;
    int rc = next(in, &event);
    if (rc != 0)
        return rc;
    const config__origin origin = at_mark(in, &event.start_mark);
    bool mapping = event.type == YAML_MAPPING_START_EVENT;
    bool empty = is_null(&event);
    rc = mapping ? enter(in, &event) : 0;
    yaml_event_delete(&event);
    if (rc != 0 || empty)
        return rc;
    if (!mapping)
        return config__fail(in->err, CONFIG_ERR_USAGE, &origin,
                            "%s is a group: it takes a mapping of keys and values", path);
    rc = read_mapping(in, section, path);
    in->depth--;
    return rc;
}

static int unknown_key(reader *in, const config_section *section, const char *path,
                       const config__origin *origin)
{
    char group[NAME_MAX_LENGTH];
    const char *meant = config__near_miss(section, path);
    if (meant == NULL && config__near_group(section, path, group))
        meant = group;
    if (meant != NULL)
        return config__fail(in->err, CONFIG_ERR_USAGE, origin,
                            "there is no setting \"%.100s\"; did you mean \"%s\"?", path, meant);
    char keys[320] = "";
    size_t used = 0;
    for (size_t i = 0; i < section->count && used < sizeof(keys) - 1; i++)
        used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s", i == 0 ? "" : ", ",
                                 section->fields[i].key);
    return config__fail(in->err, CONFIG_ERR_USAGE, origin,
                        "there is no setting \"%.100s\"; allowed: %.250s%s", path, keys,
                        strlen(keys) > 250 ? " ... (see --help)" : "");
}

/* Returns the index of a key's field, or -1. KEY_file names the field of the secret KEY. */
static long find_field(const config_section *section, const char *path, bool *secret_file)
{
    static const char suffix[] = "_file";
    size_t length = strlen(path);
    long index = config__find(section, path, length);
    *secret_file = false;
    if (index >= 0 || length <= sizeof(suffix) - 1 ||
        strcmp(path + length - (sizeof(suffix) - 1), suffix) != 0)
        return index;
    index = config__find(section, path, length - (sizeof(suffix) - 1));
    *secret_file = index >= 0 && (section->fields[index].flags & CONFIG_SECRET) != 0;
    return *secret_file ? index : -1;
}

static int read_entry(reader *in, config_section *section, const char *prefix, const char *key,
                      const config__origin *origin)
{
    char path[NAME_MAX_LENGTH];
    int length = snprintf(path, sizeof(path), "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", key);
    if (length >= (int)sizeof(path))
        return unknown_key(in, section, path, origin);
    bool secret_file = false;
    long index = find_field(section, path, &secret_file);
    if (index >= 0)
        return read_field(in, section, (size_t)index, secret_file, origin);
    if (is_group(section, path))
        return read_group(in, section, path);
    return unknown_key(in, section, path, origin);
}

/* Reads the entries of a mapping. The start of the mapping has been read. */
static int read_mapping(reader *in, config_section *section, const char *prefix)
{
    for (;;) {
        yaml_event_t event;
        int rc = next(in, &event);
        if (rc != 0)
            return rc;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        if (!end) {
            const config__origin origin = at_mark(in, &event.start_mark);
            const char *key = scalar_text(in, &event, "a mapping's key", "one word");
            rc = key == NULL ? CONFIG_ERR_USAGE : read_entry(in, section, prefix, key, &origin);
        }
        yaml_event_delete(&event);
        if (rc != 0 || end)
            return rc;
    }
}

static int read_root(reader *in, config_section *root, const yaml_event_t *event)
{
    const config__origin origin = at_mark(in, &event->start_mark);
    if (is_null(event))
        return 0;
    if (event->type != YAML_MAPPING_START_EVENT)
        return config__fail(in->err, CONFIG_ERR_USAGE, &origin,
                            "a configuration is a mapping of keys and values");
    in->depth = 1;
    return read_mapping(in, root, "");
}

static int read_stream(reader *in, config_section *root)
{
    unsigned documents = 0;
    for (;;) {
        yaml_event_t event;
        int rc = next(in, &event);
        if (rc != 0)
            return rc;
        const config__origin origin = at_mark(in, &event.start_mark);
        yaml_event_type_t type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && ++documents > 1)
            rc = config__fail(in->err, CONFIG_ERR_USAGE, &origin,
                              "a second YAML document begins; a configuration is one");
        else if (type == YAML_MAPPING_START_EVENT || type == YAML_SCALAR_EVENT ||
                 type == YAML_SEQUENCE_START_EVENT)
            rc = read_root(in, root, &event);
        yaml_event_delete(&event);
        if (rc != 0 || type == YAML_STREAM_END_EVENT)
            return rc;
    }
}

int config__read_yaml(config_section *root, const char *name, const char *text, size_t length,
                      config_error *err)
{
    reader in = {.name = name, .err = err};
    if (yaml_parser_initialize(&in.parser) == 0)
        return config__fail(err, CONFIG_ERR_NO_MEMORY, NULL, "out of memory");
    yaml_parser_set_input_string(&in.parser, (const unsigned char *)text, length);
    int rc = read_stream(&in, root);
    yaml_parser_delete(&in.parser);
    return rc;
}
