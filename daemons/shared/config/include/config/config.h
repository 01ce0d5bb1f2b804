/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a program. A flag overrides a HOTSTACK_* environment variable, which overrides
 * the YAML file, which overrides the default.
 *
 * A program describes its settings once, as an array of config_field. The array gives the flags,
 * the environment variables, the file's keys, every check, --help, --print-config and the
 * reference page. A setting has the same name in each source:
 *
 *     key in the file     upload.retry_max       (upload: {retry_max: ...})
 *     flag                --upload-retry-max VALUE
 *     environment         HOTSTACK_UPLOAD_RETRY_MAX
 *     a secret also       upload.token_file, --upload-token-file, HOTSTACK_UPLOAD_TOKEN_FILE
 *
 * Files are bounded: 1 MiB, 20,000 YAML events, 8 levels; anchors and aliases are refused.
 * Thread rule: a config does not change after config_load, so that any thread may read it.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum config_type {
    CONFIG_STRING,   /* text, perhaps one of `choices` */
    CONFIG_BOOL,     /* true or false */
    CONFIG_INT,      /* whole number */
    CONFIG_DURATION, /* "250ms", "10s", "5m", "1h", "7d"; kept in ms */
    CONFIG_BYTES,    /* "512", "64k", "2m", "1g", powers of 1024; kept in bytes */
    CONFIG_LIST,     /* texts: a YAML sequence, or "a,b" in flags and environment */
    CONFIG_RULES     /* a sequence of mappings, each with the fields of `items`; file only */
};

enum config_flag {
    CONFIG_SECRET = 1u << 0,   /* masked when shown; never a flag; may come from KEY_file */
    CONFIG_REQUIRED = 1u << 1, /* must not be empty after all sources */
};

typedef struct config_field {
    const char *key; /* dotted path of lower-case words: "upload.retry_max" */
    enum config_type type;
    unsigned flags;                   /* config_flag bits */
    const char *fallback;             /* default, written as a user would; NULL = empty, false, 0 */
    const char *const *choices;       /* CONFIG_STRING: NULL-terminated list; NULL = any text */
    int64_t min, max;                 /* numbers, in ms or bytes where so; max 0 = no upper bound */
    const struct config_field *items; /* CONFIG_RULES: the fields of one rule */
    size_t item_count;
    const char *help; /* one or two sentences for --help and the reference page */
} config_field;

typedef struct config_program {
    const char *name;         /* "hotstack-collector" */
    const char *version;      /* for --version */
    const char *summary;      /* one sentence */
    const char *default_file; /* read if it exists and no other file is named; may be NULL */
    const config_field *fields;
    size_t count;
} config_program;

enum config_code {
    CONFIG_OK = 0,
    CONFIG_ERR_USAGE = -1, /* a setting is wrong, unknown or missing */
    CONFIG_ERR_IO = -2,    /* a file cannot be read */
    CONFIG_ERR_NO_MEMORY = -3,
};

/* `message` is a sentence with file, line, key and what is allowed; `line` 0 = not from a file. */
typedef struct config_error {
    int code;
    unsigned line;
    char message[512];
} config_error;

typedef struct config config;

/* The values of a table: those of the program or those of a rule. Borrowed from the config. */
typedef struct config_section config_section;

/*
 * Reads all sources and checks their values. It skips argv[0]; `envp` is NULL-terminated, or NULL
 * for no variables. Every program has the flag --config FILE (HOTSTACK_CONFIG) and the flags of
 * config_start.
 *
 * Returns 0 or a config_code; on error *out is NULL and `err`, which may be NULL, says why. The
 * caller frees *out with config_free. `program` and its tables must outlive *out.
 */
int config_load(config **out, const config_program *program, int argc, char *const *argv,
                char *const *envp, config_error *err);

/* As config_load, but the only source besides the defaults is a YAML text, which messages call
 * `name`. */
int config_load_text(config **out, const config_program *program, const char *name,
                     const char *text, size_t length, config_error *err);

void config_free(config *settings);

/*
 * Calls config_load for a main function, prints its error to stderr, and serves --help, --version,
 * --print-config and --print-reference, which print to stdout. Returns -1 if the program goes on
 * with *out. Otherwise *out is NULL and the result is the exit status: 0, 2 for a usage error, 1
 * for any other.
 */
int config_start(config **out, const config_program *program, int argc, char *const *argv,
                 char *const *envp);

/* Returns the values of the program itself, borrowed. */
const config_section *config_values(const config *settings);

/* Returns the path of the file that was read, borrowed, or NULL. */
const char *config_file(const config *settings);

/*
 * Getters. `key` must be in the section's table and have the getter's type; anything else is an
 * error of the program and asserts. Results are borrowed until config_free. Text is never NULL.
 */
const char *config_string(const config_section *section, const char *key);
bool config_bool(const config_section *section, const char *key);
int64_t config_int(const config_section *section, const char *key);
int64_t config_duration_ms(const config_section *section, const char *key);
uint64_t config_bytes(const config_section *section, const char *key);
size_t config_list_count(const config_section *section, const char *key);
const char *config_list_item(const config_section *section, const char *key, size_t index);
size_t config_rule_count(const config_section *section, const char *key);
const config_section *config_rule(const config_section *section, const char *key, size_t index);

/*
 * Returns the key of a setting whose values differ in `a` and `b`, which belong to one program, or
 * NULL if all are equal. It ignores the key `but`, which may be NULL, and secrets, which programs
 * read from their files on each use. Borrowed from the program's table.
 */
const char *config_difference(const config *a, const config *b, const char *but);

/* Returns whether a source other than the default set the key. */
bool config_is_set(const config_section *section, const char *key);

/* Returns the line of the file that set the key; 0 if another source did. */
unsigned config_line(const config_section *section, const char *key);

/* Returns the path of the file that holds a secret, or NULL. The program reads it again after a
 * change. Borrowed until config_free. */
const char *config_secret_file(const config_section *section, const char *key);

/*
 * Reads the file of a secret: at most 64 KiB, not empty, without a NUL. A newline at its end is not
 * part of the secret. The caller frees *out with free().
 */
int config_read_secret(char **out, const char *path, config_error *err);

/*
 * Print settings. config_print prints YAML that config_load can read, with the source of each value
 * as a comment and without secrets. config_print_reference prints a row of a Markdown table for
 * each key.
 */
void config_print(const config *settings, FILE *to);
void config_print_help(const config_program *program, FILE *to);
void config_print_reference(const config_program *program, FILE *to);

#endif
