/* SPDX-License-Identifier: Apache-2.0 */
#include "coder_impl.h"

#include <stdlib.h>

#include "support.h"

enum { COUNT = 20000, CONTEXTS = 3 };

/* A coder and where its code goes. */
static struct {
    memory to;
    sagg_sink sink;
    sagg__mem mem;
    sagg__emit emit;
    sagg__coder coder;
} w;

static void begin_code(void)
{
    w.sink = memory_sink(&w.to);
    sagg__mem_init(&w.mem, NULL, UINT64_MAX);
    sagg__emit_begin(&w.emit, &w.sink, &w.mem);
    ck_assert_int_eq(sagg__coder_begin(&w.coder, &w.emit, &w.mem, CONTEXTS), 0);
}

static char *end_code(void)
{
    sagg__coder_end(&w.coder);
    sagg__coder_end(&w.coder); /* does nothing more */
    ck_assert_int_eq(sagg__emit_end(&w.emit, &w.mem), 0);
    ck_assert_uint_eq(w.mem.used, 0);
    return w.to.text;
}

/* The code of numbers, each in the context of its place. */
static char *code_of(const uint64_t *values, size_t count)
{
    begin_code();
    for (size_t i = 0; i < count; i++)
        sagg__coder_number(&w.coder, (uint32_t)(i % CONTEXTS), values[i]);
    return end_code();
}

/* Returns how many digits it took. */
static size_t check(const uint64_t *values, size_t count)
{
    char *text = code_of(values, count);
    size_t size = strlen(text);
    numbers *from = numbers_begin(text);
    size_t good = 0;
    while (good < count && number(from, good % CONTEXTS) == values[good])
        good++;
    ck_assert_uint_eq(good, count);
    numbers_end(from);
    free(text);
    return size;
}

START_TEST(numbers_of_all_sizes_come_back)
{
    static uint64_t values[COUNT];
    uint64_t state = (uint64_t)_i;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t value = (uint64_t)next_random(&state, UINT32_MAX) << 32;
        value |= next_random(&state, UINT32_MAX);
        values[i] = value >> next_random(&state, 64);
    }
    values[0] = UINT64_MAX - 1;
    values[1] = 0;
    (void)check(values, COUNT);
    for (size_t count = 0; count < 200; count++)
        (void)check(values + count, count);
}
END_TEST

/* What is nearly sure takes next to nothing, and then carries run far. */
START_TEST(what_is_likely_is_short)
{
    static uint64_t values[COUNT];
    uint64_t state = 9;
    ck_assert_uint_lt(check(values, COUNT), COUNT / 50);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = next_random(&state, 500) == 0 ? next_random(&state, 1000) : 5;
    ck_assert_uint_lt(check(values, COUNT), COUNT / 20);
}
END_TEST

START_TEST(numbers_below_another_come_back)
{
    enum { ENDS = 96 };
    uint32_t ends[ENDS];
    for (uint32_t i = 0; i < ENDS; i++)
        ends[i] = (UINT32_C(1) << i / 3) + (i % 3 < 2 ? i % 3 : (UINT32_C(1) << i / 3) - 1);
    begin_code();
    for (uint32_t i = 0; i < ENDS; i++) {
        sagg__coder_below(&w.coder, 0, ends[i]);
        sagg__coder_below(&w.coder, ends[i] / 3, ends[i]);
        sagg__coder_below(&w.coder, ends[i] - 1, ends[i]);
        sagg__coder_number(&w.coder, 0, i);
    }
    char *text = end_code();
    numbers *from = numbers_begin(text);
    for (uint32_t i = 0; i < ENDS; i++) {
        ck_assert_uint_eq(number_below(from, ends[i]), 0);
        ck_assert_uint_eq(number_below(from, ends[i]), ends[i] / 3);
        ck_assert_uint_eq(number_below(from, ends[i]), ends[i] - 1);
        ck_assert_uint_eq(number(from, 0), i);
    }
    numbers_end(from);
    free(text);
}
END_TEST

START_TEST(the_greatest_number_is_one_less)
{
    const uint64_t greatest = UINT64_MAX;
    char *text = code_of(&greatest, 1);
    numbers *from = numbers_begin(text);
    ck_assert_uint_eq(number(from, 0), UINT64_MAX - 1);
    numbers_end(from);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coder");
    TCase *tcase = tcase_create("coder");
    tcase_add_loop_test(tcase, numbers_of_all_sizes_come_back, 0, 10);
    tcase_add_test(tcase, what_is_likely_is_short);
    tcase_add_test(tcase, numbers_below_another_come_back);
    tcase_add_test(tcase, the_greatest_number_is_one_less);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
