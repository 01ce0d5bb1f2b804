/* SPDX-License-Identifier: Apache-2.0 */
#include "read/text_impl.h"
#include "run_suite.h"

#include <string.h>

static jfr__arena arena;

static void setup(void)
{
    jfr__arena_init(&arena, &jfr__malloc, UINT64_MAX);
}

static void teardown(void)
{
    jfr__arena_free(&arena);
}

static const struct {
    const char *bytes;
    size_t len;
    int encoding;
    const char *text; /* NULL = null string */
} strings[] = {
    {"\0", 1, JFR__NULL, NULL},
    {"\1", 1, JFR__EMPTY, ""},
    {"\2\x05", 2, JFR__POOL, NULL},
    {"\3\3abc", 5, JFR__UTF8, "abc"},
    {"\3\0", 2, JFR__UTF8, ""},
    {"\3\2\xC3\xA4", 4, JFR__UTF8, "\xC3\xA4"},
    {"\3\4\xF0\x9F\x98\x80", 6, JFR__UTF8, "\xF0\x9F\x98\x80"},
    /* modified UTF-8: a surrogate pair of three bytes each, as async-profiler writes it */
    {"\3\7x\xED\xA0\xBD\xED\xB8\x80", 9, JFR__UTF8, "x\xF0\x9F\x98\x80"},
    /* a lone high and a lone low surrogate */
    {"\3\4\xED\xA0\xBDz", 6, JFR__UTF8, "\xEF\xBF\xBDz"},
    {"\3\3\xED\xB8\x80", 5, JFR__UTF8, "\xEF\xBF\xBD"},
    /* bytes that are no UTF-8: stray, overlong, cut */
    {"\3\3a\x80z", 5, JFR__UTF8, "a\xEF\xBF\xBDz"},
    {"\3\2\xC1\xBF", 4, JFR__UTF8, "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\3\2\xE2\x82", 4, JFR__UTF8, "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\3\1\xFF", 3, JFR__UTF8, "\xEF\xBF\xBD"},
    /* UTF-16 as varints */
    {"\4\2hi", 4, JFR__UTF16, "hi"},
    {"\4\1\xE4\x01", 4, JFR__UTF16, "\xC3\xA4"},
    {"\4\x0Bnine chars\xE4\x01", 14, JFR__UTF16, "nine chars\xC3\xA4"},
    {"\4\2\xBD\xB0\x03\x80\xBC\x03", 8, JFR__UTF16, "\xF0\x9F\x98\x80"},
    {"\4\1\xBD\xB0\x03", 5, JFR__UTF16, "\xEF\xBF\xBD"},
    {"\5\3abc", 5, JFR__LATIN1, "abc"},
    {"\5\2a\xE4", 4, JFR__LATIN1, "a\xC3\xA4"},
};

static jfr__cursor over(const char *bytes, size_t len)
{
    const uint8_t *p = (const uint8_t *)bytes;
    return (jfr__cursor){p, p, p + len, true, false};
}

START_TEST(decodes)
{
    jfr__cursor c = over(strings[_i].bytes, strings[_i].len);
    jfr_str text;
    uint64_t key = 0;
    jfr_error err;
    int rc = jfr__read_string(&c, &arena, 1000, &text, &key, &err);
    ck_assert_int_eq(rc, strings[_i].encoding);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
    if (strings[_i].text == NULL) {
        ck_assert_ptr_null(text.data);
    } else {
        ck_assert_uint_eq(text.len, strlen(strings[_i].text));
        ck_assert_mem_eq(text.data, strings[_i].text, text.len);
    }
    if (rc == JFR__POOL)
        ck_assert_uint_eq(key, 5);
}
END_TEST

START_TEST(skips_as_it_decodes)
{
    jfr__cursor c = over(strings[_i].bytes, strings[_i].len);
    jfr__skip_string(&c);
    ck_assert(!c.failed);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
}
END_TEST

START_TEST(fails_on_each_cut)
{
    for (size_t cut = 0; cut < strings[_i].len; cut++) {
        jfr__cursor c = over(strings[_i].bytes, cut);
        jfr_str text;
        uint64_t key;
        jfr_error err;
        int rc = jfr__read_string(&c, &arena, 1000, &text, &key, &err);
        ck_assert_int_eq(rc, JFR_ERR_FORMAT);
        ck_assert_uint_eq(err.offset, 0);
        c = over(strings[_i].bytes, cut);
        jfr__skip_string(&c);
        ck_assert(c.failed);
    }
}
END_TEST

START_TEST(refuses_unknown_encoding)
{
    jfr__cursor c = over("\6\1a", 3);
    jfr_str text;
    uint64_t key;
    jfr_error err;
    ck_assert_int_eq(jfr__read_string(&c, &arena, 1000, &text, &key, &err), JFR_ERR_FORMAT);
    c = over("\6\1a", 3);
    jfr__skip_string(&c);
    ck_assert(c.failed);
}
END_TEST

START_TEST(long_string_passes_limit)
{
    jfr__cursor c = over("\3\5abcde", 7);
    jfr_str text;
    uint64_t key;
    jfr_error err;
    ck_assert_int_eq(jfr__read_string(&c, &arena, 4, &text, &key, &err), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_string_bytes"));
}
END_TEST

START_TEST(borrows_plain_text)
{
    static const char *const plain[] = {"\3\3abc", "\4\3abc", "\5\3abc"};
    jfr__cursor c = over(plain[_i], 5);
    jfr_str text;
    uint64_t key;
    ck_assert_int_eq(jfr__read_string(&c, &arena, 1000, &text, &key, NULL), plain[_i][0]);
    ck_assert_ptr_eq(text.data, plain[_i] + 2);
    ck_assert_uint_eq(text.len, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *t = tcase_create("text");
    int rows = (int)(sizeof(strings) / sizeof(strings[0]));
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, decodes, 0, rows);
    tcase_add_loop_test(t, skips_as_it_decodes, 0, rows);
    tcase_add_loop_test(t, fails_on_each_cut, 0, rows);
    tcase_add_test(t, refuses_unknown_encoding);
    tcase_add_test(t, long_string_passes_limit);
    tcase_add_loop_test(t, borrows_plain_text, 0, 3);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
