/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the SQL text that the library itself writes, and the port's checks before every transport.
 */
#include <string.h>

#include <chsink/chsink.h>

#include "run_suite.h"
#include "settings_impl.h"
#include "sql_impl.h"

static chs_error err;
static chs__buffer out;

static void teardown(void)
{
    chs__buffer_free(&out);
}

static void expect(const char *text)
{
    ck_assert_uint_eq(out.length, strlen(text));
    ck_assert_mem_eq(out.data, text, out.length);
    out.length = 0;
}

START_TEST(quotes_every_name)
{
    static const char *const columns[] = {"a", "b`) VALUES (1); --"};
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;

    request.table = "t\\`x";
    request.columns = columns;
    request.column_count = 2;
    ck_assert_int_eq(chs__insert_sql(&out, &request, "db", &err), 0);
    expect("INSERT INTO `db`.`t\\\\\\`x` (`a`, `b\\`) VALUES (1); --`)");
    request.database = "other";
    request.column_count = 1;
    ck_assert_int_eq(chs__insert_sql(&out, &request, "db", &err), 0);
    expect("INSERT INTO `other`.`t\\\\\\`x` (`a`)");
}
END_TEST

START_TEST(escapes_values)
{
    static const chs_bytes items[] = {{"a'b", 3}, {"\0\n", 2}};
    static const chs_bytes numbers[] = {{"1", 1}, {"-2.5e3", 6}};
    chs_param scalar = {"p", CHS_PARAM_SCALAR, "tab\there\\", NULL, 0};
    chs_param list = {"p", CHS_PARAM_STRINGS, NULL, items, 2};
    chs_param digits = {"p", CHS_PARAM_NUMBERS, NULL, numbers, 2};

    ck_assert_int_eq(chs__param_text(&out, &scalar, &err), 0);
    expect("tab\\x09here\\\\");
    ck_assert_int_eq(chs__param_text(&out, &list, &err), 0);
    expect("['a\\'b','\\x00\\x0A']");
    ck_assert_int_eq(chs__param_text(&out, &digits, &err), 0);
    expect("[1,-2.5e3]");
}
END_TEST

START_TEST(refuses_bad_parameters)
{
    static const chs_bytes numbers[] = {{"1); DROP", 8}};
    static const chs_bytes nothing[] = {{"", 0}};
    const chs_param bad[] = {
        {"1x", CHS_PARAM_SCALAR, "v", NULL, 0},     {"a-b", CHS_PARAM_SCALAR, "v", NULL, 0},
        {NULL, CHS_PARAM_SCALAR, "v", NULL, 0},     {"x", CHS_PARAM_SCALAR, NULL, NULL, 0},
        {"x", CHS_PARAM_NUMBERS, NULL, numbers, 1}, {"x", CHS_PARAM_NUMBERS, NULL, nothing, 1},
        {"x", CHS_PARAM_STRINGS, NULL, NULL, 2},    {"x", (chs_param_kind)9, "v", NULL, 0},
    };
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(chs__check_params(&bad[i], 1, &err), CHS_ERR_USAGE);
}
END_TEST

START_TEST(refuses_bad_settings)
{
    static const chs_setting bad[] = {{"max threads", "1"}, {"", "1"},    {NULL, "1"},
                                      {"x", NULL},          {"x", "1\n"}, {"--path", "/"}};
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(chs__check_settings(&bad[i], 1, &err), CHS_ERR_USAGE);
}
END_TEST

START_TEST(later_settings_win)
{
    static const chs_setting first[] = {{"a", "1"}, {"b", "2"}};
    static const chs_setting second[] = {{"a", "3"}};
    static const chs_setting twice[] = {{"a", "1"}, {"a", "2"}};
    chs__settings settings = {0}, owned;

    ck_assert_int_eq(chs__settings_add(&settings, first, 2, &err), 0);
    ck_assert_int_eq(chs__settings_add(&settings, second, 1, &err), 0);
    ck_assert_uint_eq(settings.count, 2);
    ck_assert_str_eq(chs__settings_get(&settings, "a"), "3");
    ck_assert_ptr_null(chs__settings_get(&settings, "c"));
    chs__settings_free(&settings);
    ck_assert_int_eq(chs__settings_own(&owned, twice, 2, &err), CHS_ERR_USAGE);
    ck_assert_int_eq(chs__settings_own(&owned, first, 2, &err), 0);
    ck_assert_ptr_ne(owned.list[0].name, first[0].name);
    chs__settings_disown(&owned);
}
END_TEST

/* A transport of the test that counts its calls. */
typedef struct fake {
    int calls;
    int closed;
} fake;

static int fake_ping(void *self, const chs_call *call, chs_error *fail)
{
    (void)call;
    (void)fail;
    return ((fake *)self)->calls++, 0;
}

static int fake_exec(void *self, const char *sql, const chs_call *call, chs_error *fail)
{
    (void)sql;
    return fake_ping(self, call, fail);
}

static int fake_insert(void *self, const chs_insert_request *request, const chs_call *call,
                       chs_error *fail)
{
    ck_assert_str_eq(request->table, "t");
    return fake_ping(self, call, fail);
}

static int fake_query(void *self, const char *sql, const chs_call *call, chs_block_fn on_block,
                      void *context, chs_error *fail)
{
    (void)sql;
    (void)on_block;
    (void)context;
    return fake_ping(self, call, fail);
}

static void fake_cancel(void *self)
{
    ((fake *)self)->calls++;
}

static void fake_close(void *self)
{
    ((fake *)self)->closed++;
}

static const chs_transport_ops fake_ops = {
    sizeof fake_ops, fake_ping, fake_exec, fake_insert, fake_query, fake_cancel, fake_close,
};

START_TEST(wraps_a_callers_functions)
{
    static const char *const columns[] = {"a"};
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    chs_transport_ops partial = fake_ops;
    chs_transport *transport;
    fake self = {0, 0};

    partial.cancel = NULL;
    ck_assert_int_eq(chs_transport_new(&transport, &partial, &self, &err), CHS_ERR_USAGE);
    ck_assert_int_eq(chs_transport_new(&transport, &fake_ops, &self, &err), 0);
    ck_assert_int_eq(chs_ping(transport, NULL, &err), 0);
    ck_assert_int_eq(chs_exec(transport, "x", NULL, &err), 0);
    ck_assert_int_eq(chs_query(transport, "x", NULL, NULL, NULL, &err), 0);
    chs_cancel(transport);
    ck_assert_int_eq(self.calls, 4);
    request.table = "t";
    request.columns = columns;
    request.column_count = 1;
    ck_assert_int_eq(chs_insert(transport, &request, NULL, &err), CHS_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "needs an encoded block"));
    request.block.data = "x";
    request.block.length = 1;
    request.token = "";
    ck_assert_int_eq(chs_insert(transport, &request, NULL, &err), CHS_ERR_USAGE);
    request.token = "t";
    ck_assert_int_eq(self.calls, 4);
    ck_assert_int_eq(chs_insert(transport, &request, NULL, &err), 0);
    ck_assert_int_eq(self.calls, 5);
    chs_transport_close(transport);
    ck_assert_int_eq(self.closed, 1);
    chs_transport_close(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-sql");
    TCase *tcase = tcase_create("sql");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, quotes_every_name);
    tcase_add_test(tcase, escapes_values);
    tcase_add_test(tcase, refuses_bad_parameters);
    tcase_add_test(tcase, refuses_bad_settings);
    tcase_add_test(tcase, later_settings_win);
    tcase_add_test(tcase, wraps_a_callers_functions);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
