/*
 * What both transports promise, against real ClickHouse: every type there and back, nothing lost
 * and nothing doubled, parameters that stay values, errors by class. Arguments: "embedded", or
 * "http" and the path of chdb-http.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "target.h"

static chs_transport *store;
static chs_error err;

static void setup(void)
{
    store = target_open();
}

static void teardown(void)
{
    chs_transport_close(store);
}

#define OK(call) ck_assert_msg((call) == 0, "%s", err.message)

static void exec_all(const char *const *statements, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        OK(chs_exec(store, statements[i], NULL, &err));
}

/* Keeps the first value of the first column, which is a number or a text. */
typedef struct answer {
    uint64_t rows;
    uint64_t number;
    char text[4096];
} answer;

static int keep_answer(void *context, const chs_result *block)
{
    answer *kept = context;
    const char *name = chs_result_name(block, 0);
    chs_strings strings;
    chs_uints uints;

    if (chs_result_rows(block) && !kept->rows) {
        if (chs_result_uints(&uints, block, name, NULL) == 0) {
            kept->number = uints.values[0];
        } else if (chs_result_strings(&strings, block, name, NULL) == 0) {
            ck_assert_uint_lt(strings.values[0].length, sizeof kept->text);
            memcpy(kept->text, strings.values[0].data, strings.values[0].length);
            kept->text[strings.values[0].length] = '\0';
        }
    }
    kept->rows += chs_result_rows(block);
    return 0;
}

static answer ask(const char *sql, const chs_call *call)
{
    answer kept = {0};

    OK(chs_query(store, sql, call, keep_answer, &kept, &err));
    return kept;
}

/* One block of (a UInt64, s LowCardinality(String)) with count rows from first. */
static chs_block *make_block(uint64_t first, uint64_t count, chs_bytes *encoded)
{
    chs_block *block;
    chs_column *a, *s;
    uint64_t i;

    OK(chs_block_new(&block, NULL, &err));
    OK(chs_block_add_column(&a, block, "a", "UInt64", &err));
    OK(chs_block_add_column(&s, block, "s", "LowCardinality(String)", &err));
    for (i = first; i < first + count; i++) {
        (void)chs_append_uint(a, i);
        (void)chs_append_bytes(s, "abcdefgh", i % 8);
    }
    OK(chs_block_encode(encoded, block, &err));
    return block;
}

static const char *const block_columns[] = {"a", "s"};

static int insert(const char *table, chs_bytes block, const char *token)
{
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;

    request.table = table;
    request.columns = block_columns;
    request.column_count = 2;
    request.block = block;
    request.token = token;
    return chs_insert(store, &request, NULL, &err);
}

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
    /* The token decides, not the bytes: other data under it are swallowed ... */
    OK(insert("dedup", other_bytes, "batch-1/dedup"));
    ck_assert_uint_eq(ask("SELECT count() AS n FROM dedup", NULL).number, 1000);
    /* ... and the same data under another are stored, in the view as well. */
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

