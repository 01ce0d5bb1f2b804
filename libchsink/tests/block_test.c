/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the block encoder byte by byte, and its error messages. */
#include <check.h>
#include <stdbool.h>
#include <string.h>

#include <chsink/chsink.h>

#include "run_suite.h"

static chs_block *block;
static chs_error err;

static void setup(void)
{
    ck_assert_int_eq(chs_block_new(&block, NULL, NULL), 0);
}

static void teardown(void)
{
    chs_block_free(block);
}

static chs_column *add(const char *name, const char *type)
{
    chs_column *column;

    ck_assert_msg(chs_block_add_column(&column, block, name, type, &err) == 0, "%s", err.message);
    return column;
}

static void expect(const char *bytes, size_t length)
{
    chs_bytes encoded;

    ck_assert_msg(chs_block_encode(&encoded, block, &err) == 0, "%s", err.message);
    ck_assert_uint_eq(encoded.length, length);
    ck_assert_mem_eq(encoded.data, bytes, length);
}

#define EXPECT(literal) expect(literal, sizeof(literal) - 1)

/* A value of each type that is fixed in width, and its bytes. */
static const struct fixed_row {
    const char *type;
    char kind; /* u, i, f, s */
    uint64_t u;
    int64_t i;
    double f;
    const char *s;
    const char *bytes;
    size_t width;
} fixed_rows[] = {
    {"UInt8", 'u', 200, 0, 0, NULL, "\xc8", 1},
    {"UInt16", 'u', 0x1234, 0, 0, NULL, "\x34\x12", 2},
    {"UInt32", 'u', 0x12345678, 0, 0, NULL, "\x78\x56\x34\x12", 4},
    {"UInt64", 'u', UINT64_MAX - 1, 0, 0, NULL, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8},
    {"Bool", 'u', 1, 0, 0, NULL, "\x01", 1},
    {"Date", 'u', 20000, 0, 0, NULL, "\x20\x4e", 2},
    {"DateTime", 'u', 1700000000, 0, 0, NULL, "\x00\xf1\x53\x65", 4},
    {"DateTime('UTC')", 'u', 1, 0, 0, NULL, "\x01\0\0\0", 4},
    {"Int8", 'i', 0, -128, 0, NULL, "\x80", 1},
    {"Int16", 'i', 0, -2, 0, NULL, "\xfe\xff", 2},
    {"Int32", 'i', 0, INT32_MIN, 0, NULL, "\0\0\0\x80", 4},
    {"Int64", 'i', 0, INT64_MIN, 0, NULL, "\0\0\0\0\0\0\0\x80", 8},
    {"DateTime64(3, 'UTC')", 'i', 0, 1700000000123, 0, NULL, "\x7b\x68\xe5\xcf\x8b\x01\0\0", 8},
    {"Enum8('a' = 1, 'it\\'s' = -2)", 'i', 0, -2, 0, NULL, "\xfe", 1},
    {"Enum8('a' = 1, 'it\\'s' = -2)", 's', 0, 0, 0, "it's", "\xfe", 1},
    {"Float32", 'f', 0, 0, 1.5, NULL, "\0\0\xc0\x3f", 4},
    {"Float64", 'f', 0, 0, -2.0, NULL, "\0\0\0\0\0\0\0\xc0", 8},
    {"FixedString(3)", 's', 0, 0, 0, "abc", "abc", 3},
    {"String", 's', 0, 0, 0, "xyz", "\x03xyz", 4},
};

static int append_one(chs_column *column, const struct fixed_row *row)
{
    switch (row->kind) {
    case 'u':
        return chs_append_uint(column, row->u);
    case 'i':
        return chs_append_int(column, row->i);
    case 'f':
        return chs_append_float(column, row->f);
    default:
        return chs_append_bytes(column, row->s, strlen(row->s));
    }
}

START_TEST(encodes_each_type)
{
    const struct fixed_row *row = &fixed_rows[_i];
    chs_column *column = add("v", row->type);
    size_t type_length = strlen(row->type);
    char wanted[128] = "\x01\x01\x01v";
    size_t length = 4;

    ck_assert_int_eq(append_one(column, row), 0);
    wanted[length++] = (char)type_length;
    memcpy(wanted + length, row->type, type_length);
    memcpy(wanted + length + type_length, row->bytes, row->width);
    expect(wanted, length + type_length + row->width);
}
END_TEST

