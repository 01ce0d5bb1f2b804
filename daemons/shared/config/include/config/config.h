/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a program, from one table: flags > HOTSTACK_* environment > YAML file > default.
 *
 * A program describes its settings once, as an array of config_field. From this array come the
 * flags, the environment names, the file's keys, every check, --help, --print-config and the
 * reference page. One key has one name everywhere:
 *
 *     key in the file     upload.retry_max       (upload: {retry_max: ...})
 *     flag                --upload-retry-max VALUE
 *     environment         HOTSTACK_UPLOAD_RETRY_MAX
 *     secrets, as well    upload.token_file, --upload-token-file, HOTSTACK_UPLOAD_TOKEN_FILE
 *
 * Files are bounded: 1 MiB, 20,000 YAML events, 8 levels; anchors and aliases are refused.
 * Objects are not locked: after config_load they are only read, from any thread.
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

/* The values of one table: the program's own, or one rule's. Borrowed from the config. */
typedef struct config_section config_section;

/*
 * Reads all sources and checks them. argv[0] is skipped; `envp` is NULL-terminated, NULL = none.
 * Flags that every program has: --config FILE (HOTSTACK_CONFIG), and those of config_start.
 * Returns 0 or a config_code; on error *out is NULL and `err` (may be NULL) says why. The caller
 * frees *out with config_free. `program` and its tables must outlive it.
 */
int config_load(config **out, const config_program *program, int argc, char *const *argv,
                char *const *envp, config_error *err);

/* Reads one YAML text as the only source besides the defaults; messages call it `name`. */
int config_load_text(config **out, const config_program *program, const char *name,
                     const char *text, size_t length, config_error *err);

void config_free(config *settings);

/*
 * What a main does: config_load, and --help, --version, --print-config, --print-reference, which
 * write to stdout; errors go to stderr. Returns -1 to go on with *out, else the exit status
 * (0, or 2 on a usage error, 1 otherwise) with *out NULL.
 */
int config_start(config **out, const config_program *program, int argc, char *const *argv,
                 char *const *envp);

/* The program's own values. */
const config_section *config_values(const config *settings);

/* The file that was read, or NULL. Borrowed. */
const char *config_file(const config *settings);

/*
 * Getters. `key` must be in the section's table with the right type; anything else is a programming
 * error and asserts. Borrowed until config_free. Text is never NULL.
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
 * The key of a setting that has another value in `a` than in `b`, of one program; NULL where all
 * are equal. `but`, which may be NULL, and secrets, which are read from their files when they are
 * used, are not looked at. Borrowed from the program's table.
 */
const char *config_difference(const config *a, const config *b, const char *but);

/* True where any source but the default set the key. */
bool config_is_set(const config_section *section, const char *key);

/* The line of the file that set the key, 0 = another source. */
unsigned config_line(const config_section *section, const char *key);

/* The file that a secret came from, to be read again when it changes; NULL = not from a file. */
const char *config_secret_file(const config_section *section, const char *key);

/*
 * Reads a secret's file: at most 64 KiB, the newline at its end cut off, no NUL, not empty. The
 * caller frees *out with free().
 */
int config_read_secret(char **out, const char *path, config_error *err);

/*
 * Writers. config_print writes YAML that config_load reads back, with each value's source as a
 * comment and secrets left out; config_print_reference writes one Markdown table row a key.
 */
void config_print(const config *settings, FILE *to);
void config_print_help(const config_program *program, FILE *to);
void config_print_reference(const config_program *program, FILE *to);

#endif
