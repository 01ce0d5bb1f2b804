/* SPDX-License-Identifier: Apache-2.0 */
#include "read/cursor_impl.h"
#include "run_suite.h"

#include <string.h>

static jfr__cursor over(const uint8_t *bytes, size_t len)
{
    return (jfr__cursor){bytes, bytes, bytes + len, true, false};
}

static const struct {
    uint8_t bytes[9];
    size_t len;
    uint64_t value;
} varints[] = {
    {{0x00}, 1, 0},
    {{0x7F}, 1, 127},
    {{0x80, 0x01}, 2, 128},
    {{0x81, 0x00}, 2, 1},                                     /* padded to 2 */
    {{0x85, 0x80, 0x80, 0x00}, 4, 5},                         /* padded to 4 */
    {{0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 8, 5}, /* padded to 8 */
    {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, 8, UINT64_C(0xFFFFFFFFFFFFFF)},
    /* the ninth byte has eight bits of the value and is always the last */
    {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 9, UINT64_MAX},
    {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 9, UINT64_C(1) << 63},
};

START_TEST(reads_varint)
{
    jfr__cursor c = over(varints[_i].bytes, varints[_i].len);
    ck_assert_uint_eq(jfr__varint(&c), varints[_i].value);
    ck_assert(!c.failed);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
}
END_TEST

START_TEST(skips_varint_as_it_reads_it)
{
    jfr__cursor c = over(varints[_i].bytes, varints[_i].len);
    jfr__skip_varints(&c, 1);
    ck_assert(!c.failed);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
}
END_TEST

START_TEST(fails_on_each_cut_varint)
{
    for (size_t cut = 0; cut < varints[_i].len; cut++) {
        jfr__cursor c = over(varints[_i].bytes, cut);
        ck_assert_uint_eq(jfr__varint(&c), 0);
        ck_assert(c.failed);
        ck_assert_uint_eq(jfr__cursor_offset(&c), 0);
    }
}
END_TEST

START_TEST(stays_failed)
{
    const uint8_t bytes[] = {1, 2, 3};
    jfr__cursor c = over(bytes, sizeof(bytes));
    jfr__skip_bytes(&c, 4);
    ck_assert(c.failed);
    ck_assert_uint_eq(jfr__read_u8(&c), 0);
    ck_assert_uint_eq(jfr__varint(&c), 0);
    ck_assert_uint_eq(jfr__read_be(&c, 1), 0);
    ck_assert(c.failed);
}
END_TEST

START_TEST(reads_fixed_width)
{
    const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0, 0, 0, 9};
    jfr__cursor c = over(bytes, sizeof(bytes));
    c.compressed = false;
    ck_assert_uint_eq(jfr__read_long(&c), UINT64_C(0x0102030405060708));
    ck_assert_uint_eq(jfr__read_count(&c), 9);
    ck_assert_uint_eq(jfr__read_long(&c), 0);
    ck_assert(c.failed);
}
END_TEST

START_TEST(refuses_count_that_is_no_int)
{
    const uint8_t bytes[] = {0x80, 0x80, 0x80, 0x80, 0x08}; /* 2^31 */
    jfr__cursor c = over(bytes, sizeof(bytes));
    ck_assert_uint_eq(jfr__read_count(&c), 0);
    ck_assert(c.failed);
}
END_TEST

START_TEST(huge_skip_counts_do_not_loop)
{
    const uint8_t bytes[16] = {0};
    jfr__cursor c = over(bytes, sizeof(bytes));
    jfr__skip_varints(&c, UINT64_MAX);
    ck_assert(c.failed);
    c = over(bytes, sizeof(bytes));
    jfr__skip_bytes(&c, UINT64_MAX);
    ck_assert(c.failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cursor");
    TCase *t = tcase_create("cursor");
    int rows = (int)(sizeof(varints) / sizeof(varints[0]));
    tcase_add_loop_test(t, reads_varint, 0, rows);
    tcase_add_loop_test(t, skips_varint_as_it_reads_it, 0, rows);
    tcase_add_loop_test(t, fails_on_each_cut_varint, 0, rows);
    tcase_add_test(t, stays_failed);
    tcase_add_test(t, reads_fixed_width);
    tcase_add_test(t, refuses_count_that_is_no_int);
    tcase_add_test(t, huge_skip_counts_do_not_loop);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
