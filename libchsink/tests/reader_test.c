/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reader on good bytes, on bytes in small pieces, and on hostile ones. */
#include <string.h>

#include <chsink/chsink.h>

#include "run_suite.h"

static chs_error err;

#define OK(call) ck_assert_msg((call) == 0, "%s", err.message)

/* A source that gives a few bytes at a time. */
typedef struct drip {
    const char *data;
    size_t length;
    size_t at;
    size_t step;
    int failure; /* returned once data is used up, instead of the end */
} drip;

static int read_drip(void *context, void *buffer, size_t capacity, size_t *length, chs_error *fail)
{
    drip *in = context;
    size_t left = in->length - in->at;

    *length = left < in->step ? left : in->step;
    if (*length > capacity)
        *length = capacity;
    if (!left && in->failure) {
        fail->code = in->failure;
        strcpy(fail->message, "the source broke");
        return in->failure;
    }
    memcpy(buffer, in->data + in->at, *length);
    in->at += *length;
    return 0;
}

/* Two columns, two rows: UInt16 [1, 2], LowCardinality(String) ['b', 'b'] with the usual default
 * key. */
#define GOOD                                                                                       \
    "\x02\x02\x01n\x06UInt16\x01\0\x02\0\x01s\x16LowCardinality(String)"                           \
    "\x01\0\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\x01"                                 \
    "b\x02\0\0\0\0\0\0\0\x01\x01"

static void check_good(const chs_result *block)
{
    chs_uints numbers;
    chs_strings strings;

    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq(chs_result_rows(block), 2);
    ck_assert_uint_eq(chs_result_columns(block), 2);
    ck_assert_str_eq(chs_result_name(block, 1), "s");
    ck_assert_str_eq(chs_result_type(block, 1), "LowCardinality(String)");
    ck_assert_ptr_null(chs_result_name(block, 2));
    OK(chs_result_uints(&numbers, block, "n", &err));
    ck_assert_uint_eq(numbers.values[1], 2);
    ck_assert_ptr_null(numbers.ends);
    OK(chs_result_strings(&strings, block, "s", &err));
    ck_assert_uint_eq(strings.values[1].length, 1);
    ck_assert_int_eq(strings.values[1].data[0], 'b');
}

START_TEST(reads_blocks_from_memory)
{
    static const char two[] = GOOD GOOD;
    const chs_result *block;
    chs_reader *reader;
    int i;

    OK(chs_reader_open_mem(&reader, two, sizeof two - 1, NULL, &err));
    for (i = 0; i < 2; i++) {
        OK(chs_reader_next(&block, reader, &err));
        check_good(block);
    }
    OK(chs_reader_next(&block, reader, &err));
    ck_assert_ptr_null(block);
    chs_reader_close(reader);
}
END_TEST

START_TEST(reads_blocks_in_pieces)
{
    static const char two[] = GOOD GOOD;
    static const size_t steps[] = {1, 2, 3, 7, 64, 1000};
    drip in = {two, sizeof two - 1, 0, steps[_i], 0};
    const chs_result *block;
    chs_reader *reader;
    int i;

    OK(chs_reader_open(&reader, read_drip, &in, NULL, &err));
    for (i = 0; i < 2; i++) {
        OK(chs_reader_next(&block, reader, &err));
        check_good(block);
    }
    OK(chs_reader_next(&block, reader, &err));
    ck_assert_ptr_null(block);
    chs_reader_close(reader);
}
END_TEST

START_TEST(passes_on_the_failure_of_its_source)
{
    static const char good[] = GOOD;
    drip in = {good, sizeof good - 5, 0, 16, CHS_ERR_NETWORK};
    const chs_result *block;
    chs_reader *reader;

    OK(chs_reader_open(&reader, read_drip, &in, NULL, &err));
    ck_assert_int_eq(chs_reader_next(&block, reader, &err), CHS_ERR_NETWORK);
    ck_assert_str_eq(err.message, "the source broke");
    ck_assert_ptr_null(block);
    ck_assert_int_eq(chs_reader_next(&block, reader, NULL), CHS_ERR_NETWORK);
    chs_reader_close(reader);
}
END_TEST

START_TEST(refuses_every_cut)
{
    static const char good[] = GOOD;
    const chs_result *block;
    chs_reader *reader;
    size_t length;

    for (length = 1; length < sizeof good - 1; length++) {
        OK(chs_reader_open_mem(&reader, good, length, NULL, &err));
        ck_assert_int_eq(chs_reader_next(&block, reader, &err), CHS_ERR_FORMAT);
        ck_assert_uint_le(err.offset, length);
        ck_assert_ptr_null(block);
        ck_assert_int_eq(chs_reader_next(&block, reader, &err), CHS_ERR_FORMAT);
        chs_reader_close(reader);
    }
}
END_TEST

