/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a text that had to be converted and that very many entries refer to: it must not be stored
 * once for each of them. */
#include "support/anything.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 1000, LONG = 30000, SYMBOL = 900, FIRST = 1000, STRING = 40 };

/* Writes a class name in Latin-1 whose first letter is not ASCII. */
static void put_long_text(void)
{
    put_u8(&w, 5);
    put_int(&w, LONG);
    put_u8(&w, 0xE4);
    for (int i = 1; i < LONG; i++)
        put_u8(&w, i % 10 == 5 ? '/' : 'a');
}

static void put_pools_of_one_name(void)
{
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, SYMBOL);
    put_long_text();
    begin_pool(&w, T_STRING, 1);
    put_long(&w, STRING);
    put_long_text();
    begin_pool(&w, T_CLASS, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        put_long(&w, FIRST + i);
        put_long(&w, SYMBOL);
        put_int(&w, 0);
    }
    begin_pool(&w, T_METHOD, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        put_long(&w, FIRST + i);
        put_long(&w, FIRST + i);
        put_long(&w, SYMBOL);
        put_long(&w, SYMBOL);
        put_u8(&w, 0);
    }
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 1);
    put_u8(&w, 0);
    put_int(&w, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        put_long(&w, FIRST + i);
        put_int(&w, 1);
        put_int(&w, 0);
        put_long(&w, 0);
    }
    end_checkpoint(&w, checkpoint);
}

static void write_chunk_of_one_name(void)
{
    begin_chunk(&w, &params);
    put_pools_of_one_name();
    end_chunk(&w, &params);
}

static void setup(void)
{
    fixture_setup();
    options.max_decoded_bytes = 1 << 20;
}

START_TEST(of_classes)
{
    jfr_class klass;
    write_chunk_of_one_name();
    open_first_chunk();
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(jfr_chunk_class(chunk, i, &klass, &err), 0);
        ck_assert_uint_eq(klass.name.len, LONG + 1);
        ck_assert_mem_eq(klass.name.data,
                         "\xC3\xA4"
                         "aaaa.aaaa",
                         11);
    }
}
END_TEST

START_TEST(of_methods)
{
    jfr_stack stack;
    write_chunk_of_one_name();
    open_first_chunk();
    ck_assert_int_eq(jfr_chunk_stack(chunk, 0, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        const jfr_method *method = stack.frames[i].method;
        ck_assert_mem_eq(method->class_name.data + 2, "aaaa.aaaa", 9);
        ck_assert_mem_eq(method->name.data + 2, "aaaa/aaaa", 9);
        ck_assert_mem_eq(method->descriptor.data + 2, "aaaa/aaaa", 9);
    }
}
END_TEST

START_TEST(of_settings)
{
    jfr_setting setting;
    begin_chunk(&w, &params);
    put_pools_of_one_name();
    for (int i = 0; i < MANY; i++) {
        size_t event = begin_event(&w, T_SETTING);
        put_long(&w, 0);
        put_long(&w, w.base + T_EXECUTION);
        put_text(&w, "period");
        put_u8(&w, 2); /* in the pool of strings */
        put_long(&w, STRING);
        end_event(&w, event);
    }
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_setting_count(chunk), MANY);
    ck_assert_int_eq(jfr_chunk_setting(chunk, MANY - 1, &setting, &err), 0);
    ck_assert_uint_eq(setting.value.len, LONG + 1);
    assert_str(setting.name, "period");
}
END_TEST

/* The texts of one chunk must not be used for the next. */
START_TEST(of_one_chunk)
{
    jfr_class klass;
    write_chunk_of_one_name();
    size_t size = w.len;
    write_chunk_of_one_name();
    uint8_t *second = memchr(w.data + size, 0xE4, w.len - size);
    ck_assert_ptr_nonnull(second);
    second[1] = 'b';
    open_first_chunk();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(jfr_chunk_class(chunk, 0, &klass, &err), 0);
        ck_assert_int_eq(klass.name.data[2], i == 0 ? 'a' : 'b');
        if (i == 0)
            next_chunk();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kept");
    TCase *t = tcase_create("kept");
    tcase_add_checked_fixture(t, setup, fixture_teardown);
    tcase_add_test(t, of_classes);
    tcase_add_test(t, of_methods);
    tcase_add_test(t, of_settings);
    tcase_add_test(t, of_one_chunk);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
