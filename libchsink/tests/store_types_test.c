/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a value of every type is read back as ClickHouse itself prints it. */
#include <stdio.h>
#include <string.h>

#include "store_fixture.h"

/* A type, how it is appended, and how ClickHouse itself prints the value. */
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

/* Checks the value that the reader returns; of an array its first element, and its shape. */
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

void store_types_cases(TCase *tcase)
{
    tcase_add_test(tcase, every_type_comes_back);
    tcase_add_test(tcase, empty_arrays_alone_come_back);
}
