/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the YAML file: types, messages, limits; and the output of the printers. */
#include "config_tests.h"

#include <stdlib.h>
#include <string.h>

#include "run_suite.h"

static const char *const levels[] = {"debug", "info", "error", NULL};

static const config_field rule_fields[] = {
    {.key = "name", .type = CONFIG_STRING, .flags = CONFIG_REQUIRED, .help = "Name of the rule."},
    {.key = "every", .type = CONFIG_DURATION, .fallback = "60s", .min = 1000, .help = "Period."},
    {.key = "tags", .type = CONFIG_LIST, .help = "Words."},
};

static const config_field fields[] = {
    {.key = "backend.url", .type = CONFIG_STRING, .fallback = "http://localhost", .help = "Where."},
    {.key = "backend.token", .type = CONFIG_STRING, .flags = CONFIG_SECRET, .help = "Who."},
    {.key = "backend.timeout",
     .type = CONFIG_DURATION,
     .fallback = "10s",
     .min = 1000,
     .max = 600000,
     .help = "How long."},
    {.key = "queue.size", .type = CONFIG_BYTES, .fallback = "64m", .min = 1024, .help = "Room."},
    {.key = "limits.targets",
     .type = CONFIG_INT,
     .fallback = "100",
     .min = 1,
     .max = 1000,
     .help = "JVMs."},
    {.key = "enabled", .type = CONFIG_BOOL, .fallback = "true", .help = "On."},
    {.key = "log_level",
     .type = CONFIG_STRING,
     .fallback = "info",
     .choices = levels,
     .help = "Words."},
    {.key = "tags", .type = CONFIG_LIST, .fallback = "a,b", .help = "Words."},
    {.key = "rules", .type = CONFIG_RULES, .items = rule_fields, .item_count = 3, .help = "Rules."},
};

const config_program sample_program = {
    .name = "sample",
    .version = "1.2.3",
    .summary = "A program for tests.",
    .fields = fields,
    .count = sizeof(fields) / sizeof(fields[0]),
};

static config *load(const char *text)
{
    config *settings = NULL;
    config_error err = {0};
    int rc = config_load_text(&settings, &sample_program, "x.yaml", text, strlen(text), &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    return settings;
}

/* A reload asks which setting has changed, apart from those that it can apply. */
START_TEST(a_difference_is_named)
{
    static const struct {
        const char *text;
        const char *key; /* NULL = none */
    } others[] = {
        {"enabled: true\ntags: [a, b]\nrules: [{name: x}]\n", NULL},
        {"enabled: false\n", "enabled"},
        {"backend: {token: other}\n", NULL},
        {"queue: {size: 1m}\n", "queue.size"},
        {"tags: [a, c]\n", "tags"},
        {"tags: [a]\n", "tags"},
        {"log_level: debug\nrules: []\n", "log_level"},
    };
    config *usual = load("rules: [{name: x, tags: [a]}]\n");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        config *other = load(others[i].text);
        const char *key = config_difference(usual, other, "rules");
        ck_assert_str_eq(key == NULL ? "" : key, others[i].key == NULL ? "" : others[i].key);
        ck_assert_str_eq(config_difference(other, usual, NULL),
                         others[i].key == NULL ? "rules" : others[i].key);
        config_free(other);
    }
    config_free(usual);
}
END_TEST

START_TEST(an_empty_file_leaves_every_default)
{
    config *settings = load("");
    const config_section *values = config_values(settings);
    ck_assert_str_eq(config_string(values, "backend.url"), "http://localhost");
    ck_assert_int_eq(config_duration_ms(values, "backend.timeout"), 10000);
    ck_assert_uint_eq(config_bytes(values, "queue.size"), 64u * 1024 * 1024);
    ck_assert_int_eq(config_int(values, "limits.targets"), 100);
    ck_assert(config_bool(values, "enabled"));
    ck_assert_uint_eq(config_list_count(values, "tags"), 2);
    ck_assert_uint_eq(config_rule_count(values, "rules"), 0);
    ck_assert_str_eq(config_string(values, "backend.token"), "");
    ck_assert(!config_is_set(values, "enabled"));
    config_free(settings);
}
END_TEST