START_TEST(encodes_low_cardinality)
{
    chs_column *column = add("s", "LowCardinality(String)");
    static const char *const values[] = {"a", "bc", "a", ""};
    size_t i;

    for (i = 0; i < 4; i++)
        ck_assert_int_eq(chs_append_bytes(column, values[i], strlen(values[i])), 0);
    EXPECT("\x01\x04\x01s\x16LowCardinality(String)"
           "\x01\0\0\0\0\0\0\0" /* version */
           "\0\x06\0\0\0\0\0\0" /* 8-bit indexes, own keys */
           "\x03\0\0\0\0\0\0\0" /* keys */
           "\x01"
           "a\x02"
           "bc\0"
           "\x04\0\0\0\0\0\0\0" /* rows */
           "\0\x01\0\x02");
}
END_TEST

START_TEST(forgets_a_dictionary_when_cleared)
{
    chs_column *column = add("s", "LowCardinality(String)");

    ck_assert_int_eq(chs_append_bytes(column, "a", 1), 0);
    ck_assert_int_eq(chs_append_bytes(column, "b", 1), 0);
    chs_block_clear(block);
    ck_assert_uint_eq(chs_block_rows(block), 0);
    ck_assert_int_eq(chs_append_bytes(column, "b", 1), 0);
    EXPECT("\x01\x01\x01s\x16LowCardinality(String)"
           "\x01\0\0\0\0\0\0\0"
           "\0\x06\0\0\0\0\0\0"
           "\x01\0\0\0\0\0\0\0\x01"
           "b\x01\0\0\0\0\0\0\0\0");
}
END_TEST

START_TEST(encodes_wide_dictionary_indexes)
{
    chs_column *column = add("s", "LowCardinality(String)");
    chs_bytes encoded;
    uint32_t i;

    for (i = 0; i < 300; i++)
        ck_assert_int_eq(chs_append_bytes(column, &i, sizeof i), 0);
    ck_assert_int_eq(chs_append_bytes(column, &i, 0), 0);
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), 0);
    /* Two-byte indexes: the last is key number 300. */
    ck_assert_mem_eq(encoded.data + encoded.length - 2, "\x2c\x01", 2);
}
END_TEST

START_TEST(encodes_arrays)
{
    chs_column *numbers = add("n", "Array(UInt16)");
    chs_column *names = add("s", "Array(LowCardinality(String))");
    static const uint64_t values[] = {1, 2};
    static const chs_bytes strings[] = {{"x", 1}, {"x", 1}};

    ck_assert_int_eq(chs_append_uint_array(numbers, values, 2), 0);
    ck_assert_int_eq(chs_append_uint_array(numbers, NULL, 0), 0);
    ck_assert_int_eq(chs_append_bytes_array(names, NULL, 0), 0);
    ck_assert_int_eq(chs_append_bytes_array(names, strings, 2), 0);
    EXPECT("\x02\x02"
           "\x01n\x0d"
           "Array(UInt16)"
           "\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
           "\x01\0\x02\0"
           "\x01s\x1d"
           "Array(LowCardinality(String))"
           "\x01\0\0\0\0\0\0\0"
           "\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
           "\0\x06\0\0\0\0\0\0"
           "\x01\0\0\0\0\0\0\0\x01x"
           "\x02\0\0\0\0\0\0\0\0\0");
}
END_TEST

/* Encodes a block with a value repeated `times` times, one call each. */
static size_t encoded_one_by_one(char *out, size_t room, const struct fixed_row *row, size_t times)
{
    chs_column *column = add("v", row->type);
    chs_bytes encoded;

    for (size_t i = 0; i < times; i++)
        ck_assert_int_eq(append_one(column, row), 0);
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), 0);
    ck_assert_uint_le(encoded.length, room);
    memcpy(out, encoded.data, encoded.length);
    return encoded.length;
}

static int append_times(chs_column *column, const struct fixed_row *row, size_t count)
{
    switch (row->kind) {
    case 'u':
        return chs_append_uint_times(column, row->u, count);
    case 'i':
        return chs_append_int_times(column, row->i, count);
    case 'f':
        return chs_append_float_times(column, row->f, count);
    default:
        return chs_append_bytes_times(column, row->s, strlen(row->s), count);
    }
}

