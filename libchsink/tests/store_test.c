/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the promises of both transports with real ClickHouse: every type inserted and read back,
 * nothing lost and nothing doubled, parameters that stay values, errors by class. Arguments:
 * "embedded", or "http" and the path of chdb-http.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "store_fixture.h"

START_TEST(answers_a_ping)
{
    OK(chs_ping(store, NULL, &err));
}
END_TEST

START_TEST(the_same_token_is_stored_once)
{
    static const char *const schema[] = {
        "CREATE TABLE dedup (a UInt64, s LowCardinality(String)) ENGINE = MergeTree ORDER BY a "
        "SETTINGS non_replicated_deduplication_window = 100",
        "CREATE TABLE dedup_sums (k UInt64, n UInt64) ENGINE = SummingMergeTree ORDER BY k "
        "SETTINGS non_replicated_deduplication_window = 100",
        "CREATE MATERIALIZED VIEW dedup_view TO dedup_sums AS "
        "SELECT a % 10 AS k, count() AS n FROM dedup GROUP BY k",
    };
    chs_bytes bytes, other_bytes;
    chs_block *block, *other;

    exec_all(schema, sizeof schema / sizeof *schema);
    block = make_block(0, 1000, &bytes);
    other = make_block(5000, 500, &other_bytes);
    OK(insert("dedup", bytes, "batch-1/dedup"));
    OK(insert("dedup", bytes, "batch-1/dedup"));
    ck_assert_uint_eq(ask("SELECT count() AS n FROM dedup", NULL).number, 1000);
    ck_assert_uint_eq(ask("SELECT sum(n) AS n FROM dedup_sums", NULL).number, 1000);
    /* The token decides, not the bytes: other data with the same token are dropped ... */
    OK(insert("dedup", other_bytes, "batch-1/dedup"));
    ck_assert_uint_eq(ask("SELECT count() AS n FROM dedup", NULL).number, 1000);
    /* ... and the same data with another token are stored, in the view as well. */
    OK(insert("dedup", bytes, "batch-2/dedup"));
    ck_assert_uint_eq(ask("SELECT count() AS n FROM dedup", NULL).number, 2000);
    ck_assert_uint_eq(ask("SELECT sum(n) AS n FROM dedup_sums", NULL).number, 2000);
    chs_block_free(block);
    chs_block_free(other);
}
END_TEST

START_TEST(a_large_block_stays_one_part)
{
    static const char *const schema[] = {
        "CREATE TABLE large (a UInt64, s LowCardinality(String)) ENGINE = MergeTree ORDER BY a",
    };
    chs_bytes bytes;
    chs_block *block = make_block(0, 1000000, &bytes);

    exec_all(schema, 1);
    OK(insert("large", bytes, NULL));
    ck_assert_uint_eq(ask("SELECT count() AS n FROM large", NULL).number, 1000000);
    ck_assert_uint_eq(ask("SELECT count() AS n FROM system.parts WHERE active AND table = 'large' "
                          "AND database = currentDatabase()",
                          NULL)
                          .number,
                      1);
    chs_block_free(block);
}
END_TEST

