/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which stacks the backend remembers, and when it forgets them. */
#include <check.h>
#include <string.h>

#include "known_stacks.h"
#include "run_suite.h"

static void make_id(uint8_t id[STACK_ID_BYTES], uint32_t number)
{
    memset(id, 0, STACK_ID_BYTES);
    memcpy(id, &number, sizeof(number));
}

static void add(known_stacks *k, uint64_t owner, uint32_t number)
{
    uint8_t id[STACK_ID_BYTES];
    make_id(id, number);
    known_stacks_add(k, owner, id);
}

static bool has(known_stacks *k, uint64_t owner, uint32_t number)
{
    uint8_t id[STACK_ID_BYTES];
    make_id(id, number);
    return known_stacks_has(k, owner, id);
}

START_TEST(stacks_are_known_by_service_and_day)
{
    const service_key keys[] = {
        {text_of("east"), text_of("shop"), text_of("cart")},
        {text_of("west"), text_of("shop"), text_of("cart")},
        {text_of("east"), text_of("bank"), text_of("cart")},
        {text_of("east"), text_of("shop"), text_of("pay")},
        {text_of("eastshop"), text_of(""), text_of("cart")},
    };
    known_stacks *k = known_stacks_new(100, 1000);
    uint64_t owner = known_stacks_owner(k, &keys[0], 20000);

    add(k, owner, 7);
    ck_assert(has(k, known_stacks_owner(k, &keys[0], 20000), 7));
    ck_assert(!has(k, owner, 8));
    ck_assert(!has(k, known_stacks_owner(k, &keys[0], 20001), 7));
    for (size_t i = 1; i < sizeof(keys) / sizeof(keys[0]); i++)
        ck_assert(!has(k, known_stacks_owner(k, &keys[i], 20000), 7));
    known_stacks_stats stats = known_stacks_read(k);
    ck_assert_uint_eq(stats.stacks, 1);
    ck_assert_uint_eq(stats.hits, 1);
    ck_assert_uint_eq(stats.misses, 6);
    known_stacks_free(k);
}
END_TEST

/* Of more stacks than fit, it remembers the latest: at least half of the limit. */
START_TEST(no_more_are_kept_than_it_may)
{
    static const size_t mosts[] = {0, 1, 2, 3, 100, 4096};
    const size_t most = mosts[_i] > 2 ? mosts[_i] : 2;
    known_stacks *k = known_stacks_new(mosts[_i], 1000);

    for (uint32_t i = 0; i < 20000; i++) {
        add(k, 1, i);
        add(k, 1, i); /* adding a stack again takes no room */
        ck_assert_uint_le(known_stacks_read(k).stacks, most);
        for (uint32_t back = 0; back < most / 2 && back <= i; back += 1 + (uint32_t)most / 16)
            ck_assert(has(k, 1, i - back));
    }
    ck_assert(!has(k, 1, 0));
    known_stacks_free(k);
}
END_TEST

START_TEST(what_is_old_is_forgotten)
{
    known_stacks *k = known_stacks_new(100, 1000);

    known_stacks_pass(k, 50000);
    add(k, 1, 1);
    known_stacks_pass(k, 50999);
    ck_assert(has(k, 1, 1));
    known_stacks_pass(k, 51000);
    add(k, 1, 2);
    ck_assert(has(k, 1, 1)); /* for up to twice as long */
    known_stacks_pass(k, 52000);
    ck_assert(!has(k, 1, 1));
    ck_assert(has(k, 1, 2));
    ck_assert_uint_eq(known_stacks_read(k).stacks, 1);
    known_stacks_pass(k, 54000); /* long after */
    ck_assert(!has(k, 1, 2));
    add(k, 1, 3);
    known_stacks_pass(k, 53000); /* the clock was set back */
    ck_assert(!has(k, 1, 3));
    known_stacks_free(k);
}
END_TEST

START_TEST(a_clear_forgets_all)
{
    known_stacks *k = known_stacks_new(4, 1000);

    for (uint32_t i = 0; i < 4; i++)
        add(k, 1, i);
    ck_assert_uint_eq(known_stacks_read(k).stacks, 4);
    known_stacks_clear(k);
    ck_assert_uint_eq(known_stacks_read(k).stacks, 0);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert(!has(k, 1, i));
    add(k, 1, 3);
    ck_assert(has(k, 1, 3));
    known_stacks_free(k);
    known_stacks_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-known-stacks");
    TCase *tcase = tcase_create("known stacks");

    tcase_add_test(tcase, stacks_are_known_by_service_and_day);
    tcase_add_loop_test(tcase, no_more_are_kept_than_it_may, 0, 6);
    tcase_add_test(tcase, what_is_old_is_forgotten);
    tcase_add_test(tcase, a_clear_forgets_all);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
