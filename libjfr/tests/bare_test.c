/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the library as it is built with -Dlibjfr_zlib=disabled -Dlibjfr_mmap=disabled. */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t packed[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};

START_TEST(gzip_is_refused_by_name)
{
    ck_assert_int_eq(jfr_open_mem(&file, packed, sizeof(packed), NULL, &err), JFR_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "no zlib"));
    ck_assert_ptr_null(file);
}
END_TEST

START_TEST(files_are_read)
{
    char path[] = "/tmp/jfr-bare-test-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(jfr_open_file(&file, path, NULL, &err), JFR_ERR_FORMAT); /* empty */
    write_simple_chunk();
    ck_assert_int_eq(write(fd, w.data, w.len), (ssize_t)w.len);
    close(fd);
    ck_assert_int_eq(jfr_open_file(&file, path, NULL, &err), 0);
    unlink(path);
    next_chunk();
    (void)next_sample();
    expect_no_sample();
    expect_end();
}
END_TEST

START_TEST(names_files_that_cannot_be_read)
{
    ck_assert_int_eq(jfr_open_file(&file, "/nonexistent/x.jfr", NULL, &err), JFR_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/x.jfr"));
    ck_assert_int_eq(jfr_open_file(&file, "/", NULL, &err), JFR_ERR_IO);
    ck_assert_ptr_null(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bare");
    TCase *t = tcase_create("bare");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, gzip_is_refused_by_name);
    tcase_add_test(t, files_are_read);
    tcase_add_test(t, names_files_that_cannot_be_read);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
