/* SPDX-License-Identifier: Apache-2.0 */
/* Prints settings and their reference, and starts a program. */
#include "config_impl.h"

#include <base/log.h>

#include <string.h>

static const char *type_word(enum config_type type)
{
    switch (type) {
    case CONFIG_STRING:
        return "TEXT";
    case CONFIG_BOOL:
        return "true|false";
    case CONFIG_INT:
        return "N";
    case CONFIG_DURATION:
        return "DURATION";
    case CONFIG_BYTES:
        return "SIZE";
    case CONFIG_LIST:
        return "A,B,...";
    case CONFIG_RULES:
        return "RULES";
    }
    return "";
}

/* Prints `text` in lines of at most 96 columns, each of them indented. */
static void print_wrapped(FILE *to, const char *text, int indent)
{
    int column = 0;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > 96 - indent) {
            (void)fputc('\n', to);
            column = 0;
        }
        column += column == 0 ? fprintf(to, "%*s%.*s", indent, "", length, text) - indent
                              : fprintf(to, " %.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    (void)fputc('\n', to);
}

static void help_fields(FILE *to, const config_field *fields, size_t count, int indent);

static void help_field(FILE *to, const config_field *field, int indent)
{
    char flag[NAME_MAX_LENGTH];
    config__flag_name(flag, field->key);
    bool secret = (field->flags & CONFIG_SECRET) != 0;
    if (field->type == CONFIG_RULES || indent > 2)
        (void)fprintf(to, "%*s%s: %s\n", indent, "", field->key, type_word(field->type));
    else
        (void)fprintf(to, "%*s%s%s %s\n", indent, "", flag, secret ? "-file" : "",
                      secret ? "FILE" : type_word(field->type));
    print_wrapped(to, field->help, indent + 6);
    char allowed[256];
    config__allowed(allowed, sizeof(allowed), field);
    const char *fallback = field->fallback != NULL ? field->fallback : "";
    (void)fprintf(to, "%*s[%s%s%s]\n", indent + 6, "", allowed,
                  fallback[0] != '\0' ? "; default " : "", fallback);
    if (field->type == CONFIG_RULES)
        help_fields(to, field->items, field->item_count, indent + 6);
}

static void help_fields(FILE *to, const config_field *fields, size_t count, int indent)
{
    for (size_t i = 0; i < count; i++)
        help_field(to, &fields[i], indent);
}

void config_print_help(const config_program *program, FILE *to)
{
    (void)fprintf(to, "usage: %s [FLAGS]\n\n", program->name);
    print_wrapped(to, program->summary, 0);
    (void)fprintf(
        to,
        "\n"
        "Each setting is a flag, a variable of the environment and a key of the YAML file: "
        "a.b_c is\n"
        "--a-b-c, HOTSTACK_A_B_C, and {a: {b_c: ...}}. Flags win over the environment, that "
        "over the\n"
        "file. A secret may come from a file: a.b_file, --a-b-file, HOTSTACK_A_B_FILE.\n"
        "\n"
        "  --config FILE\n"
        "      The YAML file (HOTSTACK_CONFIG).%s%s\n"
        "  --print-config\n"
        "      Show every setting in force and where it comes from, secrets masked.\n"
        "  --print-reference\n"
        "      Show every setting as a Markdown table.\n"
        "  --version\n"
        "  --help\n"
        "\n"
        "Settings:\n",
        program->default_file != NULL ? " Read without being named: " : "",
        program->default_file != NULL ? program->default_file : "");
    help_fields(to, program->fields, program->count, 2);
}

static void reference_rows(FILE *to, const config_field *fields, size_t count, const char *prefix)
{
    for (size_t i = 0; i < count; i++) {
        const config_field *field = &fields[i];
        char allowed[256];
        config__allowed(allowed, sizeof(allowed), field);
        const char *fallback = field->fallback != NULL ? field->fallback : "";
        const char *tick = fallback[0] != '\0' ? "`" : "";
        (void)fprintf(to, "| `%s%s` | %s%s%s | %s%s%s | %s |\n", prefix, field->key, allowed,
                      (field->flags & CONFIG_SECRET) != 0 ? "; secret" : "",
                      (field->flags & CONFIG_REQUIRED) != 0 ? "; required" : "", tick, fallback,
                      tick, field->help);
        char inner[NAME_MAX_LENGTH];
        (void)snprintf(inner, sizeof(inner), "%s%s[].", prefix, field->key);
        if (field->type == CONFIG_RULES)
            reference_rows(to, field->items, field->item_count, inner);
    }
}

void config_print_reference(const config_program *program, FILE *to)
{
    (void)fprintf(to, "| key | takes | default | meaning |\n|---|---|---|---|\n");
    reference_rows(to, program->fields, program->count, "");
}

static void print_quoted(FILE *to, const char *text)
{
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            (void)fprintf(to, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            (void)fprintf(to, "\\x%02x", byte);
        else
            (void)fputc(byte, to);
    }
    (void)fputc('"', to);
}

