/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that flags override the environment, that the file, and that the defaults; and secrets from
 * files. */
#include "config_tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/hotstack-config-XXXXXX";
static char file_path[64];
static char secret_path[64];

static void write_file(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    (void)fputs(text, to);
    ck_assert_int_eq(fclose(to), 0);
}

static void set_up(void)
{
    strcpy(directory, "/tmp/hotstack-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(file_path, sizeof(file_path), "%s/c.yaml", directory);
    (void)snprintf(secret_path, sizeof(secret_path), "%s/token", directory);
}

static void tear_down(void)
{
    unlink(file_path);
    unlink(secret_path);
    rmdir(directory);
}

static int count_of(char *const *argv)
{
    int count = 0;
    while (argv[count] != NULL)
        count++;
    return count;
}

static config *load(char *const *argv, char *const *envp)
{
    config *settings = NULL;
    config_error err = {0};
    int rc = config_load(&settings, &sample_program, count_of(argv), argv, envp, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    return settings;
}

static void refused(char *const *argv, char *const *envp, const char *words)
{
    config *settings = NULL;
    config_error err = {0};
    ck_assert_int_ne(config_load(&settings, &sample_program, count_of(argv), argv, envp, &err), 0);
    ck_assert_ptr_null(settings);
    ck_assert_msg(strstr(err.message, words) != NULL, "\"%s\" lacks \"%s\"", err.message, words);
}

static char program_word[] = "sample";

START_TEST(flags_win_over_environment_over_file)
{
    write_file(file_path, "backend: {url: file, timeout: 11s}\nlog_level: error\n");
    char config_flag[] = "--config";
    char timeout[] = "--backend-timeout=13s";
    char variable_url[] = "HOTSTACK_BACKEND_URL=environment";
    char variable_timeout[] = "HOTSTACK_BACKEND_TIMEOUT=12s";
    char *argv[] = {program_word, config_flag, file_path, timeout, NULL};
    char *envp[] = {variable_url, variable_timeout, NULL};
    config *settings = load(argv, envp);
    const config_section *values = config_values(settings);
    ck_assert_str_eq(config_string(values, "backend.url"), "environment");
    ck_assert_int_eq(config_duration_ms(values, "backend.timeout"), 13000);
    ck_assert_str_eq(config_string(values, "log_level"), "error");
    ck_assert_str_eq(config_file(settings), file_path);
    config_free(settings);
}
END_TEST

START_TEST(bool_flags_need_no_value_and_lists_split_at_commas)
{
    char enabled[] = "--enabled";
    char tags[] = "--tags";
    char words[] = "p,q,r";
    char *argv[] = {program_word, enabled, tags, words, NULL};
    config *settings = load(argv, NULL);
    ck_assert(config_bool(config_values(settings), "enabled"));
    ck_assert_uint_eq(config_list_count(config_values(settings), "tags"), 3);
    config_free(settings);
}
END_TEST

START_TEST(a_secret_comes_from_a_file_and_the_file_is_remembered)
{
    write_file(secret_path, "hunter2\n");
    char variable[128];
    (void)snprintf(variable, sizeof(variable), "HOTSTACK_BACKEND_TOKEN_FILE=%s", secret_path);
    char *argv[] = {program_word, NULL};
    char *envp[] = {variable, NULL};
    config *settings = load(argv, envp);
    ck_assert_str_eq(config_string(config_values(settings), "backend.token"), "hunter2");
    ck_assert_str_eq(config_secret_file(config_values(settings), "backend.token"), secret_path);
    config_free(settings);

    char yaml[160];
    (void)snprintf(yaml, sizeof(yaml), "backend: {token_file: %s}\n", secret_path);
    write_file(file_path, yaml);
    char config_flag[160];
    (void)snprintf(config_flag, sizeof(config_flag), "--config=%s", file_path);
    char *with_file[] = {program_word, config_flag, NULL};
    settings = load(with_file, NULL);
    ck_assert_str_eq(config_string(config_values(settings), "backend.token"), "hunter2");
    config_free(settings);
}
END_TEST

START_TEST(a_mistyped_variable_is_noted)
{
    char *argv[] = {program_word, NULL};
    char variable[] = "HOTSTACK_BACKEND_TIMEUOT=3s";
    char *envp[] = {variable, NULL};
    char text[512] = "";
    config *settings = NULL;
    FILE *noted = tmpfile();
    int saved = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(noted), STDERR_FILENO), 0);
    int rc = config_start(&settings, &sample_program, 1, argv, envp);
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    close(saved);
    rewind(noted);
    ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, noted), 0);
    (void)fclose(noted);
    ck_assert_int_eq(rc, -1);
    ck_assert_ptr_nonnull(strstr(text, "did you mean HOTSTACK_BACKEND_TIMEOUT?"));
    config_free(settings);
}
END_TEST

START_TEST(mistakes_in_flags_and_environment_are_named)
{
    char secret_flag[] = "--backend-token=hunter2";
    char *secret[] = {program_word, secret_flag, NULL};
    refused(secret, NULL, "--backend-token-file");
    char typo_flag[] = "--backend-timeuot=3s";
    char *typo[] = {program_word, typo_flag, NULL};
    refused(typo, NULL, "did you mean --backend-timeout?");
    char operand_word[] = "start";
    char *operand[] = {program_word, operand_word, NULL};
    refused(operand, NULL, "\"start\" is not understood");
    char bare_flag[] = "--backend-url";
    char *bare[] = {program_word, bare_flag, NULL};
    refused(bare, NULL, "a value must follow");
    char missing_flag[] = "--config=/nonexistent/c.yaml";
    char *missing[] = {program_word, missing_flag, NULL};
    refused(missing, NULL, "cannot open /nonexistent/c.yaml");
    char variable[] = "HOTSTACK_BACKEND_TIMEOUT=soon";
    char *envp[] = {variable, NULL};
    char *none[] = {program_word, NULL};
    refused(none, envp, "HOTSTACK_BACKEND_TIMEOUT: backend.timeout: \"soon\"");
    char secret_variable[] = "HOTSTACK_BACKEND_TOKEN_FILE=/nonexistent/token";
    char *secret_envp[] = {secret_variable, NULL};
    refused(none, secret_envp, "/nonexistent/token");
}
END_TEST

START_TEST(a_secret_file_must_hold_one_line)
{
    char *secret = NULL;
    write_file(secret_path, "\n");
    ck_assert_int_eq(config_read_secret(&secret, secret_path, NULL), CONFIG_ERR_USAGE);
    write_file(secret_path, "a\nb\n");
    ck_assert_int_eq(config_read_secret(&secret, secret_path, NULL), CONFIG_ERR_USAGE);
    ck_assert_ptr_null(secret);
    write_file(secret_path, "a\r\n");
    ck_assert_int_eq(config_read_secret(&secret, secret_path, NULL), 0);
    ck_assert_str_eq(secret, "a");
    free(secret);
}
END_TEST

TCase *sources_tests(void)
{
    TCase *tests = tcase_create("sources");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, flags_win_over_environment_over_file);
    tcase_add_test(tests, bool_flags_need_no_value_and_lists_split_at_commas);
    tcase_add_test(tests, a_secret_comes_from_a_file_and_the_file_is_remembered);
    tcase_add_test(tests, mistakes_in_flags_and_environment_are_named);
    tcase_add_test(tests, a_mistyped_variable_is_noted);
    tcase_add_test(tests, a_secret_file_must_hold_one_line);
    return tests;
}