#define LC    "\x01s\x16LowCardinality(String)"
#define U8(n) n "\0\0\0\0\0\0\0"

/* Hostile blocks: their bytes, the code, the offset and a word of the message. */
static const struct bad_row {
    const char *bytes;
    size_t length;
    int code;
    uint64_t offset;
    const char *says;
} bad_rows[] = {
#define BAD(bytes, code, offset, says)                                                             \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, code, offset, says                                               \
    }
    BAD("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", CHS_ERR_FORMAT, 9, "too long"),
    BAD("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", CHS_ERR_LIMIT, 11, "limits"),
    BAD("\x01\xff\xff\xff\xff\x7f", CHS_ERR_LIMIT, 6, "limits"),
    BAD("\x01\x01\xff\xff\xff\xff\x7f", CHS_ERR_FORMAT, 7, "longer than"),
    BAD("\x01\x01\x01v\x10Nullable(String)", CHS_ERR_FORMAT, 21, "convert it in the query"),
    BAD("\x01\x01\x01v\x06String\xff\xff\xff\xff\xff\xff\xff\xff\x7f", CHS_ERR_FORMAT, 20, "ends"),
    BAD("\x01\x01\x01v\x0c"
        "Array(UInt8)" U8("\xff") "x",
        CHS_ERR_FORMAT, 26, "ends"),
    BAD("\x01\x02\x01v\x0c"
        "Array(UInt8)" U8("\x02") U8("\x01"),
        CHS_ERR_FORMAT, 33, "ends before it starts"),
    BAD("\x01\x01" LC U8("\x02"), CHS_ERR_FORMAT, 35, "version 2"),
    BAD("\x01\x01" LC U8("\x01") "\0\x05\0\0\0\0\0\0", CHS_ERR_FORMAT, 43, "unknown form"),
    BAD("\x01\x01" LC U8("\x01") "\x04\x06\0\0\0\0\0\0", CHS_ERR_FORMAT, 43, "unknown form"),
    BAD("\x01\x01" LC U8("\x01") "\0\x06\0\0\0\0\0\0" U8("\x01") "\x01k" U8("\x01") "\x01",
        CHS_ERR_FORMAT, 61, "key 1 of a dictionary of 1"),
    BAD("\x01\x01" LC U8("\x01") "\0\x06\0\0\0\0\0\0" U8("\0") U8("\x01") "\0", CHS_ERR_FORMAT, 59,
        "key 0 of a dictionary of 0"),
    BAD("\x01\x01" LC U8("\x01") "\0\x06\0\0\0\0\0\0" U8("\x01") "\x01k" U8("\0"), CHS_ERR_FORMAT,
        61, "0 dictionary indexes"),
    BAD("\x01\x01" LC U8("\x01") "\0\x06\0\0\0\0\0\0" U8("\x01") "\x01k" U8("\x02"), CHS_ERR_FORMAT,
        61, "2 dictionary indexes"),
    BAD("\x01\x01" LC U8("\x01") "\0\x06\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x01k",
        CHS_ERR_FORMAT, 53, "ends"),
};

START_TEST(refuses_hostile_blocks)
{
    const struct bad_row *row = &bad_rows[_i];
    const chs_result *block;
    chs_reader *reader;

    OK(chs_reader_open_mem(&reader, row->bytes, row->length, NULL, &err));
    ck_assert_int_eq(chs_reader_next(&block, reader, &err), row->code);
    ck_assert_ptr_null(block);
    ck_assert_msg(strstr(err.message, row->says) != NULL, "%s", err.message);
    ck_assert_uint_eq(err.offset, row->offset);
    chs_reader_close(reader);
}
END_TEST

START_TEST(keeps_to_its_memory)
{
    static const char good[] = GOOD;
    chs_reader_options options = CHS_READER_OPTIONS_INIT;
    const chs_result *block;
    chs_reader *reader;

    options.max_block_bytes = 40;
    OK(chs_reader_open_mem(&reader, good, sizeof good - 1, &options, &err));
    ck_assert_int_eq(chs_reader_next(&block, reader, &err), CHS_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "Column s"));
    chs_reader_close(reader);
    options.max_block_bytes = 0;
    options.max_bytes = 20;
    ck_assert_int_eq(chs_reader_open_mem(&reader, good, sizeof good - 1, &options, &err),
                     CHS_ERR_LIMIT);
}
END_TEST