static void print_source(FILE *to, const config__value *value)
{
    static const char *const words[] = {"default", "file", "environment", "flag"};
    if (value->line > 0)
        (void)fprintf(to, "  # line %u\n", value->line);
    else
        (void)fprintf(to, "  # %s\n", words[value->source]);
}

static void print_section(FILE *to, const config_section *section, int indent, const char *bullet);

static void print_rules(FILE *to, const config__value *value, int indent)
{
    (void)fputs(value->rule_count == 0 ? " []" : "", to);
    print_source(to, value);
    for (size_t i = 0; i < value->rule_count; i++)
        print_section(to, value->rules[i], indent + 4, "- ");
}

static void print_value(FILE *to, const config_field *field, const config__value *value, int indent)
{
    char number[32];
    switch (field->type) {
    case CONFIG_RULES:
        print_rules(to, value, indent);
        return;
    case CONFIG_LIST:
        (void)fputs(" [", to);
        for (size_t i = 0; i < value->item_count; i++) {
            (void)fputs(i > 0 ? ", " : "", to);
            print_quoted(to, value->items[i]);
        }
        (void)fputc(']', to);
        break;
    case CONFIG_STRING:
        (void)fputc(' ', to);
        print_quoted(to, value->text != NULL ? value->text : "");
        break;
    case CONFIG_BOOL:
        (void)fputs(value->number != 0 ? " true" : " false", to);
        break;
    case CONFIG_INT:
    case CONFIG_DURATION:
    case CONFIG_BYTES:
        config__format_number(number, sizeof(number), field->type, value->number);
        (void)fprintf(to, " %s", number);
        break;
    }
    print_source(to, value);
}

static void print_secret(FILE *to, const char *word, const config__value *value)
{
    if (value->secret_file != NULL) {
        (void)fprintf(to, "%s_file: ", word);
        print_quoted(to, value->secret_file);
    } else {
        bool set = value->text != NULL && value->text[0] != '\0';
        (void)fprintf(to, "# %s: %s", word, set ? "(set, not shown)" : "(not set)");
    }
    print_source(to, value);
}

/* Prints the groups of `key` that the key before it does not have. Returns the last word of key. */
static const char *print_groups(FILE *to, const char *key, const char *before, int *indent)
{
    const char *word = key;
    for (const char *dot = strchr(word, '.'); dot != NULL; dot = strchr(word, '.')) {
        size_t upto = (size_t)(dot - key) + 1;
        if (before == NULL || strncmp(before, key, upto) != 0) {
            (void)fprintf(to, "%*s%.*s:\n", *indent, "", (int)(dot - word), word);
            before = NULL;
        }
        *indent += 2;
        word = dot + 1;
    }
    return word;
}

static void print_section(FILE *to, const config_section *section, int indent, const char *bullet)
{
    const char *before = NULL;
    for (size_t i = 0; i < section->count; i++) {
        const config_field *field = &section->fields[i];
        int column = indent;
        const char *word = print_groups(to, field->key, before, &column);
        bool first = i == 0 && bullet[0] != '\0';
        (void)fprintf(to, "%*s%s", first ? column - 2 : column, "", first ? bullet : "");
        if ((field->flags & CONFIG_SECRET) != 0) {
            print_secret(to, word, &section->values[i]);
        } else {
            (void)fprintf(to, "%s:", word);
            print_value(to, field, &section->values[i], column);
        }
        before = field->key;
    }
}

void config_print(const config *settings, FILE *to)
{
    (void)fprintf(to, "# %s: the settings in force%s%s\n", settings->program->name,
                  settings->file != NULL ? "; file " : "",
                  settings->file != NULL ? settings->file : "");
    print_section(to, settings->root, 0, "");
}

static bool is_given(int argc, char *const *argv, const char *flag)
{
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], flag) == 0)
            return true;
    }
    return false;
}

/* Copies argv without --print-config, which is not a setting. */
static int load_without(config **out, const config_program *program, int argc, char *const *argv,
                        char *const *envp, config_error *err)
{
    char *kept[256];
    int count = 0;
    for (int at = 0; at < argc && count < 256; at++) {
        if (strcmp(argv[at], "--print-config") != 0)
            kept[count++] = argv[at];
    }
    return config_load(out, program, count, kept, envp, err);
}

int config_start(config **out, const config_program *program, int argc, char *const *argv,
                 char *const *envp)
{
    *out = NULL;
    if (is_given(argc, argv, "--help") || is_given(argc, argv, "-h")) {
        config_print_help(program, stdout);
        return 0;
    }
    if (is_given(argc, argv, "--version")) {
        (void)printf("%s %s\n", program->name, program->version);
        return 0;
    }
    if (is_given(argc, argv, "--print-reference")) {
        config_print_reference(program, stdout);
        return 0;
    }
    config_error err = {0};
    int rc = load_without(out, program, argc, argv, envp, &err);
    if (rc != 0) {
        log_line("%s", err.message);
        return rc == CONFIG_ERR_USAGE ? 2 : 1;
    }
    config__note_variables((*out)->root, envp);
    if (!is_given(argc, argv, "--print-config"))
        return -1;
    config_print(*out, stdout);
    config_free(*out);
    *out = NULL;
    return 0;
}
