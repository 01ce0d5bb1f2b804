/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the numbers of distinct strings, also of strings that were chosen against the hash. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "blocks/dictionary_impl.h"
#include "run_suite.h"

static chs__dictionary dictionary;

static void setup(void)
{
    memset(&dictionary, 0, sizeof dictionary);
}

static void teardown(void)
{
    chs__dictionary_free(&dictionary);
}

static uint32_t number_of(const char *text)
{
    uint32_t number;

    ck_assert_int_eq(chs__dictionary_number(&dictionary, text, strlen(text), &number), 0);
    return number;
}

START_TEST(test_numbers_come_in_order_of_first_use)
{
    ck_assert_uint_eq(number_of("b"), 0);
    ck_assert_uint_eq(number_of("a"), 1);
    ck_assert_uint_eq(number_of("b"), 0);
    ck_assert_uint_eq(number_of(""), 2);
    chs__dictionary_clear(&dictionary);
    ck_assert_uint_eq(number_of("a"), 0);
}
END_TEST

/* Returns the longest run of used slots, which a search may have to pass. */
static size_t longest_run(void)
{
    size_t longest = 0, run = 0, i;

    for (i = 0; i < dictionary.slot_count; i++) {
        run = dictionary.slots[i] ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest;
}

START_TEST(test_chosen_strings_do_not_pile_up)
{
    enum { KEYS = 4000, SLOTS = 256 };
    unsigned long made = 0;
    char key[24];

    /* With an unseeded hash, all of them would be in the first 256 slots. */
    while (dictionary.count < KEYS) {
        int length = snprintf(key, sizeof key, "%lx", made++);

        if ((XXH3_64bits(key, (size_t)length) & 16383) < SLOTS)
            number_of(key);
    }
    ck_assert_uint_lt(longest_run(), KEYS / 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-dictionary");
    TCase *tcase = tcase_create("dictionary");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_numbers_come_in_order_of_first_use);
    tcase_add_test(tcase, test_chosen_strings_do_not_pile_up);
    return run_suite(suite);
}