START_TEST(counts_the_bytes_of_a_source)
{
    static const char good[] = GOOD GOOD;
    drip in = {good, sizeof good - 1, 0, 50, 0};
    chs_reader_options options = CHS_READER_OPTIONS_INIT;
    const chs_result *block;
    chs_reader *reader;

    options.max_bytes = 120;
    OK(chs_reader_open(&reader, read_drip, &in, &options, &err));
    OK(chs_reader_next(&block, reader, &err));
    ck_assert_int_eq(chs_reader_next(&block, reader, &err), CHS_ERR_LIMIT);
    chs_reader_close(reader);
}
END_TEST

START_TEST(tells_kinds_apart)
{
    static const char good[] = GOOD;
    const chs_result *block;
    chs_reader *reader;
    chs_uints uints;
    chs_ints ints;
    chs_floats floats;
    chs_strings strings;

    OK(chs_reader_open_mem(&reader, good, sizeof good - 1, NULL, &err));
    OK(chs_reader_next(&block, reader, &err));
    ck_assert_int_eq(chs_result_uints(&uints, block, "s", &err), CHS_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "LowCardinality(String)"));
    ck_assert_int_eq(chs_result_uint_arrays(&uints, block, "n", &err), CHS_ERR_FORMAT);
    ck_assert_int_eq(chs_result_ints(&ints, block, "n", &err), CHS_ERR_FORMAT);
    ck_assert_int_eq(chs_result_floats(&floats, block, "n", &err), CHS_ERR_FORMAT);
    ck_assert_int_eq(chs_result_strings(&strings, block, "absent", &err), CHS_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "no column absent"));
    ck_assert_ptr_null(strings.values);
    chs_reader_close(reader);
}
END_TEST

START_TEST(reads_what_the_block_wrote)
{
    enum { MANY = 70000 }; /* enough keys for four-byte indexes, and more data than one window */
    const chs_result *decoded;
    chs_block *block;
    chs_column *keys, *lists;
    chs_reader *reader;
    chs_strings strings;
    chs_ints ints;
    chs_bytes bytes;
    drip in = {NULL, 0, 0, 4096, 0};
    uint32_t i;

    OK(chs_block_new(&block, NULL, &err));
    OK(chs_block_add_column(&keys, block, "k", "LowCardinality(String)", &err));
    OK(chs_block_add_column(&lists, block, "l", "Array(Int32)", &err));
    for (i = 0; i < MANY; i++) {
        const int64_t list[] = {-(int64_t)i, i};

        (void)chs_append_bytes(keys, &i, sizeof i);
        (void)chs_append_int_array(lists, list, i % 3);
    }
    OK(chs_block_encode(&bytes, block, &err));
    in.data = bytes.data;
    in.length = bytes.length;
    OK(chs_reader_open(&reader, read_drip, &in, NULL, &err));
    OK(chs_reader_next(&decoded, reader, &err));
    OK(chs_result_strings(&strings, decoded, "k", &err));
    OK(chs_result_int_arrays(&ints, decoded, "l", &err));
    ck_assert_uint_eq(strings.count, MANY);
    for (i = 0; i < MANY; i++) {
        uint64_t start = i ? ints.ends[i - 1] : 0;

        ck_assert_mem_eq(strings.values[i].data, &i, sizeof i);
        ck_assert_uint_eq(ints.ends[i] - start, i % 3);
        if (i % 3)
            ck_assert_int_eq(ints.values[start], -(int64_t)i);
    }
    chs_reader_close(reader);
    chs_block_free(block);
}
END_TEST

START_TEST(reads_blocks_without_rows)
{
    static const char empty[] = "\x01\x00\x01s\x16LowCardinality(String)";
    const chs_result *block;
    chs_reader *reader;
    chs_strings strings;

    OK(chs_reader_open_mem(&reader, empty, sizeof empty - 1, NULL, &err));
    OK(chs_reader_next(&block, reader, &err));
    ck_assert_uint_eq(chs_result_rows(block), 0);
    OK(chs_result_strings(&strings, block, "s", &err));
    ck_assert_uint_eq(strings.count, 0);
    OK(chs_reader_next(&block, reader, &err));
    ck_assert_ptr_null(block);
    chs_reader_close(reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-reader");
    TCase *tcase = tcase_create("reader");

    tcase_add_test(tcase, reads_blocks_from_memory);
    tcase_add_loop_test(tcase, reads_blocks_in_pieces, 0, 6);
    tcase_add_test(tcase, passes_on_the_failure_of_its_source);
    tcase_add_test(tcase, refuses_every_cut);
    tcase_add_loop_test(tcase, refuses_hostile_blocks, 0, ROWS(bad_rows));
    tcase_add_test(tcase, keeps_to_its_memory);
    tcase_add_test(tcase, counts_the_bytes_of_a_source);
    tcase_add_test(tcase, tells_kinds_apart);
    tcase_add_test(tcase, reads_what_the_block_wrote);
    tcase_add_test(tcase, reads_blocks_without_rows);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
