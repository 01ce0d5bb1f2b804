/* SPDX-License-Identifier: Apache-2.0 */
#include "run_suite.h"
#include "span.h"

#include <string.h>

static const struct {
    const char *text;
    int base;
    bool ok;
    uint64_t value;
} numbers[] = {
    {"0", 10, true, 0},
    {"18446744073709551615", 10, true, UINT64_MAX},
    {"18446744073709551616", 10, false, 0},
    {"", 10, false, 0},
    {"-1", 10, false, 0},
    {" 1", 10, false, 0},
    {"12x", 10, false, 0},
    {"00000000180014cf", 16, true, 0x180014cf},
    {"1ffffffffffffffff", 16, false, 0},
};

START_TEST(reads_numbers)
{
    uint64_t value = 0;
    ck_assert_int_eq(attach__parse_u64(span(numbers[_i].text), numbers[_i].base, &value),
                     numbers[_i].ok);
    if (numbers[_i].ok)
        ck_assert_uint_eq(value, numbers[_i].value);
}
END_TEST

/* Strings that a target may write and that end on a terminal or in JSON. */
static const struct {
    const char *in;
    const char *out;
} texts[] = {
    {"plain", "plain"},
    {"caf\xc3\xa9", "caf\xc3\xa9"},
    {"\x1b[31mred", "?[31mred"},
    {"a\nb\tc", "a?b?c"},
    {"\xff\xfe", "??"},
    {"\xc0\xaf", "??"},
    {"\xed\xa0\x80", "???"},
    {"\xc2\x85", "??"},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xf4\x90\x80\x80", "????"},
    {"cut\xe2\x82", "cut??"},
};

START_TEST(makes_text_printable)
{
    char out[32];
    attach__copy_text(out, sizeof(out), span(texts[_i].in));
    ck_assert_str_eq(out, texts[_i].out);
}
END_TEST

START_TEST(cuts_between_characters)
{
    char out[4];
    attach__copy_text(out, sizeof(out), span("ab\xc3\xa9z"));
    ck_assert_str_eq(out, "ab");
}
END_TEST

START_TEST(undoes_kernel_escapes)
{
    char out[16];
    ck_assert(attach__copy_unescaped(out, sizeof(out), span("/a\\040b\\012")));
    ck_assert_str_eq(out, "/a b\n");
    ck_assert(attach__copy_unescaped(out, sizeof(out), span("\\9zz\\04")));
    ck_assert_str_eq(out, "\\9zz\\04");
    ck_assert(!attach__copy_unescaped(out, sizeof(out), span("0123456789abcdef")));
    ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(takes_paths_apart)
{
    ck_assert(attach__span_is(attach__span_basename(span("/a/b.so")), "b.so"));
    ck_assert(attach__span_is(attach__span_dirname(span("/a/b.so")), "/a"));
    ck_assert(attach__span_is(attach__span_dirname(span("/b.so")), ""));
    ck_assert(attach__span_is(attach__span_basename(span("b.so")), "b.so"));
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("text");
    tcase_add_loop_test(tc, reads_numbers, 0, ROWS(numbers));
    tcase_add_loop_test(tc, makes_text_printable, 0, ROWS(texts));
    tcase_add_test(tc, cuts_between_characters);
    tcase_add_test(tc, undoes_kernel_escapes);
    tcase_add_test(tc, takes_paths_apart);
    Suite *suite = suite_create("text");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
