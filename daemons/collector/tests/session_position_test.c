/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how far a session's recording was read, across windows that fail and collectors that are
 * killed. Each window of the fake host has 5 bytes. */
#include "fake_host.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>

/* An interval without a border during a test. */
enum { FLUSH_MS = 170000 };

START_TEST(each_window_goes_on_where_the_one_before_ended)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 11500); /* the first window is in the queue */
    ck_assert_uint_eq(host.last_window.offset, 0);
    run_to(NOON + 20500);
    ck_assert_uint_eq(host.last_window.offset, 5);
    ck_assert_uint_eq(host.last_window.settled, 5);
}
END_TEST

START_TEST(what_is_not_in_the_queue_yet_may_be_asked_for_again)
{
    add_rule("Shop", false, 0);
    collector_set_limits(core, &(batch_limits){0}, FLUSH_MS);
    run_to(NOON + 20500);
    ck_assert_uint_eq(host.batches, 0);
    ck_assert_uint_eq(host.last_window.offset, 5);
    ck_assert_uint_eq(host.last_window.settled, 0);
}
END_TEST

START_TEST(a_killed_collectors_batch_is_read_again)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 11500);
    collector_set_limits(core, &(batch_limits){0}, FLUSH_MS);
    run_to(NOON + 22000); /* one window in the queue, one in the current batch */
    ck_assert_uint_eq(host.batches, 1);
    fake_host_begin_anew();
    host.session = SESSION_STATE_ADOPTED;
    host.recording_start = NOON + 10000;
    run_to(NOON + 31500);
    ck_assert_uint_eq(host.last_window.offset, 5);
    ck_assert_uint_eq(host.spans[2].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.spans[2].length_ms, 20000);
}
END_TEST

START_TEST(a_batch_in_the_queue_is_not_read_again)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 22000);
    fake_host_begin_anew();
    host.session = SESSION_STATE_ADOPTED;
    run_to(NOON + 31500);
    ck_assert_uint_eq(host.last_window.offset, 10);
}
END_TEST

START_TEST(another_session_is_read_from_its_beginning)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 22000);
    fake_host_begin_anew();
    host.session_ms = NOON + 22000;
    run_to(NOON + 31500);
    ck_assert_uint_eq(host.last_window.offset, 0);
}
END_TEST

START_TEST(a_window_that_is_gone_when_it_is_fetched_is_asked_for_again)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 8000);
    host.lost_windows = 1;
    run_to(NOON + 11000);
    ck_assert_uint_eq(host.span_count, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_FAILED);
    host.session = SESSION_STATE_ADOPTED;
    run_to(NOON + 30500);
    ck_assert_uint_gt(host.offset_count, 1);
    ck_assert_uint_eq(host.offsets[0], 0);
    ck_assert_uint_eq(host.offsets[1], 0);
    ck_assert_uint_eq(host.spans[0].start_ms, NOON + 3000);
    ck_assert_uint_eq(host.lost_count, 0);
}
END_TEST

/* The profiler ends a chunk a little after the border, when it is asked to. */
START_TEST(time_that_the_window_before_contains_is_covered)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 11500);
    host.covered = WINDOW - 200;
    host.recording_start = NOON + 10150;
    run_to(NOON + 21500);
    ck_assert_uint_eq(status_of(1).last_covered_ms, WINDOW - 50);
    host.session_ms++; /* nothing was recorded before the session's first byte */
    fake_host_begin_anew();
    host.recording_start = NOON + 21700;
    host.covered = 8000;
    run_to(NOON + 31500);
    ck_assert_uint_eq(status_of(1).last_length_ms, 8500);
    ck_assert_uint_eq(status_of(1).last_covered_ms, 8000);
}
END_TEST

TCase *session_position_tests(void)
{
    TCase *tests = tcase_create("session_position");
    tcase_add_checked_fixture(tests, fake_host_set_up, fake_host_tear_down);
    tcase_add_test(tests, each_window_goes_on_where_the_one_before_ended);
    tcase_add_test(tests, what_is_not_in_the_queue_yet_may_be_asked_for_again);
    tcase_add_test(tests, a_killed_collectors_batch_is_read_again);
    tcase_add_test(tests, a_batch_in_the_queue_is_not_read_again);
    tcase_add_test(tests, another_session_is_read_from_its_beginning);
    tcase_add_test(tests, time_that_the_window_before_contains_is_covered);
    tcase_add_test(tests, a_window_that_is_gone_when_it_is_fetched_is_asked_for_again);
    return tests;
}
