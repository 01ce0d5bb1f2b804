/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file that is written anew, replaced, or swapped by a link above it. */
#include "../adapters/file_watch.h"
#include "collector_tests.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* inotify tells at once what this process has done. */
static bool is_told(file_watch *watch)
{
    struct pollfd on = {.fd = watch->fd, .events = POLLIN};
    return poll(&on, 1, 0) == 1 && file_watch_changed(watch);
}

START_TEST(a_changed_file_is_told_once)
{
    char path[256], other[256];
    const char *directory = make_directory();
    file_watch watch;
    (void)snprintf(path, sizeof(path), "%s/collector.yaml", directory);
    (void)snprintf(other, sizeof(other), "%s/other", directory);
    write_file(path, "rules: []\n");
    file_watch_open(&watch, path);
    ck_assert(!is_told(&watch));
    write_file(path, "rules: [] # longer\n");
    ck_assert(is_told(&watch));
    ck_assert(!is_told(&watch));
    write_file(other, "another file beside it\n");
    ck_assert(!is_told(&watch));
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert(is_told(&watch));
    file_watch_close(&watch);
    ck_assert_int_eq(unlink(path), 0);
    remove_directory();
}
END_TEST

/* A ConfigMap: file -> ..data/file, and ..data is replaced by a link to another directory. */
START_TEST(a_link_above_the_file_is_followed)
{
    char path[256], data[256], fresh[256], one[256], two[256];
    const char *directory = make_directory();
    file_watch watch;
    (void)snprintf(path, sizeof(path), "%s/collector.yaml", directory);
    (void)snprintf(data, sizeof(data), "%s/..data", directory);
    (void)snprintf(fresh, sizeof(fresh), "%s/..data_tmp", directory);
    (void)snprintf(one, sizeof(one), "%s/one", directory);
    (void)snprintf(two, sizeof(two), "%s/two", directory);
    write_file(one, "rules: []\n");
    write_file(two, "rules: []\n");
    ck_assert_int_eq(symlink("one", data), 0);
    ck_assert_int_eq(symlink("..data", path), 0);
    file_watch_open(&watch, path);
    ck_assert_int_eq(symlink("two", fresh), 0);
    ck_assert_int_eq(rename(fresh, data), 0);
    ck_assert(is_told(&watch));
    file_watch_close(&watch);
    ck_assert_int_eq(unlink(path) | unlink(data) | unlink(one) | unlink(two), 0);
    remove_directory();
}
END_TEST

START_TEST(without_a_file_nothing_is_told)
{
    file_watch watch;
    file_watch_open(&watch, NULL);
    ck_assert_int_eq(watch.fd, -1);
    ck_assert(!file_watch_changed(&watch));
    file_watch_open(&watch, "/nonexistent/collector.yaml");
    ck_assert(!file_watch_changed(&watch));
    file_watch_close(&watch);
}
END_TEST

TCase *file_watch_tests(void)
{
    TCase *tcase = tcase_create("file-watch");
    tcase_add_test(tcase, a_changed_file_is_told_once);
    tcase_add_test(tcase, a_link_above_the_file_is_followed);
    tcase_add_test(tcase, without_a_file_nothing_is_told);
    return tcase;
}