START_TEST(each_type_is_read_from_yaml)
{
    config *settings = load("backend: {url: 'https://b:1', token: s3cret, timeout: 2m}\n"
                            "queue:\n  size: 3k\n"
                            "limits.targets: 7\n"
                            "enabled: false\n"
                            "log_level: debug\n"
                            "tags: [x, 'y z']\n"
                            "rules:\n"
                            "  - name: one\n"
                            "    every: 1500ms\n"
                            "  - {name: two, tags: [p]}\n");
    const config_section *values = config_values(settings);
    ck_assert_str_eq(config_string(values, "backend.url"), "https://b:1");
    ck_assert_str_eq(config_string(values, "backend.token"), "s3cret");
    ck_assert_int_eq(config_duration_ms(values, "backend.timeout"), 120000);
    ck_assert_uint_eq(config_bytes(values, "queue.size"), 3072);
    ck_assert_int_eq(config_int(values, "limits.targets"), 7);
    ck_assert(!config_bool(values, "enabled"));
    ck_assert_str_eq(config_list_item(values, "tags", 1), "y z");
    ck_assert_uint_eq(config_rule_count(values, "rules"), 2);
    const config_section *second = config_rule(values, "rules", 1);
    ck_assert_str_eq(config_string(second, "name"), "two");
    ck_assert_int_eq(config_duration_ms(second, "every"), 60000);
    ck_assert_int_eq(config_duration_ms(config_rule(values, "rules", 0), "every"), 1500);
    ck_assert_uint_eq(config_line(values, "enabled"), 5);
    config_free(settings);
}
END_TEST

/* A mistake, the line that the message must name, and words that it must contain. */
static const struct mistake {
    const char *text;
    unsigned line;
    const char *words[3];
} mistakes[] = {
    {"enabled: true\nbackend:\n  timeuot: 3s\n",
     3,
     {"x.yaml:3:", "\"backend.timeuot\"", "did you mean \"backend.timeout\""}},
    {"backend:\n  timeout: 10 parsecs\n",
     2,
     {"x.yaml:2: backend.timeout: \"10 parsecs\"", "between 1s and 10m", "default is 10s"}},
    {"backend:\n  timeout: 11m\n", 2, {"backend.timeout", "between 1s and 10m"}},
    {"queue: {size: 1q}\n", 1, {"queue.size", "units k, m, g"}},
    {"queue: {size: 9999999999g}\n", 1, {"queue.size"}},
    {"limits: {targets: many}\n", 1, {"limits.targets", "a whole number between 1 and 1000"}},
    {"enabled: yes\n", 1, {"enabled: \"yes\"", "true or false"}},
    {"log_level: loud\n", 1, {"one of debug, info, error"}},
    {"\nfrobnicate: 1\n", 2, {"\"frobnicate\"", "allowed: backend.url"}},
    {"quue: {size: 1m}\n", 1, {"\"quue\"", "did you mean \"queue\"?"}},
    {"backend: 7\n", 1, {"backend is a group"}},
    {"backend:\n  url: [a]\n", 2, {"backend.url takes text, not a list"}},
    {"rules:\n  - every: 2s\n", 2, {"name is required"}},
    {"rules:\n  - nam: x\n", 2, {"did you mean \"name\""}},
    {"rules: 5\n", 1, {"in the file only"}},
    {"enabled: true\nenabled: false\n", 2, {"set twice", "line 1"}},
    {"backend: &x {timeout: 3s}\nqueue: *x\n", 1, {"anchors and aliases"}},
    {"enabled: true\n---\nenabled: false\n", 2, {"second YAML document"}},
    {"enabled: true\ntags: [}\n", 2, {"not valid YAML"}},
    {"- a\n", 1, {"a mapping of keys and values"}},
    {"backend: {token: \"a\\0b\"}\n", 1, {"NUL"}},
};

START_TEST(a_mistake_is_named_with_line_key_and_what_is_allowed)
{
    const struct mistake *one = &mistakes[_i];
    config *settings = NULL;
    config_error err = {0};
    int rc =
        config_load_text(&settings, &sample_program, "x.yaml", one->text, strlen(one->text), &err);
    ck_assert_int_eq(rc, CONFIG_ERR_USAGE);
    ck_assert_ptr_null(settings);
    ck_assert_msg(err.line == one->line, "line %u: %s", err.line, err.message);
    for (size_t i = 0; i < 3 && one->words[i] != NULL; i++)
        ck_assert_msg(strstr(err.message, one->words[i]) != NULL, "\"%s\" lacks \"%s\"",
                      err.message, one->words[i]);
}
END_TEST

