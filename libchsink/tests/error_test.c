/* SPDX-License-Identifier: Apache-2.0 */
/* Tests errors: their class, whether to try again, and their message. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <chsink/chsink.h>

#include "chsink_impl.h"
#include "run_suite.h"

static const struct code_row {
    int server_code;
    int code;
    chs_retry retry;
} code_rows[] = {
    {516, CHS_ERR_AUTH, CHS_RETRY_NEVER},
    {497, CHS_ERR_AUTH, CHS_RETRY_NEVER},
    {159, CHS_ERR_TIMEOUT, CHS_RETRY_SAME_TOKEN},
    {394, CHS_ERR_CANCELLED, CHS_RETRY_SAME_TOKEN},
    {202, CHS_ERR_SERVER_RETRY, CHS_RETRY_FREELY},
    {241, CHS_ERR_SERVER_RETRY, CHS_RETRY_SAME_TOKEN},
    {252, CHS_ERR_SERVER_RETRY, CHS_RETRY_SAME_TOKEN},
    {60, CHS_ERR_SERVER_FINAL, CHS_RETRY_NEVER},
    {62, CHS_ERR_SERVER_FINAL, CHS_RETRY_NEVER},
    {99999, CHS_ERR_SERVER_FINAL, CHS_RETRY_NEVER},
};

START_TEST(classifies_server_codes)
{
    const struct code_row *row = &code_rows[_i];
    chs_error err = {0};

    ck_assert_int_eq(chs_server_code_class(row->server_code), row->code);
    err.code = row->code;
    err.server_code = row->server_code;
    ck_assert_int_eq(chs_error_retry(&err), row->retry);
}
END_TEST

START_TEST(own_errors_are_not_retried_blindly)
{
    chs_error err = {0};

    ck_assert_int_eq(chs_error_retry(NULL), CHS_RETRY_NEVER);
    err.code = CHS_ERR_FORMAT;
    ck_assert_int_eq(chs_error_retry(&err), CHS_RETRY_NEVER);
    err.code = CHS_ERR_NETWORK;
    ck_assert_int_eq(chs_error_retry(&err), CHS_RETRY_SAME_TOKEN);
}
END_TEST

START_TEST(reads_the_exception_text)
{
    static const char text[] = "junk\nCode: 60. DB::Exception: Table a.b does not exist.\n";
    chs_error err;

    ck_assert_int_eq(chs__fail_server(&err, CHS_ERR_NETWORK, text, sizeof text - 1),
                     CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(err.server_code, 60);
    ck_assert_str_eq(err.message, "Code: 60. DB::Exception: Table a.b does not exist.");
    ck_assert_int_eq(chs__fail_server(&err, CHS_ERR_NETWORK, "502 Bad Gateway", 15),
                     CHS_ERR_NETWORK);
    ck_assert_int_eq(err.server_code, 0);
    ck_assert_str_eq(err.message, "502 Bad Gateway");
    ck_assert_int_eq(chs__fail_server(&err, CHS_ERR_NETWORK, "Code: 99999999999999.", 21),
                     CHS_ERR_NETWORK);
    ck_assert_int_eq(chs__fail_server(NULL, CHS_ERR_NETWORK, "", 0), CHS_ERR_NETWORK);
}
END_TEST

START_TEST(cuts_a_long_exception)
{
    char text[2000];
    chs_error err;

    (void)snprintf(text, sizeof text, "Code: 62. %01985d", 0);
    ck_assert_int_eq(chs__fail_server(&err, CHS_ERR_NETWORK, text, sizeof text),
                     CHS_ERR_SERVER_FINAL);
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
}
END_TEST

START_TEST(names_every_code)
{
    ck_assert_str_eq(chs_code_name(0), "ok");
    ck_assert_str_eq(chs_code_name(CHS_ERR_TIMEOUT), "timeout");
    ck_assert_str_eq(chs_code_name(CHS_ERR_CANCELLED), "cancelled");
    ck_assert_str_eq(chs_code_name(1), "unknown");
    ck_assert_str_eq(chs_code_name(-99), "unknown");
}
END_TEST

START_TEST(options_of_other_versions)
{
    struct {
        chs_block_options known;
        uint64_t later;
    } newer = {CHS_BLOCK_OPTIONS_INIT, 0};
    chs_block_options older = CHS_BLOCK_OPTIONS_INIT;
    chs_block *block;
    chs_error err;

    newer.known.size = sizeof newer;
    ck_assert_int_eq(chs_block_new(&block, &newer.known, &err), 0);
    chs_block_free(block);
    newer.later = 1;
    ck_assert_int_eq(chs_block_new(&block, &newer.known, &err), CHS_ERR_USAGE);
    ck_assert_ptr_null(block);
    ck_assert_ptr_nonnull(strstr(err.message, "chs_block_options"));
    older.size = sizeof(size_t) + sizeof(uint64_t);
    ck_assert_int_eq(chs_block_new(&block, &older, &err), 0);
    chs_block_free(block);
    older.size = 0;
    ck_assert_int_eq(chs_block_new(&block, &older, &err), CHS_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-error");
    TCase *tcase = tcase_create("error");

    tcase_add_loop_test(tcase, classifies_server_codes, 0, ROWS(code_rows));
    tcase_add_test(tcase, own_errors_are_not_retried_blindly);
    tcase_add_test(tcase, reads_the_exception_text);
    tcase_add_test(tcase, cuts_a_long_exception);
    tcase_add_test(tcase, names_every_code);
    tcase_add_test(tcase, options_of_other_versions);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
