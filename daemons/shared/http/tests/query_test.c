/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>

#include <http/query.h>

#include "run_suite.h"

START_TEST(test_values)
{
    http_query query;

    ck_assert_int_eq(http_query_parse(&query, "a=1&b=two%20words&c&d=%C3%A4+&&e=x=y", NULL), 0);
    ck_assert_uint_eq(query.count, 5);
    ck_assert_str_eq(http_query_get(&query, "a"), "1");
    ck_assert_str_eq(http_query_get(&query, "b"), "two words");
    ck_assert_str_eq(http_query_get(&query, "c"), "");
    ck_assert_str_eq(http_query_get(&query, "d"), "\xc3\xa4+");
    ck_assert_str_eq(http_query_get(&query, "e"), "x=y");
    ck_assert_ptr_null(http_query_get(&query, "f"));
    static const char *const allowed[] = {"a", "b", "c", "e", NULL};
    ck_assert_str_eq(http_query_unknown(&query, allowed), "d");
    http_query_clear(&query);
}
END_TEST

static const char *const bad[] = {"a=%4",    "a=%",   "a=%zz",    "a=%00",
                                  "a=%0a",   "a=%ff", "a=%C0%80", "a=%ED%A0%80",
                                  "a=1&a=2", "=1",    "%00=1",    "a=%F5%80%80%80"};

START_TEST(test_bad)
{
    http_query query;
    http_error err = {0};

    ck_assert_int_eq(http_query_parse(&query, bad[_i], &err), HTTP_ERR_FORMAT);
    ck_assert_uint_gt(strlen(err.message), 10);
    http_query_clear(&query);
}
END_TEST

START_TEST(test_too_many)
{
    char text[256] = "";
    http_query query;

    for (int i = 0; i <= HTTP_QUERY_MAX; i++) {
        char pair[8] = {(char)('a' + i % 26), (char)('a' + i / 26), '&', 0};
        strcat(text, pair);
    }
    ck_assert_int_eq(http_query_parse(&query, text, NULL), HTTP_ERR_LIMIT);
    http_query_clear(&query);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http-query");
    TCase *tcase = tcase_create("query");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, test_values);
    tcase_add_loop_test(tcase, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
    tcase_add_test(tcase, test_too_many);
    return run_suite(suite);
}