START_TEST(a_secret_does_not_stand_in_a_message)
{
    static const char text[] = "backend: {token: {deep: hunter2}}\n";
    config *settings = NULL;
    config_error err = {0};
    ck_assert_int_eq(config_load_text(&settings, &sample_program, "x", text, strlen(text), &err),
                     CONFIG_ERR_USAGE);
    ck_assert_ptr_null(strstr(err.message, "hunter2"));
}
END_TEST

START_TEST(too_many_entries_end_with_an_error)
{
    size_t room = 200000;
    char *text = malloc(room);
    size_t used = (size_t)snprintf(text, room, "tags: [");
    while (used + 3 < room)
        used += (size_t)snprintf(text + used, room - used, "a,");
    config *settings = NULL;
    config_error err = {0};
    ck_assert_int_eq(config_load_text(&settings, &sample_program, "x", text, used, &err),
                     CONFIG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "20000"));
    free(text);
}
END_TEST

static char *printed(void (*print)(FILE *, const void *), const void *what)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    print(to, what);
    (void)fclose(to);
    return text;
}

static void print_settings(FILE *to, const void *settings)
{
    config_print(settings, to);
}

static void print_help(FILE *to, const void *program)
{
    config_print_help(program, to);
}

static void print_reference(FILE *to, const void *program)
{
    config_print_reference(program, to);
}

START_TEST(printed_settings_are_read_back_and_hide_secrets)
{
    config *first = load("backend: {url: \"a\\\"b\\n\", token: hunter2, timeout: 90s}\n"
                         "rules: [{name: r1, every: 2s, tags: [a]}, {name: r2}]\ntags: []\n");
    char *text = printed(print_settings, first);
    ck_assert_ptr_null(strstr(text, "hunter2"));
    ck_assert_ptr_nonnull(strstr(text, "timeout: 90s  # line 1"));
    config *second = load(text);
    const config_section *values = config_values(second);
    ck_assert_str_eq(config_string(values, "backend.url"), "a\"b\n");
    ck_assert_int_eq(config_duration_ms(values, "backend.timeout"), 90000);
    ck_assert_uint_eq(config_list_count(values, "tags"), 0);
    ck_assert_uint_eq(config_rule_count(values, "rules"), 2);
    ck_assert_str_eq(config_list_item(config_rule(values, "rules", 0), "tags", 0), "a");
    config_free(second);
    config_free(first);
    free(text);
}
END_TEST

START_TEST(help_and_reference_hold_every_key)
{
    char *help = printed(print_help, &sample_program);
    char *reference = printed(print_reference, &sample_program);
    ck_assert_ptr_nonnull(strstr(help, "--backend-timeout DURATION"));
    ck_assert_ptr_nonnull(strstr(help, "--backend-token-file FILE"));
    ck_assert_ptr_null(strstr(help, "--backend-token "));
    for (size_t i = 0; i < sample_program.count; i++) {
        char row[128];
        (void)snprintf(row, sizeof(row), "\n| `%s` |", sample_program.fields[i].key);
        ck_assert_ptr_nonnull(strstr(reference, row));
    }
    ck_assert_ptr_nonnull(strstr(reference, "| `rules[].every` |"));
    free(help);
    free(reference);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *file = tcase_create("file");
    tcase_add_test(file, a_difference_is_named);
    tcase_add_test(file, an_empty_file_leaves_every_default);
    tcase_add_test(file, each_type_is_read_from_yaml);
    tcase_add_loop_test(file, a_mistake_is_named_with_line_key_and_what_is_allowed, 0,
                        (int)(sizeof(mistakes) / sizeof(mistakes[0])));
    tcase_add_test(file, a_secret_does_not_stand_in_a_message);
    tcase_add_test(file, too_many_entries_end_with_an_error);
    tcase_add_test(file, printed_settings_are_read_back_and_hide_secrets);
    tcase_add_test(file, help_and_reference_hold_every_key);
    suite_add_tcase(suite, file);
    suite_add_tcase(suite, sources_tests());
    suite_add_tcase(suite, watch_tests());
    return run_suite(suite);
}