/* A type, how it is appended, and what ClickHouse itself says the value is. */
static const struct type_row {
    const char *type;
    char kind; /* u, i, f, s, or in upper case an array of two */
    uint64_t u;
    int64_t i;
    double f;
    const char *s;
    const char *seen;
} type_rows[] = {
    {"UInt8", 'u', 255, 0, 0, NULL, "255"},
    {"UInt16", 'u', 65535, 0, 0, NULL, "65535"},
    {"UInt32", 'u', 4294967295, 0, 0, NULL, "4294967295"},
    {"UInt64", 'u', UINT64_MAX, 0, 0, NULL, "18446744073709551615"},
    {"Bool", 'u', 1, 0, 0, NULL, "true"},
    {"Date", 'u', 20000, 0, 0, NULL, "2024-10-04"},
    {"DateTime('UTC')", 'u', 1700000000, 0, 0, NULL, "2023-11-14 22:13:20"},
    {"Int8", 'i', 0, -128, 0, NULL, "-128"},
    {"Int16", 'i', 0, -32768, 0, NULL, "-32768"},
    {"Int32", 'i', 0, INT32_MIN, 0, NULL, "-2147483648"},
    {"Int64", 'i', 0, INT64_MIN, 0, NULL, "-9223372036854775808"},
    {"DateTime64(3, 'UTC')", 'i', 0, 1700000000123, 0, NULL, "2023-11-14 22:13:20.123"},
    {"Enum8('a' = 1, 'it\\'s' = -2)", 'i', 0, -2, 0, NULL, "it's"},
    {"Float32", 'f', 0, 0, 1.5, NULL, "1.5"},
    {"Float64", 'f', 0, 0, -0.125, NULL, "-0.125"},
    {"String", 's', 0, 0, 0, "\xc3\xa9t\xc3\xa9 \n'\\", "\xc3\xa9t\xc3\xa9 \n'\\"},
    {"FixedString(16)", 's', 0, 0, 0, "0123456789abcdef", "0123456789abcdef"},
    {"LowCardinality(String)", 's', 0, 0, 0, "low", "low"},
    {"Array(UInt8)", 'U', 7, 0, 0, NULL, "[7,0]"},
    {"Array(UInt32)", 'U', 70000, 0, 0, NULL, "[70000,0]"},
    {"Array(UInt64)", 'U', 1, 0, 0, NULL, "[1,0]"},
    {"Array(Int64)", 'I', 0, -5, 0, NULL, "[-5,0]"},
    {"Array(Float64)", 'F', 0, 0, 0.5, NULL, "[0.5,0]"},
    {"Array(String)", 'S', 0, 0, 0, "x", "['x','']"},
    {"Array(LowCardinality(String))", 'S', 0, 0, 0, "low", "['low','']"},
};

static void append_row(chs_column *column, const struct type_row *row)
{
    const uint64_t u[] = {row->u, 0};
    const int64_t i[] = {row->i, 0};
    const double f[] = {row->f, 0};
    const chs_bytes s[] = {{row->s, row->s ? strlen(row->s) : 0}, {"", 0}};

    switch (row->kind) {
    case 'u':
        (void)chs_append_uint(column, row->u);
        break;
    case 'i':
        (void)chs_append_int(column, row->i);
        break;
    case 'f':
        (void)chs_append_float(column, row->f);
        break;
    case 's':
        (void)chs_append_bytes(column, s[0].data, s[0].length);
        break;
    case 'U':
        (void)chs_append_uint_array(column, u, 2);
        (void)chs_append_uint_array(column, NULL, 0);
        break;
    case 'I':
        (void)chs_append_int_array(column, i, 2);
        (void)chs_append_int_array(column, NULL, 0);
        break;
    case 'F':
        (void)chs_append_float_array(column, f, 2);
        (void)chs_append_float_array(column, NULL, 0);
        break;
    default:
        (void)chs_append_bytes_array(column, s, 2);
        (void)chs_append_bytes_array(column, NULL, 0);
    }
}

/* The value as the reader gives it back; of an array its first element, with the shape checked. */
static int check_row(void *context, const chs_result *block)
{
    const struct type_row *row = context;
    chs_uints u;
    chs_ints i;
    chs_floats f;
    chs_strings s;

    if (!chs_result_rows(block))
        return 0;
    switch (row->kind) {
    case 'u':
        OK(chs_result_uints(&u, block, "v", &err));
        ck_assert_uint_eq(u.values[0], row->u);
        return 0;
    case 'i':
        OK(chs_result_ints(&i, block, "v", &err));
        ck_assert_int_eq(i.values[0], row->i);
        return 0;
    case 'f':
        OK(chs_result_floats(&f, block, "v", &err));
        ck_assert_double_eq(f.values[0], row->f);
        return 0;
    case 's':
        OK(chs_result_strings(&s, block, "v", &err));
        ck_assert_uint_eq(s.values[0].length, strlen(row->s));
        ck_assert_mem_eq(s.values[0].data, row->s, s.values[0].length);
        return 0;
    case 'U':
        OK(chs_result_uint_arrays(&u, block, "v", &err));
        ck_assert_uint_eq(u.values[0], row->u);
        ck_assert_uint_eq(u.ends[0], 2);
        ck_assert_uint_eq(u.ends[1], 2);
        return 0;
    case 'I':
        OK(chs_result_int_arrays(&i, block, "v", &err));
        ck_assert_int_eq(i.values[0], row->i);
        return 0;
    case 'F':
        OK(chs_result_float_arrays(&f, block, "v", &err));
        ck_assert_double_eq(f.values[0], row->f);
        return 0;
    default:
        OK(chs_result_string_arrays(&s, block, "v", &err));
        ck_assert_uint_eq(s.count, 2);
        ck_assert_uint_eq(s.values[0].length, strlen(row->s));
        ck_assert_mem_eq(s.values[0].data, row->s, s.values[0].length);
        ck_assert_uint_eq(s.values[1].length, 0);
        return 0;
    }
}

