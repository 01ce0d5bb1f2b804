/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_suite.h"
#include "stack_cache.h"

enum { BYTES = 64 * 1024, DEPTH = 10 };

static stack_cache *c;

/* Makes stack number i: its methods are unique, its classes and files repeat. */
static void make(stack_row *row, uint8_t id[STACK_ID_BYTES], stack_frame frames[DEPTH],
                 char names[DEPTH][32], unsigned i)
{
    memset(id, 0, STACK_ID_BYTES);
    memcpy(id, &i, sizeof(i));
    for (unsigned f = 0; f < DEPTH; f++) {
        snprintf(names[f], 32, "method%u-%u", i, f);
        frames[f] = (stack_frame){.class_name = text_of(f < 5 ? "com.acme.Cart" : "com.acme.Shop"),
                                  .method = text_of(names[f]),
                                  .file = text_of("Cart.java"),
                                  .line = 10 * i + f,
                                  .kind = 1};
    }
    *row = (stack_row){id, i % 2, frames, DEPTH};
}

static void put(unsigned i)
{
    uint8_t id[STACK_ID_BYTES];
    stack_frame frames[DEPTH];
    char names[DEPTH][32];
    stack_row row;

    make(&row, id, frames, names, i);
    stack_cache_put(c, &row);
}

static int expect(void *context, const stack_row *row)
{
    unsigned i = *(unsigned *)context;
    char name[32];

    ck_assert_uint_eq(row->depth, DEPTH);
    ck_assert_uint_eq(row->flags, i % 2);
    for (unsigned f = 0; f < DEPTH; f++) {
        snprintf(name, sizeof(name), "method%u-%u", i, f);
        ck_assert(text_equal(row->frames[f].method, text_of(name)));
        ck_assert(text_equal(row->frames[f].class_name,
                             text_of(f < 5 ? "com.acme.Cart" : "com.acme.Shop")));
        ck_assert(text_equal(row->frames[f].file, text_of("Cart.java")));
        ck_assert_uint_eq(row->frames[f].line, 10 * i + f);
    }
    return 0;
}

static bool has(unsigned i)
{
    uint8_t id[STACK_ID_BYTES] = {0};
    bool found;

    memcpy(id, &i, sizeof(i));
    ck_assert_int_eq(stack_cache_give(c, id, expect, &i, &found), 0);
    return found;
}

static void set_up(void)
{
    c = stack_cache_new(BYTES);
}

static void tear_down(void)
{
    stack_cache_free(c);
}

START_TEST(test_what_was_put_is_given)
{
    for (unsigned i = 0; i < 20; i++)
        put(i);
    put(7);
    for (unsigned i = 0; i < 20; i++)
        ck_assert(has(i));
    ck_assert(!has(20));
    stack_cache_stats stats = stack_cache_read(c);
    ck_assert_uint_eq(stats.stacks, 20);
    ck_assert_uint_eq(stats.hits, 20);
    ck_assert_uint_eq(stats.misses, 1);
    ck_assert_uint_eq(stats.evictions, 0);
}
END_TEST

START_TEST(test_memory_is_bounded_and_what_is_used_stays)
{
    for (unsigned i = 0; i < 1000; i++) {
        put(i);
        ck_assert(has(0));
        ck_assert_uint_le(stack_cache_read(c).bytes, BYTES);
    }
    ck_assert(has(999));
    ck_assert(!has(1));
    stack_cache_stats stats = stack_cache_read(c);
    ck_assert_uint_gt(stats.stacks, 10);
    ck_assert_uint_eq(stats.evictions + stats.stacks, 1000);
}
END_TEST

/* A stack that is removed while a call reads it stays in memory until that call ends. */
static int crowd_out(void *context, const stack_row *row)
{
    for (unsigned i = 1; i < 1000; i++)
        put(i);
    return expect(context, row);
}

START_TEST(test_a_stack_in_use_outlives_its_eviction)
{
    uint8_t id[STACK_ID_BYTES] = {0};
    unsigned first = 0;
    bool found;

    put(first);
    ck_assert_int_eq(stack_cache_give(c, id, crowd_out, &first, &found), 0);
    ck_assert(found);
    ck_assert(!has(first));
}
END_TEST

START_TEST(test_without_a_cache_nothing_is_held)
{
    stack_cache_free(c);
    c = NULL;
    put(1);
    ck_assert(!has(1));
    ck_assert_uint_eq(stack_cache_read(c).stacks, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-stack-cache");
    TCase *tcase = tcase_create("stack-cache");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_what_was_put_is_given);
    tcase_add_test(tcase, test_memory_is_bounded_and_what_is_used_stays);
    tcase_add_test(tcase, test_a_stack_in_use_outlives_its_eviction);
    tcase_add_test(tcase, test_without_a_cache_nothing_is_held);
    return run_suite(suite);
}
