/* SPDX-License-Identifier: Apache-2.0 */
/* Books between their pages: who has one, which one finds room, and how long one stays. */
#include <batchform/book.h>
#include <check.h>
#include <string.h>

#include "books.h"
#include "run_suite.h"

enum { IDLE_MS = 1000, ROOM = 10000 /* two empty books */ };

static const uint8_t id[BATCH_ID_SIZE] = {1};
static books *all;

static void set_up(void)
{
    all = books_new(ROOM, IDLE_MS);
    ck_assert_ptr_nonnull(all);
}

static void tear_down(void)
{
    books_free(all);
}

/* One page, which is stored. */
static void write_page(uint64_t number, uint32_t page, uint64_t now_ms)
{
    book *one = NULL;

    ck_assert_int_eq(books_take(all, number, page, &one), BOOKS_TAKEN);
    book_keep(one, id, id);
    books_give(all, one, now_ms);
}

START_TEST(a_book_is_there_for_its_next_page)
{
    book *one = NULL;
    book *other = NULL;

    ck_assert_int_eq(books_take(all, 7, 1, &one), BOOKS_UNKNOWN);
    ck_assert_ptr_null(one);
    write_page(7, 0, 0);
    ck_assert_int_eq(books_take(all, 7, 1, &one), BOOKS_TAKEN);
    ck_assert_uint_eq(book_number(one), 7);
    ck_assert_uint_eq(book_pages(one), 1);
    ck_assert_int_eq(books_take(all, 7, 1, &other), BOOKS_OUT);
    ck_assert_int_eq(books_take(all, 7, 0, &other), BOOKS_OUT);
    books_give(all, one, 0);
    books_stats stats = books_read(all);
    ck_assert_uint_eq(stats.kept, 1);
    ck_assert_uint_eq(stats.bytes, 4096);
    ck_assert_uint_eq(stats.unknown, 1);
    ck_assert_uint_eq(stats.refused, 0);
}
END_TEST

START_TEST(a_book_of_which_nothing_was_stored_is_not_kept)
{
    book *one = NULL;

    ck_assert_int_eq(books_take(all, 7, 0, &one), BOOKS_TAKEN);
    books_give(all, one, 0);
    ck_assert_uint_eq(books_read(all).kept, 0);
    ck_assert_uint_eq(books_read(all).bytes, 0);
}
END_TEST

START_TEST(one_that_finds_no_room_leaves_the_others)
{
    book *one = NULL;

    write_page(1, 0, 0);
    write_page(2, 0, 0);
    write_page(3, 0, 0);
    ck_assert_uint_eq(books_read(all).refused, 1);
    ck_assert_uint_eq(books_read(all).kept, 2);
    ck_assert_int_eq(books_take(all, 3, 1, &one), BOOKS_UNKNOWN);
    write_page(1, 1, 0);
    write_page(2, 1, 0);
}
END_TEST

START_TEST(one_that_nobody_writes_in_makes_room)
{
    book *one = NULL;

    write_page(1, 0, 0);
    write_page(2, 0, IDLE_MS);
    write_page(3, 0, IDLE_MS + 1);
    ck_assert_uint_eq(books_read(all).refused, 0);
    ck_assert_int_eq(books_take(all, 1, 1, &one), BOOKS_UNKNOWN);
    write_page(2, 1, IDLE_MS + 2);
    write_page(3, 1, IDLE_MS + 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("books");
    TCase *tests = tcase_create("books");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_book_is_there_for_its_next_page);
    tcase_add_test(tests, a_book_of_which_nothing_was_stored_is_not_kept);
    tcase_add_test(tests, one_that_finds_no_room_leaves_the_others);
    tcase_add_test(tests, one_that_nobody_writes_in_makes_room);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
