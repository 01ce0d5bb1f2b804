/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files of settings that are rewritten, replaced, or replaced by a link above them. */
#include "config_tests.h"

#include <config/watch.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/hotstack-config-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[8][96];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *to = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(to);
    (void)fputs(text, to);
    ck_assert_int_eq(fclose(to), 0);
}

static void set_up(void)
{
    strcpy(directory, "/tmp/hotstack-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void tear_down(void)
{
    static const char *const names[] = {"c.yaml", "token", "..data", "one", "two"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(path_of(names[i]));
    ck_assert_int_eq(rmdir(directory), 0);
}

/* Loads the settings of c.yaml, which names the file `token` as a secret. */
static config *load_all(void)
{
    char text[128];
    char program[] = "sample", flag[] = "--config", path[96];
    char *argv[] = {program, flag, path, NULL};
    config *settings = NULL;
    config_error err = {0};
    (void)snprintf(text, sizeof(text), "backend: {token_file: %s}\n", path_of("token"));
    write_file("c.yaml", text);
    (void)snprintf(path, sizeof(path), "%s", path_of("c.yaml"));
    int rc = config_load(&settings, &sample_program, 3, argv, NULL, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    return settings;
}

/* Whether a change was reported; inotify reports changes by this process at once. */
static bool is_told(config_watch *watch)
{
    struct pollfd on = {.fd = config_watch_fd(watch), .events = POLLIN};
    return poll(&on, 1, 0) == 1 && config_watch_changed(watch);
}

START_TEST(a_changed_file_is_told_once)
{
    write_file("token", "first-token\n");
    config *settings = load_all();
    config_watch *watch = config_watch_open(settings, true);
    config_free(settings);
    ck_assert_ptr_nonnull(watch);
    ck_assert(!is_told(watch));
    write_file("token", "second-and-longer\n");
    ck_assert(is_told(watch));
    ck_assert(!is_told(watch));
    write_file("c.yaml", "tags: [x]\n");
    ck_assert(is_told(watch));
    write_file("one", "another file beside them\n");
    ck_assert(!is_told(watch));
    ck_assert_int_eq(rename(path_of("one"), path_of("c.yaml")), 0);
    ck_assert(is_told(watch));
    ck_assert_int_eq(unlink(path_of("token")), 0);
    ck_assert(!is_told(watch));
    config_watch_close(watch);
}
END_TEST

START_TEST(secrets_are_watched_where_they_matter)
{
    write_file("token", "first-token\n");
    config *settings = load_all();
    config_watch *watch = config_watch_open(settings, false);
    config_free(settings);
    write_file("token", "second-and-longer\n");
    ck_assert(!is_told(watch));
    config_watch_close(watch);
}
END_TEST

/* A Secret: token -> ..data, and ..data is replaced by a link to another file. */
START_TEST(a_link_above_the_file_is_followed)
{
    write_file("one", "first-token\n");
    write_file("two", "second-token\n");
    ck_assert_int_eq(symlink("one", path_of("..data")), 0);
    ck_assert_int_eq(symlink("..data", path_of("token")), 0);
    config *settings = load_all();
    config_watch *watch = config_watch_open(settings, true);
    config_free(settings);
    ck_assert_int_eq(symlink("two", path_of("..data_tmp")), 0);
    ck_assert_int_eq(rename(path_of("..data_tmp"), path_of("..data")), 0);
    ck_assert(is_told(watch));
    config_watch_close(watch);
}
END_TEST

START_TEST(without_files_nothing_is_told)
{
    config *settings = NULL;
    ck_assert_int_eq(config_load_text(&settings, &sample_program, "x", "", 0, NULL), 0);
    config_watch *watch = config_watch_open(settings, true);
    ck_assert_ptr_null(watch);
    ck_assert_int_eq(config_watch_fd(watch), -1);
    ck_assert(!config_watch_changed(watch));
    config_watch_close(watch);
    config_free(settings);
}
END_TEST

TCase *watch_tests(void)
{
    TCase *tcase = tcase_create("watch");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_changed_file_is_told_once);
    tcase_add_test(tcase, secrets_are_watched_where_they_matter);
    tcase_add_test(tcase, a_link_above_the_file_is_followed);
    tcase_add_test(tcase, without_files_nothing_is_told);
    return tcase;
}