static int append_rows(chs_column *column, const struct fixed_row *row, size_t count)
{
    enum { MOST = 8 };
    uint64_t u[MOST];
    int64_t i[MOST];
    double f[MOST];
    chs_bytes s[MOST];

    ck_assert_uint_le(count, MOST);
    for (size_t at = 0; at < count; at++) {
        u[at] = row->u;
        i[at] = row->i;
        f[at] = row->f;
        s[at] = (chs_bytes){row->s, row->s != NULL ? strlen(row->s) : 0};
    }
    switch (row->kind) {
    case 'u':
        return chs_append_uint_rows(column, u, count);
    case 'i':
        return chs_append_int_rows(column, i, count);
    case 'f':
        return chs_append_float_rows(column, f, count);
    default:
        return chs_append_bytes_rows(column, s, count);
    }
}

START_TEST(many_rows_are_as_one_after_the_other)
{
    const struct fixed_row *row = &fixed_rows[_i];
    char wanted[512];
    size_t length = encoded_one_by_one(wanted, sizeof(wanted), row, 6);

    teardown();
    setup();
    chs_column *column = add("v", row->type);
    ck_assert_int_eq(append_times(column, row, 3), 0);
    ck_assert_int_eq(append_times(column, row, 0), 0);
    ck_assert_int_eq(append_rows(column, row, 0), 0);
    ck_assert_int_eq(append_rows(column, row, 2), 0);
    ck_assert_int_eq(append_one(column, row), 0);
    ck_assert_uint_eq(chs_block_rows(block), 6);
    expect(wanted, length);
}
END_TEST

START_TEST(keys_are_the_strings_that_they_were_given_for)
{
    static const char *const values[] = {"a", "bc", "", "bc", "a"};
    static const chs_bytes strings[] = {{"a", 1}, {"bc", 2}, {"", 0}, {"bc", 2}, {"a", 1}};
    enum { COUNT = sizeof(values) / sizeof(values[0]) };
    chs_column *single = add("s", "LowCardinality(String)");
    chs_column *array = add("t", "Array(LowCardinality(String))");
    char wanted[512];
    uint32_t keys[COUNT], array_keys[COUNT];
    chs_bytes encoded;

    ck_assert_int_eq(chs_append_bytes_rows(single, strings, COUNT), 0);
    ck_assert_int_eq(chs_append_bytes_times(single, "bc", 2, 3), 0);
    for (size_t i = 0; i < COUNT + 3; i++)
        ck_assert_int_eq(chs_append_bytes_array(array, strings, COUNT), 0);
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), 0);
    size_t length = encoded.length;
    ck_assert_uint_le(length, sizeof(wanted));
    memcpy(wanted, encoded.data, length);

    chs_block_clear(block);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(chs_column_key(single, values[i], strlen(values[i]), &keys[i]), 0);
        ck_assert_int_eq(chs_column_key(array, values[i], strlen(values[i]), &array_keys[i]), 0);
    }
    ck_assert_uint_eq(chs_block_rows(block), 0);
    ck_assert_int_eq(chs_append_key_rows(single, keys, COUNT), 0);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(chs_append_key_rows(single, &keys[1], 1), 0);
    for (size_t i = 0; i < COUNT + 3; i++)
        ck_assert_int_eq(chs_append_key_array(array, array_keys, COUNT), 0);
    expect(wanted, length);
}
END_TEST

START_TEST(refuses_keys_that_it_did_not_give)
{
    static const struct {
        const char *type;
        bool known;
        const char *says;
    } cases[] = {
        {"LowCardinality(String)", false, "Column v has no key of number 7"},
        {"Array(LowCardinality(String))", true,
         "Column v of type Array(LowCardinality(String)) takes arrays"},
        {"String", true, "Column v of type String has no keys"},
        {"UInt8", true, "Column v of type UInt8 has no keys"},
    };
    chs_column *column = add("v", cases[_i].type);
    uint32_t key = 7;
    chs_bytes encoded;

    if (cases[_i].known)
        (void)chs_column_key(column, "a", 1, &key);
    ck_assert_int_eq(chs_append_key_rows(column, &key, 1), CHS_ERR_USAGE);
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), CHS_ERR_USAGE);
    ck_assert_str_eq(err.message, cases[_i].says);
}
END_TEST