START_TEST(every_type_comes_back)
{
    static const char *const columns[] = {"v"};
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    char table[32], sql[256];
    int i;

    for (i = 0; i < ROWS(type_rows); i++) {
        struct type_row row = type_rows[i];
        chs_block *block;
        chs_column *column;

        (void)snprintf(table, sizeof table, "type_%d", i);
        (void)snprintf(sql, sizeof sql,
                       "CREATE TABLE %s (v %s) ENGINE = MergeTree ORDER BY tuple()", table,
                       row.type);
        OK(chs_exec(store, sql, NULL, &err));
        OK(chs_block_new(&block, NULL, &err));
        OK(chs_block_add_column(&column, block, "v", row.type, &err));
        append_row(column, &row);
        OK(chs_block_encode(&request.block, block, &err));
        request.table = table;
        request.columns = columns;
        request.column_count = 1;
        OK(chs_insert(store, &request, NULL, &err));
        chs_block_free(block);
        (void)snprintf(sql, sizeof sql, "SELECT v FROM %s", table);
        OK(chs_query(store, sql, NULL, check_row, &row, &err));
        (void)snprintf(sql, sizeof sql, "SELECT toString(v) AS t FROM %s LIMIT 1", table);
        ck_assert_str_eq(ask(sql, NULL).text, row.seen);
    }
}
END_TEST

START_TEST(empty_arrays_alone_come_back)
{
    static const char *const columns[] = {"v"};
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    chs_block *block;
    chs_column *column;

    OK(chs_exec(store,
                "CREATE TABLE hollow (v Array(LowCardinality(String))) ENGINE = MergeTree "
                "ORDER BY tuple()",
                NULL, &err));
    OK(chs_block_new(&block, NULL, &err));
    OK(chs_block_add_column(&column, block, "v", "Array(LowCardinality(String))", &err));
    (void)chs_append_bytes_array(column, NULL, 0);
    (void)chs_append_bytes_array(column, NULL, 0);
    OK(chs_block_encode(&request.block, block, &err));
    request.table = "hollow";
    request.columns = columns;
    request.column_count = 1;
    OK(chs_insert(store, &request, NULL, &err));
    chs_block_free(block);
    ck_assert_uint_eq(ask("SELECT v FROM hollow", NULL).rows, 2);
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

/* Again and again, because a cancel that comes before the call does nothing. */
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

/* Codings of the request and the answer, one pair a row. */
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

int main(int argc, char **argv)
{
    Suite *suite = suite_create("libchsink-store");
    TCase *tcase = tcase_create("store");
    int code;

    target_start(argc, argv);
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, answers_a_ping);
    tcase_add_test(tcase, the_same_token_is_stored_once);
    tcase_add_test(tcase, a_large_block_stays_one_part);
    tcase_add_test(tcase, a_damaged_block_stores_nothing);
    tcase_add_test(tcase, every_type_comes_back);
    tcase_add_test(tcase, empty_arrays_alone_come_back);
    tcase_add_test(tcase, parameters_stay_values);
    tcase_add_test(tcase, settings_hold_for_their_call_only);
    tcase_add_loop_test(tcase, errors_have_their_class, 0, ROWS(failing_rows));
    tcase_add_test(tcase, an_insert_into_nothing_is_final);
    tcase_add_test(tcase, a_deadline_ends_a_call);
    tcase_add_test(tcase, another_thread_cancels);
    tcase_add_test(tcase, the_caller_can_stop_at_a_block);
    tcase_add_test(tcase, an_answer_without_rows_is_no_error);
    tcase_add_test(tcase, many_blocks_add_up);
    if (target_is_http()) {
        tcase_add_loop_test(tcase, every_coding_carries_blocks, 0, ROWS(coding_rows));
        tcase_add_test(tcase, a_server_refuses_strangers_and_nonsense);
        tcase_add_test(tcase, a_server_that_is_ended_keeps_its_data);
    }
    suite_add_tcase(suite, tcase);
    code = run_suite(suite);
    target_stop();
    return code;
}
