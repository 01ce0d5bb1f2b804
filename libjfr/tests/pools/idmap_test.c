/* SPDX-License-Identifier: Apache-2.0 */
#include "pools/idmap_impl.h"
#include "run_suite.h"

#include <jfr/sample.h>

static jfr__idmap map;

static void setup(void)
{
    jfr__idmap_init(&map, &jfr__malloc);
}

static void teardown(void)
{
    jfr__idmap_free(&map);
}

/* Returns keys that are dense or spread, and that ascend or alternate. */
static uint64_t key_of(int kind, uint64_t i)
{
    uint64_t place = kind & 2 ? i ^ 1 : i;
    return kind & 1 ? place * UINT64_C(0x100000001) + 3 : place + 1;
}

/* Dense ids use the table by id, spread ones the hash table, and ascending ones a list until the
 * end: all give the same results. */
START_TEST(finds_what_was_put)
{
    for (uint32_t i = 0; i < 5000; i++) {
        ck_assert_uint_eq(jfr__idmap_put(&map, key_of(_i, i)), i);
        ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, i / 2)), i / 2);
        ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, 5000 + i)), JFR_NONE);
    }
    ck_assert_int_eq(map.capacity != 0, _i == 3);
    ck_assert_int_eq(map.direct != NULL, _i == 2);
    ck_assert_uint_eq(jfr__idmap_put(&map, key_of(_i, 17)), 17);
    jfr__idmap_finish(&map);
    ck_assert_int_eq(map.direct != NULL, (_i & 1) == 0);
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, i)), i);
    ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, 5000)), JFR_NONE);
    ck_assert_uint_eq(jfr__idmap_find(&map, 0), JFR_NONE);
    ck_assert_uint_eq(jfr__idmap_find(&map, UINT64_MAX), JFR_NONE);
}
END_TEST

/*
 * Adds a key that exists, one between others, and one far from all: list, table by id, hash table.
 */
START_TEST(a_list_becomes_tables)
{
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(jfr__idmap_put(&map, 10 + 10 * i), i);
    ck_assert_uint_eq(jfr__idmap_put(&map, 500), 49);
    ck_assert(map.direct == NULL && map.capacity == 0);
    ck_assert_uint_eq(jfr__idmap_put(&map, 501), 100);
    ck_assert(map.direct != NULL && map.capacity == 0);
    ck_assert_uint_eq(jfr__idmap_put(&map, 2000), 101);
    ck_assert_uint_eq(jfr__idmap_find(&map, 1999), JFR_NONE);
    ck_assert_uint_eq(jfr__idmap_put(&map, UINT64_MAX), 102);
    ck_assert(map.direct == NULL && map.capacity != 0);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(jfr__idmap_put(&map, 10 + 10 * i), i);
    ck_assert_uint_eq(jfr__idmap_find(&map, 501), 100);
    ck_assert_uint_eq(jfr__idmap_find(&map, 2000), 101);
    ck_assert_uint_eq(jfr__idmap_find(&map, UINT64_MAX), 102);
    ck_assert_uint_eq(jfr__idmap_find(&map, 1999), JFR_NONE);
}
END_TEST

/* Keys can be added after the table was finished, in every form. */
START_TEST(puts_after_the_finish)
{
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(jfr__idmap_put(&map, key_of(_i, i)), i);
    for (uint32_t i = 100; i < 1000; i++) {
        jfr__idmap_finish(&map);
        ck_assert_uint_eq(jfr__idmap_put(&map, key_of(_i, i)), i);
        ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, i)), i);
    }
    ck_assert_uint_eq(jfr__idmap_put(&map, UINT64_MAX), 1000);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, i)), i);
}
END_TEST

/* The map reuses its memory, but finds none of the old keys. */
START_TEST(clear_forgets)
{
    for (uint32_t i = 0; i < 100; i++)
        jfr__idmap_put(&map, key_of(_i, i));
    jfr__idmap_finish(&map);
    jfr__idmap_clear(&map);
    ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, 4)), JFR_NONE);
    ck_assert_uint_eq(jfr__idmap_put(&map, key_of(_i, 99)), 0);
    jfr__idmap_finish(&map);
    ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, 99)), 0);
    for (uint32_t i = 0; i < 98; i++)
        ck_assert_uint_eq(jfr__idmap_find(&map, key_of(_i, i)), JFR_NONE);
}
END_TEST

START_TEST(empty_finds_nothing)
{
    jfr__idmap_finish(&map);
    ck_assert_uint_eq(jfr__idmap_find(&map, 0), JFR_NONE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idmap");
    TCase *t = tcase_create("idmap");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, finds_what_was_put, 0, 4);
    tcase_add_test(t, a_list_becomes_tables);
    tcase_add_loop_test(t, puts_after_the_finish, 0, 4);
    tcase_add_loop_test(t, clear_forgets, 0, 4);
    tcase_add_test(t, empty_finds_nothing);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