START_TEST(many_rows_keep_to_the_limits)
{
    chs_block_options options = CHS_BLOCK_OPTIONS_INIT;
    static const uint64_t values[] = {1, 2, 256, 3};

    teardown();
    options.max_rows = 5;
    ck_assert_int_eq(chs_block_new(&block, &options, NULL), 0);
    chs_column *column = add("v", "UInt8");
    ck_assert_int_eq(chs_append_uint_times(column, 1, 3), 0);
    ck_assert_int_eq(chs_append_uint_rows(column, values, 2), 0);
    ck_assert_int_eq(chs_append_uint_times(column, 1, SIZE_MAX), CHS_ERR_LIMIT);
    chs_block_clear(block);
    ck_assert_int_eq(chs_append_uint_rows(column, values, 4), CHS_ERR_FORMAT);
    chs_bytes encoded;
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), CHS_ERR_FORMAT);
    ck_assert_str_eq(err.message, "Column v: 256 does not fit UInt8");

    teardown();
    options.max_rows = 1000;
    options.max_bytes = 100;
    ck_assert_int_eq(chs_block_new(&block, &options, NULL), 0);
    column = add("v", "UInt64");
    ck_assert_int_eq(chs_append_uint_times(column, 1, 12), 0);
    ck_assert_int_eq(chs_append_uint_times(column, 1, 1), CHS_ERR_LIMIT);
}
END_TEST

START_TEST(names_the_column_with_other_rows)
{
    chs_column *a = add("alpha", "UInt8");
    chs_column *b = add("beta", "UInt8");
    chs_bytes encoded;

    ck_assert_int_eq(chs_append_uint(a, 1), 0);
    ck_assert_int_eq(chs_append_uint(a, 2), 0);
    ck_assert_int_eq(chs_append_uint(b, 1), 0);
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), CHS_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "beta has 1 rows where the block has 2"));
    ck_assert_ptr_null(encoded.data);
}
END_TEST

START_TEST(keeps_the_first_failure)
{
    chs_column *a = add("alpha", "UInt8");
    chs_bytes encoded;

    ck_assert_int_eq(chs_append_uint(a, 256), CHS_ERR_FORMAT);
    ck_assert_int_eq(chs_append_uint(a, 1), CHS_ERR_FORMAT);
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), CHS_ERR_FORMAT);
    ck_assert_str_eq(err.message, "Column alpha: 256 does not fit UInt8");
    chs_block_clear(block);
    ck_assert_int_eq(chs_append_uint(a, 1), 0);
    EXPECT("\x01\x01\x05"
           "alpha\x05UInt8\x01");
}
END_TEST

/* One bad append per row: type, value, the code. */
static const struct bad_row {
    struct fixed_row value;
    int code;
} bad_rows[] = {
    {{"Int8", 'i', 0, 128, 0, NULL, NULL, 0}, CHS_ERR_FORMAT},
    {{"Int32", 'i', 0, (int64_t)INT32_MIN - 1, 0, NULL, NULL, 0}, CHS_ERR_FORMAT},
    {{"Bool", 'u', 2, 0, 0, NULL, NULL, 0}, CHS_ERR_FORMAT},
    {{"Enum8('a' = 1)", 'i', 0, 2, 0, NULL, NULL, 0}, CHS_ERR_FORMAT},
    {{"Enum8('a' = 1)", 's', 0, 0, 0, "b", NULL, 0}, CHS_ERR_FORMAT},
    {{"FixedString(16)", 's', 0, 0, 0, "short", NULL, 0}, CHS_ERR_FORMAT},
    {{"UInt8", 's', 0, 0, 0, "1", NULL, 0}, CHS_ERR_USAGE},
    {{"String", 'u', 1, 0, 0, NULL, NULL, 0}, CHS_ERR_USAGE},
    {{"Array(UInt8)", 'u', 1, 0, 0, NULL, NULL, 0}, CHS_ERR_USAGE},
    {{"Int64", 'u', 1, 0, 0, NULL, NULL, 0}, CHS_ERR_USAGE},
};

