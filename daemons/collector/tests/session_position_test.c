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

/* Kills the collector while one window is in the queue and one is in the current batch. */
static void kill_collector(void)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 11500);
    size_t batches = host.batches;
    collector_set_limits(core, &(batch_limits){0}, FLUSH_MS);
    run_to(NOON + 22000);
    ck_assert_uint_eq(host.batches, batches);
    fake_host_begin_anew();
}

static void expect_lost(uint64_t from_ms, uint64_t to_ms, uint32_t reason)
{
    ck_assert_uint_eq(host.lost_count, 2); /* of each event */
    for (size_t i = 0; i < host.lost_count; i++) {
        ck_assert_uint_eq(host.lost[i].start_ms, from_ms);
        ck_assert_uint_eq(host.lost[i].start_ms + host.lost[i].length_ms, to_ms);
        ck_assert_uint_eq(host.lost[i].reason, reason);
    }
}

START_TEST(a_killed_collectors_session_that_has_ended_is_told_as_lost)
{
    kill_collector();
    host.session_ms = NOON + 22000;
    run_to(NOON + 31500);
    expect_lost(NOON + 10000, NOON + 22000, REASON_COLLECTOR_RESTARTED);
    ck_assert_uint_eq(host.spans[2].start_ms, NOON + 22000);
}
END_TEST

/* attachd restarted the session for the killed collector, which had no time to read the new one. */
START_TEST(a_killed_collectors_session_that_was_begun_anew_is_read_from_its_beginning)
{
    kill_collector();
    host.session = SESSION_STATE_ADOPTED;
    host.session_ms = NOON + 15000;
    host.start_offset = 50; /* the bytes that it has handed out are in no queue */
    run_to(NOON + 31500);
    expect_lost(NOON + 10000, NOON + 15000, REASON_COLLECTOR_RESTARTED);
    ck_assert_uint_eq(host.spans[2].start_ms, NOON + 15000);
    ck_assert_uint_eq(host.last_window.offset, 0);
}
END_TEST

START_TEST(a_jvm_that_began_after_the_last_batch_is_read_from_its_beginning)
{
    kill_collector();
    host.jvms[0] = sample_jvm(3);
    host.session = SESSION_STATE_ADOPTED;
    host.session_ms = NOON + 12000;
    host.start_offset = 50;
    run_to(NOON + 31500);
    ck_assert_uint_eq(host.last_window.offset, 0);
}
END_TEST

START_TEST(a_jvm_that_ended_without_a_collector_is_told_as_lost)
{
    kill_collector();
    host.jvm_count = 0;
    run_to(NOON + 31500);
    expect_lost(NOON + 10000, NOON + 22000, REASON_PROCESS_EXITED);
    target_status exited = status_of(1);
    ck_assert_uint_eq(exited.state, TARGET_STATE_EXITED);
    ck_assert_str_eq(exited.labels.workload, "Shop");
}
END_TEST

START_TEST(a_jvm_that_ends_before_its_session_is_taken_over_is_told_as_lost)
{
    kill_collector();
    host.start_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 25000);
    host.jvm_count = 0;
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.lost_count, 2);
    ck_assert_uint_eq(host.lost[0].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.lost[0].reason, REASON_PROCESS_EXITED);
}
END_TEST

START_TEST(time_that_a_killed_collector_knew_as_lost_is_told)
{
    host.start_reason = REASON_ATTACH_TIMEOUT;
    add_rule("Shop", false, 0);
    run_to(NOON + 16000);
    collector_set_limits(core, &(batch_limits){0}, FLUSH_MS);
    size_t told = host.lost_count;
    ck_assert_uint_gt(told, 0);
    uint64_t told_ms = host.lost[told - 1].start_ms + host.lost[told - 1].length_ms;
    run_to(NOON + 40000);
    ck_assert_uint_eq(host.lost_count, told);
    fake_host_begin_anew();
    host.start_reason = REASON_NONE;
    run_to(NOON + 51500);
    ck_assert_uint_eq(host.lost_count, told + 2);
    ck_assert_uint_eq(host.lost[told].start_ms, told_ms);
    ck_assert_uint_eq(host.lost[told].length_ms, NOON + 40000 - told_ms);
}
END_TEST

START_TEST(thread_snapshots_of_a_killed_collector_are_told_as_lost)
{
    host.threads_ms = 5000;
    kill_collector();
    host.session = SESSION_STATE_ADOPTED;
    size_t before = host.queued_snapshot_count;
    run_to(NOON + 31500);
    ck_assert_uint_gt(host.queued_snapshot_count, before + 1);
    ck_assert_uint_eq(host.queued_snapshots[before].reason, REASON_COLLECTOR_RESTARTED);
    ck_assert_uint_eq(host.queued_snapshots[before].taken_ms, NOON + 22000);
    ck_assert_uint_eq(host.queued_snapshots[before + 1].reason, REASON_NONE);
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
    tcase_add_test(tests, a_killed_collectors_session_that_has_ended_is_told_as_lost);
    tcase_add_test(tests,
                   a_killed_collectors_session_that_was_begun_anew_is_read_from_its_beginning);
    tcase_add_test(tests, a_jvm_that_began_after_the_last_batch_is_read_from_its_beginning);
    tcase_add_test(tests, a_jvm_that_ended_without_a_collector_is_told_as_lost);
    tcase_add_test(tests, a_jvm_that_ends_before_its_session_is_taken_over_is_told_as_lost);
    tcase_add_test(tests, time_that_a_killed_collector_knew_as_lost_is_told);
    tcase_add_test(tests, thread_snapshots_of_a_killed_collector_are_told_as_lost);
    tcase_add_test(tests, another_session_is_read_from_its_beginning);
    tcase_add_test(tests, time_that_the_window_before_contains_is_covered);
    tcase_add_test(tests, a_window_that_is_gone_when_it_is_fetched_is_asked_for_again);
    return tests;
}
