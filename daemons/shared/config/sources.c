/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sources. A later one overrides an earlier one: default, file, environment, flags. */
#include "config_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/environment.h>
#include <base/log.h>

int config__read_file(char **out, size_t *length, const char *path, size_t max, config_error *err)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return config__fail(err, CONFIG_ERR_IO, NULL, "cannot open %.300s: %s", path,
                            strerror(errno));
    char *text = malloc(max + 1);
    size_t used = 0;
    ssize_t got = text != NULL ? 1 : -1;
    while (got > 0 && used <= max) {
        got = read(fd, text + used, max + 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    int saved = text != NULL ? errno : ENOMEM;
    close(fd);
    if (got < 0 || used > max) {
        free(text);
        if (got < 0)
            return config__fail(err, CONFIG_ERR_IO, NULL, "cannot read %.300s: %s", path,
                                strerror(saved));
        return config__fail(err, CONFIG_ERR_IO, NULL, "%.300s is larger than %zu bytes", path, max);
    }
    text[used] = '\0';
    *length = used;
    *out = text;
    return 0;
}

int config_read_secret(char **out, const char *path, config_error *err)
{
    size_t length = 0;
    int rc = config__read_file(out, &length, path, SECRET_MAX, err);
    if (rc != 0)
        return rc;
    while (length > 0 && ((*out)[length - 1] == '\n' || (*out)[length - 1] == '\r'))
        (*out)[--length] = '\0';
    if (length > 0 && strlen(*out) == length && strpbrk(*out, "\r\n") == NULL)
        return 0;
    free(*out);
    *out = NULL;
    return config__fail(err, CONFIG_ERR_USAGE, NULL, "%.300s does not hold one line of text", path);
}

static const char *variable(char *const *envp, const char *name)
{
    size_t length = strlen(name);
    for (; envp != NULL && *envp != NULL; envp++) {
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    }
    return NULL;
}

static int apply_environment(config_section *root, char *const *envp, config_error *err)
{
    for (size_t i = 0; i < root->count; i++) {
        const config_field *field = &root->fields[i];
        char name[NAME_MAX_LENGTH];
        config__variable_name(name, field->key);
        config__origin origin = {.source = SOURCE_ENVIRONMENT, .name = name};
        const char *text = variable(envp, name);
        int rc = text != NULL ? config__set(root, i, text, &origin, err) : 0;
        if (rc != 0)
            return rc;
        if ((field->flags & CONFIG_SECRET) == 0)
            continue;
        strncat(name, "_FILE", sizeof(name) - strlen(name) - 1);
        const char *path = variable(envp, name);
        if (path != NULL && text != NULL)
            return config__fail(err, CONFIG_ERR_USAGE, &origin,
                                "is set beside the variable without _FILE; set one of them");
        rc = path != NULL ? config__set_secret_file(root, i, path, &origin, err) : 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}

static void note_typo(const char *typed, const char *meant)
{
    log_line("note: the environment has %s, which is no setting; did you mean %s?", typed, meant);
}

void config__note_variables(const config_section *root, char *const *envp)
{
    char(*names)[NAME_MAX_LENGTH] = calloc(2 * root->count + 1, sizeof(*names));
    const char **list = calloc(2 * root->count + 1, sizeof(*list));
    size_t count = 0;
    for (size_t i = 0; names != NULL && list != NULL && i < root->count; i++) {
        config__variable_name(names[count], root->fields[i].key);
        list[count] = names[count];
        count++;
        if ((root->fields[i].flags & CONFIG_SECRET) == 0)
            continue;
        config__variable_name(names[count], root->fields[i].key);
        strncat(names[count], "_FILE", NAME_MAX_LENGTH - strlen(names[count]) - 1);
        list[count] = names[count];
        count++;
    }
    environment_find_typos(envp, list, count, note_typo);
    free(names);
    free(list);
}

/* A flag of the command line: its name, its text (NULL = none), and its number of words. */
typedef struct flag {
    char name[NAME_MAX_LENGTH];
    const char *text;
    int words;
} flag;

static int split_flag(flag *out, int argc, char *const *argv, int at, config_error *err)
{
    const char *word = argv[at];
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || length <= 2 || length >= sizeof(out->name))
        return config__fail(err, CONFIG_ERR_USAGE, NULL,
                            "\"%.100s\" is not understood; all arguments are flags such as "
                            "--config FILE (see --help)",
                            word);
    memcpy(out->name, word, length);
    out->name[length] = '\0';
    out->words = 1;
    out->text = word[length] == '=' ? word + length + 1 : NULL;
    if (out->text == NULL && at + 1 < argc && strncmp(argv[at + 1], "--", 2) != 0) {
        out->text = argv[at + 1];
        out->words = 2;
    }
    return 0;
}

static int unknown_flag(const config_section *root, const flag *given, config_error *err)
{
    char key[NAME_MAX_LENGTH];
    (void)snprintf(key, sizeof(key), "%s", given->name + 2);
    const char *meant = config__near_miss(root, key);
    char name[NAME_MAX_LENGTH] = "";
    if (meant != NULL)
        config__flag_name(name, meant);
    return config__fail(err, CONFIG_ERR_USAGE, NULL, "there is no flag %s%s%s%s (see --help)",
                        given->name, meant != NULL ? "; did you mean " : "", name,
                        meant != NULL ? "?" : "");
}

static int apply_flag(config_section *root, flag *given, config_error *err)
{
    const config__origin origin = {.source = SOURCE_FLAG, .name = given->name};
    for (size_t i = 0; i < root->count; i++) {
        const config_field *field = &root->fields[i];
        bool secret = (field->flags & CONFIG_SECRET) != 0;
        char name[NAME_MAX_LENGTH];
        config__flag_name(name, field->key);
        if (strcmp(name, given->name) == 0) {
            if (secret)
                return config__fail(err, CONFIG_ERR_USAGE, &origin,
                                    "a secret in the command line is seen by every user; use "
                                    "%s-file or the environment",
                                    name);
            if (given->text == NULL && field->type == CONFIG_BOOL)
                return config__set(root, i, "true", &origin, err);
            if (given->text == NULL)
                return config__fail(err, CONFIG_ERR_USAGE, &origin, "a value must follow");
            return config__set(root, i, given->text, &origin, err);
        }
        strncat(name, "-file", sizeof(name) - strlen(name) - 1);
        if (secret && strcmp(name, given->name) == 0 && given->text != NULL)
            return config__set_secret_file(root, i, given->text, &origin, err);
    }
    return unknown_flag(root, given, err);
}

/* A bool flag takes the next word only if that is "true" or "false". */
static void give_back_word(const config_section *root, flag *given)
{
    for (size_t i = 0; i < root->count; i++) {
        char name[NAME_MAX_LENGTH];
        config__flag_name(name, root->fields[i].key);
        if (given->words == 2 && root->fields[i].type == CONFIG_BOOL &&
            strcmp(name, given->name) == 0 && strcmp(given->text, "true") != 0 &&
            strcmp(given->text, "false") != 0) {
            given->words = 1;
            given->text = NULL;
        }
    }
}

static int apply_flags(config_section *root, int argc, char *const *argv, config_error *err)
{
    flag given = {0};
    for (int at = 1; at < argc; at += given.words) {
        int rc = split_flag(&given, argc, argv, at, err);
        if (rc != 0)
            return rc;
        give_back_word(root, &given);
        if (strcmp(given.name, "--config") == 0)
            continue;
        rc = apply_flag(root, &given, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Finds the file: --config, else HOTSTACK_CONFIG, else the default file if it exists. */
static int choose_file(const char **out, const config_program *program, int argc, char *const *argv,
                       char *const *envp, config_error *err)
{
    *out = NULL;
    for (int at = 1; at < argc; at++) {
        flag given = {0};
        if (strncmp(argv[at], "--config", strlen("--config")) != 0 ||
            split_flag(&given, argc, argv, at, err) != 0 || strcmp(given.name, "--config") != 0)
            continue;
        if (given.text == NULL)
            return config__fail(err, CONFIG_ERR_USAGE, NULL, "--config: a file name must follow");
        *out = given.text;
    }
    if (*out == NULL)
        *out = variable(envp, "HOTSTACK_CONFIG");
    if (*out == NULL && program->default_file != NULL && access(program->default_file, F_OK) == 0)
        *out = program->default_file;
    return 0;
}

static int apply_file(config *settings, const char *path, config_error *err)
{
    char *text = NULL;
    size_t length = 0;
    settings->file = strdup(path);
    if (settings->file == NULL)
        return config__fail(err, CONFIG_ERR_NO_MEMORY, NULL, "out of memory");
    int rc = config__read_file(&text, &length, path, FILE_MAX, err);
    if (rc == 0)
        rc = config__read_yaml(settings->root, path, text, length, err);
    free(text);
    return rc;
}

static bool is_empty(const config_field *field, const config__value *value)
{
    if (field->type == CONFIG_LIST)
        return value->item_count == 0;
    if (field->type == CONFIG_RULES)
        return value->rule_count == 0;
    return field->type == CONFIG_STRING && (value->text == NULL || value->text[0] == '\0');
}

static int check_required(const config_section *section, const config__origin *where,
                          config_error *err)
{
    for (size_t i = 0; i < section->count; i++) {
        const config_field *field = &section->fields[i];
        const config__value *value = &section->values[i];
        if ((field->flags & CONFIG_REQUIRED) != 0 && is_empty(field, value))
            return config__fail(err, CONFIG_ERR_USAGE, where, "%s is required: %s", field->key,
                                field->help);
        for (size_t k = 0; k < value->rule_count; k++) {
            config__origin in_rule = {.name = where->name, .line = value->line};
            int rc = check_required(value->rules[k], &in_rule, err);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static config *new_config(const config_program *program, config_error *err)
{
    config *settings = calloc(1, sizeof(*settings));
    if (settings != NULL) {
        settings->program = program;
        settings->root = config__section_new(program->fields, program->count);
    }
    if (settings == NULL || settings->root == NULL) {
        config__fail(err, CONFIG_ERR_NO_MEMORY, NULL, "out of memory");
        config_free(settings);
        return NULL;
    }
    return settings;
}

int config_load(config **out, const config_program *program, int argc, char *const *argv,
                char *const *envp, config_error *err)
{
    *out = NULL;
    config *settings = new_config(program, err);
    if (settings == NULL)
        return CONFIG_ERR_NO_MEMORY;
    const char *path = NULL;
    int rc = choose_file(&path, program, argc, argv, envp, err);
    if (rc == 0 && path != NULL)
        rc = apply_file(settings, path, err);
    if (rc == 0)
        rc = apply_environment(settings->root, envp, err);
    if (rc == 0)
        rc = apply_flags(settings->root, argc, argv, err);
    const config__origin where = {.name = path != NULL ? path : program->name};
    if (rc == 0)
        rc = check_required(settings->root, &where, err);
    if (rc != 0) {
        config_free(settings);
        return rc;
    }
    *out = settings;
    return 0;
}

int config_load_text(config **out, const config_program *program, const char *name,
                     const char *text, size_t length, config_error *err)
{
    *out = NULL;
    if (length > FILE_MAX)
        return config__fail(err, CONFIG_ERR_USAGE, NULL, "%s is larger than %d bytes", name,
                            FILE_MAX);
    config *settings = new_config(program, err);
    if (settings == NULL)
        return CONFIG_ERR_NO_MEMORY;
    int rc = config__read_yaml(settings->root, name, text, length, err);
    const config__origin where = {.name = name};
    if (rc == 0)
        rc = check_required(settings->root, &where, err);
    if (rc != 0) {
        config_free(settings);
        return rc;
    }
    *out = settings;
    return 0;
}

void config_free(config *settings)
{
    if (settings == NULL)
        return;
    config__section_free(settings->root);
    free(settings->file);
    free(settings);
}

const config_section *config_values(const config *settings)
{
    return settings->root;
}

const char *config_file(const config *settings)
{
    return settings->file;
}