START_TEST(refuses_values_that_do_not_fit)
{
    const struct bad_row *row = &bad_rows[_i];
    chs_column *column = add("v", row->value.type);

    ck_assert_int_eq(append_one(column, &row->value), row->code);
}
END_TEST

static const char *const bad_types[] = {
    "",
    "UInt",
    "UInt128",
    "Array(Array(UInt8))",
    "Array(UInt8",
    "FixedString(0)",
    "FixedString(-1)",
    "FixedString(99999999)",
    "Enum8()",
    "Enum8('a')",
    "Enum8('a' = 128)",
    "Enum8('a = 1)",
    "DateTime64(10)",
    "DateTime64()",
    "LowCardinality(UInt8)",
    "Nullable(String)",
    "UInt8 x",
    "DateTime('UTC'",
    "Float64)",
    "Int64 Int64",
};

START_TEST(refuses_unknown_types)
{
    chs_column *column;

    ck_assert_int_eq(chs_block_add_column(&column, block, "v", bad_types[_i], &err), CHS_ERR_USAGE);
    ck_assert_ptr_null(column);
}
END_TEST

START_TEST(refuses_a_name_twice_and_late_columns)
{
    chs_column *column = add("v", "UInt8"), *other;

    ck_assert_int_eq(chs_block_add_column(&other, block, "v", "UInt8", &err), CHS_ERR_USAGE);
    ck_assert_int_eq(chs_append_uint(column, 1), 0);
    ck_assert_int_eq(chs_block_add_column(&other, block, "w", "UInt8", &err), CHS_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "w comes too late"));
}
END_TEST

START_TEST(keeps_to_its_limits)
{
    chs_block_options options = CHS_BLOCK_OPTIONS_INIT;
    chs_block *small;
    chs_column *a, *b;

    options.max_rows = 2;
    options.max_bytes = 64;
    options.max_columns = 1;
    ck_assert_int_eq(chs_block_new(&small, &options, &err), 0);
    ck_assert_int_eq(chs_block_add_column(&a, small, "a", "String", &err), 0);
    ck_assert_int_eq(chs_block_add_column(&b, small, "b", "String", &err), CHS_ERR_LIMIT);
    ck_assert_int_eq(chs_append_bytes(a, "", 0), 0);
    ck_assert_int_eq(chs_append_bytes(a, "", 0), 0);
    ck_assert_int_eq(chs_append_bytes(a, "", 0), CHS_ERR_LIMIT);
    chs_block_clear(small);
    ck_assert_int_eq(chs_append_bytes(a, options.size ? &options : NULL, 65), CHS_ERR_LIMIT);
    chs_block_free(small);
}
END_TEST

START_TEST(refuses_an_empty_block)
{
    chs_bytes encoded;

    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), CHS_ERR_USAGE);
    (void)add("v", "UInt8");
    ck_assert_int_eq(chs_block_encode(&encoded, block, &err), CHS_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-block");
    TCase *tcase = tcase_create("block");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, encodes_each_type, 0, ROWS(fixed_rows));
    tcase_add_test(tcase, encodes_low_cardinality);
    tcase_add_test(tcase, forgets_a_dictionary_when_cleared);
    tcase_add_test(tcase, encodes_wide_dictionary_indexes);
    tcase_add_test(tcase, encodes_arrays);
    tcase_add_loop_test(tcase, many_rows_are_as_one_after_the_other, 0, ROWS(fixed_rows));
    tcase_add_test(tcase, keys_are_the_strings_that_they_were_given_for);
    tcase_add_loop_test(tcase, refuses_keys_that_it_did_not_give, 0, 4);
    tcase_add_test(tcase, many_rows_keep_to_the_limits);
    tcase_add_test(tcase, names_the_column_with_other_rows);
    tcase_add_test(tcase, keeps_the_first_failure);
    tcase_add_loop_test(tcase, refuses_values_that_do_not_fit, 0, ROWS(bad_rows));
    tcase_add_loop_test(tcase, refuses_unknown_types, 0, ROWS(bad_types));
    tcase_add_test(tcase, refuses_a_name_twice_and_late_columns);
    tcase_add_test(tcase, keeps_to_its_limits);
    tcase_add_test(tcase, refuses_an_empty_block);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
