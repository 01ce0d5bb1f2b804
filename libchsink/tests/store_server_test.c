/* SPDX-License-Identifier: Apache-2.0 */
/* Tests functions that only a server has: codings, passwords, an end that loses nothing. */
#include <stdio.h>
#include <string.h>

#include "store_fixture.h"

/* Codings of the request and the answer, one pair per row. */
static const chs_compression coding_rows[][2] = {
    {CHS_COMPRESSION_ZSTD, CHS_COMPRESSION_ZSTD},
    {CHS_COMPRESSION_GZIP, CHS_COMPRESSION_GZIP},
    {CHS_COMPRESSION_LZ4, CHS_COMPRESSION_NONE},
    {CHS_COMPRESSION_NONE, CHS_COMPRESSION_GZIP},
};

START_TEST(every_coding_carries_blocks)
{
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_bytes bytes;
    chs_block *block = make_block(0, 20000, &bytes);
    char sql[256], table[32];

    options.url = target_url();
    options.user = TARGET_USER;
    options.password = TARGET_PASSWORD;
    options.request_compression = coding_rows[_i][0];
    options.answer_compression = coding_rows[_i][1];
    chs_transport_close(store);
    store = target_open_http(&options);
    (void)snprintf(table, sizeof table, "coded_%d", _i);
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE %s (a UInt64, s LowCardinality(String)) ENGINE = MergeTree "
                   "ORDER BY a",
                   table);
    OK(chs_exec(store, sql, NULL, &err));
    OK(insert(table, bytes, NULL));
    (void)snprintf(sql, sizeof sql, "SELECT a AS v FROM %s", table);
    ck_assert_uint_eq(ask(sql, NULL).rows, 20000);
    chs_block_free(block);
}
END_TEST

START_TEST(a_server_refuses_strangers_and_nonsense)
{
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_setting unknown = {"no_such_setting", "1"};
    chs_call call = CHS_CALL_INIT;
    chs_transport *other;

    call.settings = &unknown;
    call.setting_count = 1;
    ck_assert_int_eq(chs_ping(store, &call, &err), CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(err.server_code, 115);
    options.url = target_url();
    options.user = TARGET_USER;
    options.password = "wrong";
    other = target_open_http(&options);
    ck_assert_int_eq(chs_ping(other, NULL, &err), CHS_ERR_AUTH);
    ck_assert_int_eq(err.server_code, 516);
    ck_assert_ptr_null(strstr(err.message, "wrong"));
    chs_transport_close(other);
    options.password = TARGET_PASSWORD;
    options.database = "no such database";
    other = target_open_http(&options);
    ck_assert_int_eq(chs_ping(other, NULL, &err), CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(err.server_code, 81);
    chs_transport_close(other);
}
END_TEST

START_TEST(a_server_that_is_ended_keeps_its_data)
{
    static const char *const schema[] = {
        "CREATE TABLE lasting (a UInt64, s LowCardinality(String)) ENGINE = MergeTree ORDER BY a",
    };
    chs_bytes bytes;
    chs_block *block = make_block(0, 1000, &bytes);

    target_start_own();
    chs_transport_close(store);
    store = target_open();
    exec_all(schema, 1);
    OK(insert("lasting", bytes, NULL));
    chs_block_free(block);
    ck_assert_int_eq(target_restart_own(), 0);
    chs_transport_close(store);
    store = target_open();
    ck_assert_uint_eq(ask("SELECT count() AS n FROM lasting", NULL).number, 1000);
    ck_assert_int_eq(target_end_own(), 0);
}
END_TEST

void store_server_cases(TCase *tcase)
{
    tcase_add_loop_test(tcase, every_coding_carries_blocks, 0, ROWS(coding_rows));
    tcase_add_test(tcase, a_server_refuses_strangers_and_nonsense);
    tcase_add_test(tcase, a_server_that_is_ended_keeps_its_data);
}
