/* SPDX-License-Identifier: Apache-2.0 */
/* Private to daemons/shared/config. */
#ifndef CONFIG_IMPL_H
#define CONFIG_IMPL_H

#include <base/near_miss.h>
#include <config/config.h>

enum config__source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG };

enum {
    FILE_MAX = 1024 * 1024,
    SECRET_MAX = 64 * 1024,
    EVENTS_MAX = 20000,
    DEPTH_MAX = 8,
    NAME_MAX_LENGTH = NEAR_MISS_LENGTH, /* of a key, flag or environment name */
};

typedef struct config__value {
    enum config__source source;
    unsigned line;
    char *text;        /* string; NULL = "" */
    char *secret_file; /* KEY_file of a secret */
    int64_t number;    /* bool, int, duration in ms, bytes */
    char **items;
    size_t item_count;
    config_section **rules;
    size_t rule_count;
} config__value;

struct config_section {
    const config_field *fields;
    size_t count;
    config__value *values; /* one for each field */
};

struct config {
    const config_program *program;
    char *file;
    config_section *root;
};

/* Where a value comes from, for messages: "collector.yaml:12", "--x", "HOTSTACK_X". */
typedef struct config__origin {
    enum config__source source;
    const char *name; /* file, flag or variable */
    unsigned line;
} config__origin;

/* Fills `err` and returns `code`. The message begins with the origin, which may be NULL. */
int config__fail(config_error *err, int code, const config__origin *origin, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The analyser sees one file at a time: this tells it that a failure never returns 0. */
#ifdef __clang_analyzer__
#define config__fail(err, code, ...) (config__fail(err, code, __VA_ARGS__), (code))
#endif

/* Makes a section in which each value is the default. Returns NULL without memory. */
config_section *config__section_new(const config_field *fields, size_t count);
void config__section_free(config_section *section);
void config__value_clear(config__value *value);

/* Returns the index of `key` in the section's table, or -1. */
long config__find(const config_section *section, const char *key, size_t length);

/* Returns the table's key that resembles `key` most, or NULL, for "did you mean". */
const char *config__near_miss(const config_section *section, const char *key);

/* Logs each environment variable whose name differs from that of a setting by a letter or two. */
void config__note_variables(const config_section *root, char *const *envp);

/* Writes the group ("queue" of "queue.size") that resembles `key` most to name[NAME_MAX_LENGTH].
 * Returns whether there is one. */
bool config__near_group(const config_section *section, const char *key, char *name);

/* Write the name of the flag or environment variable of `key` to out[NAME_MAX_LENGTH]. */
void config__flag_name(char *out, const char *key);
void config__variable_name(char *out, const char *key);

/* Sets a field from a text, which for a list is split at commas. */
int config__set(config_section *section, size_t index, const char *text,
                const config__origin *origin, config_error *err);

/* Sets a secret to the contents of a file. */
int config__set_secret_file(config_section *section, size_t index, const char *path,
                            const config__origin *origin, config_error *err);

/* Appends an item to a list. Returns 0 or CONFIG_ERR_NO_MEMORY. */
int config__add_item(config__value *value, const char *text, size_t length);
/* Appends a rule whose values are the defaults. Returns it, or NULL without memory. */
config_section *config__add_rule(config__value *value, const config_field *field);

/* Describes the values that a field takes, for a message: "a duration between 1s and 10m (such as
 * 10s)". */
void config__allowed(char *out, size_t size, const config_field *field);

/* Writes a number as a user writes it: "10s", "64k". */
void config__format_number(char *out, size_t size, enum config_type type, int64_t number);

/* Sets the values of the root section from a YAML text. */
int config__read_yaml(config_section *root, const char *name, const char *text, size_t length,
                      config_error *err);

/* Reads a file of at most `max` bytes and appends a NUL. The caller frees *out. */
int config__read_file(char **out, size_t *length, const char *path, size_t max, config_error *err);

#endif