START_TEST(a_damaged_block_stores_nothing)
{
    static const char *const schema[] = {
        "CREATE TABLE damaged (a UInt64, s LowCardinality(String)) ENGINE = MergeTree ORDER BY a",
    };
    chs_bytes bytes;
    chs_block *block = make_block(0, 1000, &bytes);

    exec_all(schema, 1);
    bytes.length -= 5;
    ck_assert_int_eq(insert("damaged", bytes, NULL), CHS_ERR_SERVER_FINAL);
    ck_assert_int_ne(err.server_code, 0);
    ck_assert_uint_eq(ask("SELECT count() AS n FROM damaged", NULL).number, 0);
    chs_block_free(block);
}
END_TEST
START_TEST(parameters_stay_values)
{
    static const char nasty[] = "a'b\\c`d\n\t\x01 {x:String} -- ; DROP TABLE t";
    static const chs_bytes binary = {"\0\xff'\\\n56789abcdef", 16};
    const chs_bytes list[] = {{nasty, sizeof nasty - 1}, binary};
    const chs_bytes numbers[] = {{"1", 1}, {"18446744073709551615", 20}};
    chs_param params[] = {
        {"s", CHS_PARAM_SCALAR, nasty, NULL, 0},
        {"b", CHS_PARAM_SCALAR, NULL, &binary, 1},
        {"l", CHS_PARAM_STRINGS, NULL, list, 2},
        {"n", CHS_PARAM_NUMBERS, NULL, numbers, 2},
        {"e", CHS_PARAM_STRINGS, NULL, NULL, 0},
        {"t", CHS_PARAM_SCALAR, "2023-11-14 22:13:20.123", NULL, 0},
    };
    chs_call call = CHS_CALL_INIT;

    call.params = params;
    call.param_count = sizeof params / sizeof *params;
    ck_assert_str_eq(ask("SELECT {s:String} AS v", &call).text, nasty);
    ck_assert_str_eq(ask("SELECT hex({b:FixedString(16)}) AS v", &call).text,
                     "00FF275C0A3536373839616263646566");
    ck_assert_str_eq(ask("SELECT {l:Array(String)}[1] AS v", &call).text, nasty);
    ck_assert_str_eq(ask("SELECT hex({l:Array(String)}[2]) AS v", &call).text,
                     "00FF275C0A3536373839616263646566");
    ck_assert_uint_eq(ask("SELECT {n:Array(UInt64)}[2] AS v", &call).number, UINT64_MAX);
    ck_assert_uint_eq(ask("SELECT length({e:Array(String)}) AS v", &call).number, 0);
    ck_assert_uint_eq(
        ask("SELECT toUInt64(toUnixTimestamp64Milli({t:DateTime64(3, 'UTC')})) AS v", &call).number,
        1700000000123);
}
END_TEST

START_TEST(settings_hold_for_their_call_only)
{
    static const char sql[] =
        "SELECT value AS v FROM system.settings WHERE name = 'max_result_rows'";
    chs_setting setting = {"max_result_rows", "12345"};
    chs_call call = CHS_CALL_INIT;

    call.settings = &setting;
    call.setting_count = 1;
    ck_assert_str_eq(ask(sql, &call).text, "12345");
    ck_assert_str_eq(ask(sql, NULL).text, "0");
}
END_TEST

static const struct failing_row {
    const char *sql;
    int server_code;
    int code;
} failing_rows[] = {
    {"SELECT nope", 47, CHS_ERR_SERVER_FINAL},
    {"SELECT * FROM no_such_table", 60, CHS_ERR_SERVER_FINAL},
    {"SELECT 1 FROM (", 62, CHS_ERR_SERVER_FINAL},
    {"SELECT 1; SELECT 2", 62, CHS_ERR_SERVER_FINAL},
    {"SELECT throwIf(number = 300000) AS v FROM numbers(400000)", 395, CHS_ERR_SERVER_FINAL},
    {"SELECT arrayMap(x -> x, range(100000000)) AS v SETTINGS max_memory_usage = 1000000", 241,
     CHS_ERR_SERVER_RETRY},
    {"SELECT count() AS v FROM numbers(1000000000000) SETTINGS max_execution_time = 0.1", 159,
     CHS_ERR_TIMEOUT},
};

START_TEST(errors_have_their_class)
{
    const struct failing_row *row = &failing_rows[_i];
    answer kept = {0};

    ck_assert_int_eq(chs_query(store, row->sql, NULL, keep_answer, &kept, &err), row->code);
    ck_assert_int_eq(err.server_code, row->server_code);
    ck_assert_int_eq(err.code, row->code);
    OK(chs_ping(store, NULL, &err));
}
END_TEST

START_TEST(an_insert_into_nothing_is_final)
{
    chs_bytes bytes;
    chs_block *block = make_block(0, 1, &bytes);

    ck_assert_int_eq(insert("no_such_table", bytes, NULL), CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(err.server_code, 60);
    ck_assert_int_eq(chs_error_retry(&err), CHS_RETRY_NEVER);
    chs_block_free(block);
}
END_TEST

START_TEST(a_deadline_ends_a_call)
{
    chs_call call = CHS_CALL_INIT;
    answer kept = {0};

    call.timeout_ms = 300;
    ck_assert_int_eq(chs_query(store, "SELECT count() AS v FROM numbers(1000000000000)", &call,
                               keep_answer, &kept, &err),
                     CHS_ERR_TIMEOUT);
    ck_assert_uint_eq(kept.rows, 0);
}
END_TEST

static atomic_bool ended;

/* Cancels repeatedly, because a cancel before the call does nothing. */
static void *cancel_until_ended(void *context)
{
    while (!atomic_load(&ended)) {
        chs_cancel(context);
        (void)sched_yield();
    }
    return NULL;
}

START_TEST(another_thread_cancels)
{
    chs_call call = CHS_CALL_INIT;
    answer kept = {0};
    pthread_t canceller;

    call.timeout_ms = 60000;
    ck_assert_int_eq(pthread_create(&canceller, NULL, cancel_until_ended, store), 0);
    ck_assert_int_eq(chs_query(store, "SELECT count() AS v FROM numbers(10000000000000)", &call,
                               keep_answer, &kept, &err),
                     CHS_ERR_CANCELLED);
    atomic_store(&ended, true);
    ck_assert_int_eq(pthread_join(canceller, NULL), 0);
    OK(chs_ping(store, NULL, &err));
}
END_TEST

static int stop_at_once(void *context, const chs_result *block)
{
    (void)block;
    ++*(int *)context;
    return CHS_ERR_LIMIT;
}

START_TEST(the_caller_can_stop_at_a_block)
{
    int blocks = 0;

    ck_assert_int_eq(chs_query(store, "SELECT number AS v FROM numbers(1000000)", NULL,
                               stop_at_once, &blocks, &err),
                     CHS_ERR_LIMIT);
    ck_assert_int_eq(blocks, 1);
    OK(chs_ping(store, NULL, &err));
}
END_TEST

START_TEST(an_answer_without_rows_is_no_error)
{
    ck_assert_uint_eq(ask("SELECT 1 AS v WHERE 0", NULL).rows, 0);
}
END_TEST

START_TEST(many_blocks_add_up)
{
    ck_assert_uint_eq(ask("SELECT number AS v FROM numbers(500000)", NULL).rows, 500000);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("libchsink-store");
    TCase *tcase = tcase_create("store");
    int code;

    target_start(argc, argv);
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, store_setup, store_teardown);
    tcase_add_test(tcase, answers_a_ping);
    tcase_add_test(tcase, the_same_token_is_stored_once);
    tcase_add_test(tcase, a_large_block_stays_one_part);
    tcase_add_test(tcase, a_damaged_block_stores_nothing);
    store_types_cases(tcase);
    tcase_add_test(tcase, parameters_stay_values);
    tcase_add_test(tcase, settings_hold_for_their_call_only);
    tcase_add_loop_test(tcase, errors_have_their_class, 0, ROWS(failing_rows));
    tcase_add_test(tcase, an_insert_into_nothing_is_final);
    tcase_add_test(tcase, a_deadline_ends_a_call);
    tcase_add_test(tcase, another_thread_cancels);
    tcase_add_test(tcase, the_caller_can_stop_at_a_block);
    tcase_add_test(tcase, an_answer_without_rows_is_no_error);
    tcase_add_test(tcase, many_blocks_add_up);
    if (target_is_http())
        store_server_cases(tcase);
    suite_add_tcase(suite, tcase);
    code = run_suite(suite);
    target_stop();
    return code;
}
