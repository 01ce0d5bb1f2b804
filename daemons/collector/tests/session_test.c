/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sessions of one JVM or more: windows, snapshots, failures, losses, the end. */
#include "fake_host.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <string.h>

/* The first window begins with the session, the others begin at borders. */
START_TEST(a_chosen_jvm_gives_aligned_windows)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_CPU], 10000000);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_LOCK], 0);
    ck_assert_uint_eq(host.span_count, 4);
    for (size_t i = 0; i < 4; i++) {
        uint64_t start_ms = i == 0 ? NOON + 3000 : NOON + WINDOW * i;
        ck_assert_uint_eq(host.spans[i].start_ms, start_ms);
        ck_assert_uint_eq(start_ms + host.spans[i].length_ms, NOON + WINDOW * (i + 1));
    }
    ck_assert_uint_eq(host.reads_done, 4);
    ck_assert_uint_eq(host.queued_windows, 8);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 4);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status.reason, REASON_NONE);
    ck_assert_uint_eq(status.mode, TARGET_MODE_CONTINUOUS);
    ck_assert_uint_eq(status.until_ms, 0);
    ck_assert_uint_eq(status.last_window_ms, NOON + 30000);
    ck_assert_uint_eq(status.last_length_ms, WINDOW);
    ck_assert_uint_eq(status.last_covered_ms, WINDOW);
    ck_assert_uint_eq(status.collector_ns, 1000001); /* plus 1 */
}
END_TEST

/* The backend's interval applies as soon as it has sent one, whatever the phase. */
START_TEST(one_batch_is_cut_in_the_interval_that_the_backend_asks_for)
{
    const batch_limits none = {0};
    add_rule("Shop", false, 0);
    collector_set_limits(core, &none, 60000);
    run_to(NOON + 601500);
    ck_assert_uint_eq(host.span_count, 60);
    ck_assert_uint_ge(host.batches, 9);
    ck_assert_uint_le(host.batches, 10);
    collector_set_limits(core, &none, 10000);
    size_t before = host.batches;
    run_to(NOON + 631500);
    ck_assert_uint_ge(host.batches - before, 3);
}
END_TEST

/* The profiler counts for all types together, so that each of the two types reports the number. */
START_TEST(what_attachd_lacks_and_workers_that_hang_are_counted)
{
    run_to(NOON + 5000);
    ck_assert_uint_eq(collector_get_stats(core).workers_unreaped, 2);
    ck_assert_uint_eq(collector_get_stats(core).attachd_lacks, 2);
}
END_TEST

START_TEST(events_that_the_profiler_dropped_are_told)
{
    add_rule("Shop", false, 0);
    host.dropped = 7;
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.last_start.rate_limit, 500);
    ck_assert_uint_eq(host.queued_windows, 8);
    ck_assert_uint_eq(host.queued_lost, 8 * 7);
    ck_assert_uint_eq(collector_get_stats(core).dropped_events, 4 * 7);
}
END_TEST

START_TEST(events_past_the_cap_of_a_window_are_told)
{
    add_rule("Shop", false, 0);
    host.excess = 7;
    run_to(NOON + 21500);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status_of(1).reason, REASON_EVENT_LIMIT);
    ck_assert_mem_eq(status_of(1).detail, "7 events", 8);
    ck_assert_uint_eq(collector_get_stats(core).excess_events, 14);
    host.excess = 0;
    run_to(NOON + 31500);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
    ck_assert_str_eq(status_of(1).detail, "");
}
END_TEST

START_TEST(an_event_that_the_profiler_refuses_has_no_data_and_a_reason)
{
    add_rule("Shop", false, 0);
    host.absent = 1 << EVENT_ALLOC;
    run_to(NOON + 5001); /* before the first window, and after it */
    for (int i = 0; i < 2; i++) {
        target_status status = status_of(1);
        ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
        ck_assert_uint_eq(status.reason, REASON_EVENT_REFUSED);
        ck_assert_str_eq(status.detail, "alloc: no such thing");
        run_to(NOON + 11500);
    }
    ck_assert_uint_eq(host.last_start.events.of[EVENT_ALLOC], 2097152); /* asked for */
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(host.parsed.of[EVENT_ALLOC], 0);
    ck_assert_uint_eq(host.parsed.of[EVENT_CPU], 10000000);
}
END_TEST

START_TEST(windows_of_several_jvms_share_a_batch)
{
    add_rule("Shop", false, 0);
    host.jvms[1] = sample_jvm(2);
    host.jvm_count = 2;
    run_to(NOON + 11500);
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.batches, 1);
    ck_assert_uint_eq(host.queued_windows, 4);
}
END_TEST

START_TEST(windows_end_at_midnight_and_days_do_not_mix)
{
    uint64_t midnight = (NOON / MS_PER_DAY + 1) * MS_PER_DAY;
    add_rule("Shop", false, 0);
    host.now = midnight - 14000;
    run_to(midnight + 12000);
    ck_assert_uint_eq(host.span_count, 3);
    ck_assert_uint_eq(host.spans[1].start_ms + host.spans[1].length_ms, midnight);
    ck_assert_uint_eq(host.spans[2].start_ms, midnight);
    ck_assert_uint_eq(host.batches, 3);
    ck_assert_uint_eq(host.days[1] + 1, host.days[2]);
}
END_TEST

START_TEST(snapshots_are_taken_beside_windows)
{
    host.threads_ms = 4000;
    add_rule("Shop", false, 0);
    run_to(NOON + 13000);
    ck_assert_uint_eq(host.snapshots, 4); /* at once, then at 4, 8 and 12 s */
    ck_assert_uint_eq(host.lease_ms, 12000);
    ck_assert_uint_eq(host.windows, 1);
    ck_assert_uint_eq(host.queued_snapshot_count, 4);
    ck_assert_uint_eq(host.queued_snapshots[0].taken_ms, NOON + 3000);
    ck_assert_uint_eq(host.queued_snapshots[0].interval_ms, 0);
    ck_assert_uint_eq(host.queued_snapshots[1].taken_ms, NOON + 4000);
    ck_assert_uint_eq(host.queued_snapshots[1].interval_ms, 4000);
    host.jvm_count = 0;
    run_to(NOON + 30000);
    ck_assert_uint_eq(host.snapshots_forgotten, 1);
}
END_TEST

/* Profiles continue, and the store gets the reason of the missing snapshot. */
START_TEST(a_snapshot_that_fails_is_queued_with_its_reason)
{
    host.threads_ms = 4000;
    host.snapshot_reason = REASON_NO_EXEC_DIR;
    add_rule("Shop", false, 0);
    run_to(NOON + 11500);
    ck_assert_uint_eq(host.windows, 1);
    ck_assert_uint_eq(COUNTED(snapshot_failures), host.snapshots);
    ck_assert_uint_ge(host.queued_snapshot_count, 2);
    ck_assert_uint_eq(host.queued_snapshots[0].reason, REASON_NO_EXEC_DIR);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
    ck_assert_str_eq(status_of(1).detail, "no thread snapshot: why");
    host.snapshot_reason = REASON_NONE;
    run_to(NOON + 16500);
    ck_assert_str_eq(status_of(1).detail, "");
}
END_TEST

/* A session stops, or begins, at the next tick after the rules have changed. */
START_TEST(other_rules_are_in_force_at_once)
{
    rule_set *none = rule_set_new();
    add_rule("Shop", false, 0);
    run_to(NOON + 5000);
    ck_assert_uint_eq(host.starts, 1);
    collector_set_rules(core, none);
    run_to(NOON + 6000);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(status_of(1).reason, REASON_DISABLED);
    collector_set_rules(core, rules);
    run_to(NOON + 7000);
    ck_assert_uint_eq(host.starts, 2);
    rule_set_free(none);
}
END_TEST

START_TEST(nobody_is_profiled_without_being_asked)
{
    add_rule("Other", false, 0);
    run_to(NOON + 30000);
    ck_assert_uint_eq(host.starts, 0);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_OFF);
    ck_assert_uint_eq(status.reason, REASON_DISABLED);
    ck_assert_str_eq(status.labels.workload, "Shop");
}
END_TEST

START_TEST(a_jvm_that_tells_its_class_late_is_chosen_then)
{
    add_rule("Shop", false, 0);
    host.jvms[0].main_class[0] = '\0';
    run_to(NOON + 9000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_OFF);
    host.jvms[0] = sample_jvm(1);
    run_to(NOON + 32000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
    ck_assert_str_eq(status.labels.workload, "Shop");
}
END_TEST

START_TEST(a_young_jvm_warms_up_first)
{
    add_rule("Shop", false, 60000);
    host.jvms[0].start_ms = NOON;
    run_to(NOON + 59000);
    ck_assert_uint_eq(host.starts, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_WAITING);
    ck_assert_uint_eq(status_of(1).reason, REASON_WARMING_UP);
    run_to(NOON + 61000);
    ck_assert_uint_eq(host.starts, 1);
}
END_TEST

START_TEST(a_failed_start_cools_down_longer_and_longer_and_keeps_its_reason)
{
    add_rule("Shop", false, 0);
    host.start_reason = REASON_NO_EXEC_DIR;
    run_to(NOON + 400000);
    ck_assert_uint_ge(host.starts, 5);
    ck_assert_uint_le(host.starts, 10);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_FAILED);
    ck_assert_uint_eq(status.reason, REASON_NO_EXEC_DIR);
    ck_assert_str_eq(status.detail, "why");
    host.start_reason = REASON_NONE;
    run_to(NOON + 500000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
}
END_TEST

START_TEST(a_failed_parse_costs_one_window_and_says_so)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.parse_fails = true;
    run_to(NOON + 22000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status.reason, REASON_PARSE_FAILED);
    ck_assert_ptr_nonnull(strstr(status.detail, "byte 7"));
    host.parse_fails = false;
    run_to(NOON + 32000);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
    ck_assert_str_eq(status_of(1).detail, "");
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(host.queued_windows, 6);
    ck_assert_uint_eq(host.lost_count, 2);
    ck_assert_uint_eq(host.lost[0].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.lost[0].reason, REASON_PARSE_FAILED);
    ck_assert_uint_eq(COUNTED(parse_failures), 1);
}
END_TEST

START_TEST(a_lost_answer_is_asked_for_again_under_the_same_id)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 8000);
    host.lost_answers = 1;
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.windows, 1);
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
}
END_TEST

START_TEST(a_window_that_failed_is_made_up_for_when_the_session_is_adopted)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.window_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 21000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_FAILED);
    ck_assert_uint_eq(status_of(1).reason, REASON_ATTACH_TIMEOUT);
    host.window_reason = REASON_NONE;
    host.session = SESSION_STATE_ADOPTED;
    host.covered = 30000;
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.spans[1].length_ms, 30000);
    ck_assert_uint_eq(collector_get_stats(core).covered_ms, 37000);
}
END_TEST

START_TEST(an_adopted_session_brings_what_was_recorded_before)
{
    add_rule("Shop", false, 0);
    host.session = SESSION_STATE_ADOPTED;
    host.recording_start = NOON - 25000;
    host.covered = 35000;
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(host.spans[0].start_ms, NOON - 25000);
    ck_assert_uint_eq(host.spans[0].length_ms, 35000);
}
END_TEST

/* Checks the lost windows in the queue: one for each event of the rule, cpu and alloc. */
static void assert_lost(size_t index, uint64_t start_ms, uint64_t end_ms, uint32_t reason)
{
    ck_assert_uint_lt(2 * index + 1, host.lost_count);
    for (size_t i = 2 * index; i < 2 * index + 2; i++) {
        const batch_window *one = &host.lost[i];
        ck_assert_uint_eq(one->start_ms, start_ms);
        ck_assert_uint_eq(one->start_ms + one->length_ms, end_ms);
        ck_assert_uint_eq(one->covered_ms, 0);
        ck_assert_uint_eq(one->reason, reason);
        ck_assert_uint_eq(one->part.source, i % 2 == 0 ? PROFILE_SOURCE_CPU : PROFILE_SOURCE_ALLOC);
    }
}

/* The recording begins during the request, some milliseconds before attachd's answer. */
START_TEST(a_new_session_does_not_reach_into_lost_time)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.window_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 21000);
    host.window_reason = REASON_NONE;
    host.recording_start = NOON + 20997;
    run_to(NOON + 62000);
    assert_lost(0, NOON + 10000, host.spans[1].start_ms, REASON_ATTACH_TIMEOUT);
    ck_assert_uint_gt(host.spans[1].start_ms, NOON + 20997);
}
END_TEST

START_TEST(what_a_lost_session_had_not_handed_over_is_told)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.window_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 21000);
    host.window_reason = REASON_NONE; /* and the session is new */
    run_to(NOON + 62000);
    assert_lost(0, NOON + 10000, host.spans[1].start_ms, REASON_ATTACH_TIMEOUT);
    ck_assert_uint_gt(host.spans[1].start_ms, NOON + 20000);
    ck_assert_uint_eq(host.lost_count, 2);
    ck_assert_uint_eq(collector_get_stats(core).windows_lost, 1);
}
END_TEST

START_TEST(time_without_a_session_is_told_up_to_midnight_and_after)
{
    uint64_t midnight = NOON + 12 * 3600000;
    host.now = midnight - 13000;
    add_rule("Shop", false, 0);
    host.start_reason = REASON_NO_EXEC_DIR;
    run_to(midnight + 50000);
    host.start_reason = REASON_NONE;
    run_to(midnight + 200000);
    uint64_t at = host.lost[0].start_ms;
    ck_assert_uint_lt(at, midnight);
    for (size_t i = 0; i < host.lost_count; i += 2) {
        assert_lost(i / 2, at, at + host.lost[i].length_ms, REASON_NO_EXEC_DIR);
        at += host.lost[i].length_ms;
        ck_assert(at == midnight || (host.lost[i].start_ms < midnight) == (at < midnight));
    }
    ck_assert_uint_eq(at, host.spans[0].start_ms);
    ck_assert_uint_ge(at, midnight + 50000);
}
END_TEST

START_TEST(what_a_jvm_did_before_its_end_is_told_as_lost)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.jvm_count = 0;
    run_to(NOON + 18500);
    ck_assert_uint_eq(host.lost_count, 2);
    assert_lost(0, NOON + 10000, host.lost[0].start_ms + host.lost[0].length_ms,
                REASON_PROCESS_EXITED);
}
END_TEST

START_TEST(the_end_of_a_jvm_is_reported_until_somebody_has_read_it)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    target_status before = status_of(1);
    unsigned changes = host.status_changes;
    host.jvm_count = 0;
    run_to(NOON + 18500);
    ck_assert_uint_gt(host.status_changes, changes);
    run_to(NOON + 60000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_EXITED);
    ck_assert_uint_eq(status.reason, REASON_PROCESS_EXITED);
    ck_assert_uint_eq(status.session, SESSION_STATE_NONE);
    ck_assert_str_eq(status.labels.workload, before.labels.workload);
    ck_assert_uint_eq(status.last_window_ms, before.last_window_ms);
    ck_assert_uint_ge(status.observed_ms, NOON + 12000);
    ck_assert_uint_le(status.observed_ms, NOON + 18500); /* when it was first missing */
    ck_assert_uint_eq(COUNTED(jvms), 0);
    collector_exits_told(core, 1);
    ck_assert_uint_eq(status_of(1).jvm.id.host_pid, 0);
}
END_TEST

START_TEST(more_ends_than_are_kept_leave_those_that_are_told_first)
{
    enum { SHORT_LIVED = 300, KEPT = 256 };
    for (uint32_t pid = 1; pid <= SHORT_LIVED; pid++) {
        host.jvms[0] = sample_jvm(pid);
        run_to(host.now + 5000);
    }
    host.jvm_count = 0;
    run_to(host.now + 5000);
    status_report report;
    collector_snapshot(core, &report);
    ck_assert_uint_eq(report.count, KEPT);
    ck_assert_uint_eq(report.exited, KEPT);
    ck_assert_uint_eq(report.targets[0].jvm.id.host_pid, 1);
    collector_exits_told(core, report.exited);
    status_report_clear(&report);
    ck_assert_uint_eq(status_of(1).jvm.id.host_pid, 0);
}
END_TEST

START_TEST(without_attachd_targets_say_so_and_come_back)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.unreachable = true;
    run_to(NOON + 32000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.reason, REASON_ATTACHD_UNREACHABLE);
    ck_assert_str_eq(status.detail, "nobody listens");
    ck_assert(!collector_get_stats(core).attachd_reachable);
    host.unreachable = false;
    host.session = SESSION_STATE_ADOPTED;
    run_to(NOON + 52000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(host.starts, 2);
}
END_TEST

START_TEST(a_verdict_is_told_and_not_tried)
{
    add_rule("Shop", false, 0);
    host.jvms[0].verdict = REASON_ATTACH_DISABLED;
    host.jvms[1] = sample_jvm(2);
    host.jvms[1].verdict = REASON_NOT_HOTSPOT;
    host.jvm_count = 2;
    run_to(NOON + 20000);
    ck_assert_uint_eq(host.starts, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_FAILED);
    ck_assert_uint_eq(status_of(1).reason, REASON_ATTACH_DISABLED);
    ck_assert_uint_eq(status_of(2).state, TARGET_STATE_UNSUPPORTED);
    host.jvms[0].verdict = REASON_NONE;
    run_to(NOON + 30000);
    ck_assert_uint_eq(host.starts, 1);
}
END_TEST

START_TEST(past_the_limit_jvms_wait_for_room)
{
    add_rule("Shop", false, 0);
    for (uint32_t i = 0; i < 3; i++)
        host.jvms[i] = sample_jvm(i + 1);
    host.jvm_count = 3;
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(status_of(3).reason, REASON_TARGET_LIMIT);
    host.jvms[0] = host.jvms[2];
    host.jvm_count = 2;
    run_to(NOON + 32000);
    ck_assert_uint_eq(status_of(3).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(host.forgotten, 1);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_EXITED);
}
END_TEST

START_TEST(the_end_takes_the_last_window_and_stops_the_session)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 14000);
    collector_finish(core, false, nothing, NULL);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.spans[1].length_ms, 4000);
    ck_assert_uint_eq(host.queued_windows, 4);
    ck_assert_uint_eq(collector_tick(core), UINT64_MAX);
}
END_TEST

/* This is the default at a restart: the store takes windows with the same start for one batch's. */
START_TEST(the_next_collectors_windows_begin_where_the_last_ones_ended)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 14000);
    collector_finish(core, false, nothing, NULL);
    fake_host_begin_anew();
    run_to(NOON + 20500);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(host.span_count, 3);
    ck_assert_uint_eq(host.spans[2].start_ms, NOON + 14000);
    ck_assert_uint_eq(host.spans[2].length_ms, 6000);
}
END_TEST

START_TEST(a_session_that_cannot_be_stopped_is_told_as_lost)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 14000);
    host.window_reason = REASON_ATTACH_TIMEOUT;
    collector_finish(core, false, nothing, NULL);
    ck_assert_uint_eq(host.span_count, 1);
    assert_lost(0, NOON + 10000, NOON + 14000, REASON_ATTACH_TIMEOUT);
}
END_TEST

START_TEST(the_end_may_leave_the_session_running)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 14000);
    collector_finish(core, true, nothing, NULL);
    ck_assert_uint_eq(host.stops, 0);
    ck_assert_uint_eq(host.windows, 1); /* the next collector takes the current one */
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(host.queued_windows, 2);
}
END_TEST

static void set_clock(int64_t days)
{
    int64_t by = days * (int64_t)MS_PER_DAY;
    host.set_ms += by;
    host.now = (uint64_t)((int64_t)host.now + by);
}

static const int64_t jumps[] = {-1, 1};

/* The contract limits the time of windows, and a backend rejects those outside of it. */
START_TEST(a_clock_that_is_set_by_a_day_costs_the_window_that_was_under_way)
{
    host.threads_ms = 5000;
    add_rule("Shop", false, 0);
    run_to(NOON + 32500);
    unsigned windows = host.windows, snapshots = host.snapshots;
    uint64_t looks = collector_get_stats(core).discoveries;
    set_clock(jumps[_i]);
    uint64_t then = host.now;
    run_to(then + 60000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_ge(collector_get_stats(core).discoveries, looks + 11);
    ck_assert_uint_ge(host.windows, windows + 5);
    ck_assert_uint_le(host.windows, windows + 7);
    ck_assert_uint_ge(host.snapshots, snapshots + 11);
    ck_assert_uint_le(host.snapshots, snapshots + 14);
    for (size_t i = windows; i < host.span_count; i++) {
        ck_assert_uint_le(host.spans[i].length_ms, WINDOW);
        ck_assert_uint_le(host.spans[i].start_ms + host.spans[i].length_ms, then + 60000);
        ck_assert(i == windows || host.spans[i].start_ms >= then);
    }
    set_clock(-jumps[_i]);
    then = host.now;
    run_to(then + 60000);
    ck_assert_uint_ge(host.windows, windows + 10);
    const window_span *last = &host.spans[host.span_count - 1];
    ck_assert_uint_ge(last->start_ms + last->length_ms, then + 50000);
    ck_assert_uint_le(last->start_ms + last->length_ms, then + 60000);
}
END_TEST

START_TEST(what_finds_no_thread_is_done_later)
{
    host.threads_ms = 4000;
    add_rule("Shop", false, 0);
    host.threadless = true;
    run_to(NOON + 20000);
    ck_assert_uint_eq(host.starts, 0);
    host.threadless = false;
    run_to(NOON + 32000);
    host.threadless = true;
    run_to(NOON + 35500);
    host.threadless = false;
    run_to(NOON + 52000);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_ge(host.windows, 2);
    ck_assert_uint_ge(host.snapshots, 2);
    ck_assert_uint_ge(collector_get_stats(core).thread_failures, 2);
    host.threadless = true;
    collector_finish(core, false, nothing, NULL); /* then on this thread */
    ck_assert_uint_eq(host.stops, 1);
}
END_TEST

START_TEST(a_session_that_attachd_does_not_know_any_more_is_taken_over_again)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 10500);
    ck_assert_uint_eq(host.starts, 1);
    host.session = SESSION_STATE_ADOPTED;
    host.unclaimed = true;
    run_to(NOON + 20500);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_CPU], 10000000);
    run_to(NOON + 40500);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(host.span_count, 4);
    for (size_t i = 1; i < 4; i++)
        ck_assert_uint_eq(host.spans[i].start_ms, NOON + i * WINDOW);
    ck_assert_uint_eq(host.lost_count, 0);
}
END_TEST

TCase *session_tests(void)
{
    TCase *tests = tcase_create("sessions");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, fake_host_set_up, fake_host_tear_down);
    tcase_add_test(tests, a_chosen_jvm_gives_aligned_windows);
    tcase_add_test(tests, one_batch_is_cut_in_the_interval_that_the_backend_asks_for);
    tcase_add_test(tests, events_that_the_profiler_dropped_are_told);
    tcase_add_test(tests, events_past_the_cap_of_a_window_are_told);
    tcase_add_test(tests, what_attachd_lacks_and_workers_that_hang_are_counted);
    tcase_add_test(tests, an_event_that_the_profiler_refuses_has_no_data_and_a_reason);
    tcase_add_test(tests, windows_of_several_jvms_share_a_batch);
    tcase_add_test(tests, windows_end_at_midnight_and_days_do_not_mix);
    tcase_add_test(tests, snapshots_are_taken_beside_windows);
    tcase_add_test(tests, a_snapshot_that_fails_is_queued_with_its_reason);
    tcase_add_test(tests, other_rules_are_in_force_at_once);
    tcase_add_test(tests, nobody_is_profiled_without_being_asked);
    tcase_add_test(tests, a_jvm_that_tells_its_class_late_is_chosen_then);
    tcase_add_test(tests, a_young_jvm_warms_up_first);
    tcase_add_test(tests, a_failed_start_cools_down_longer_and_longer_and_keeps_its_reason);
    tcase_add_test(tests, a_failed_parse_costs_one_window_and_says_so);
    tcase_add_test(tests, a_lost_answer_is_asked_for_again_under_the_same_id);
    tcase_add_test(tests, a_window_that_failed_is_made_up_for_when_the_session_is_adopted);
    tcase_add_test(tests, an_adopted_session_brings_what_was_recorded_before);
    tcase_add_test(tests, a_new_session_does_not_reach_into_lost_time);
    tcase_add_test(tests, what_a_lost_session_had_not_handed_over_is_told);
    tcase_add_test(tests, time_without_a_session_is_told_up_to_midnight_and_after);
    tcase_add_test(tests, what_a_jvm_did_before_its_end_is_told_as_lost);
    tcase_add_test(tests, the_end_of_a_jvm_is_reported_until_somebody_has_read_it);
    tcase_add_test(tests, more_ends_than_are_kept_leave_those_that_are_told_first);
    tcase_add_test(tests, without_attachd_targets_say_so_and_come_back);
    tcase_add_test(tests, a_verdict_is_told_and_not_tried);
    tcase_add_test(tests, past_the_limit_jvms_wait_for_room);
    tcase_add_test(tests, the_end_takes_the_last_window_and_stops_the_session);
    tcase_add_test(tests, the_next_collectors_windows_begin_where_the_last_ones_ended);
    tcase_add_test(tests, a_session_that_cannot_be_stopped_is_told_as_lost);
    tcase_add_test(tests, the_end_may_leave_the_session_running);
    tcase_add_loop_test(tests, a_clock_that_is_set_by_a_day_costs_the_window_that_was_under_way, 0,
                        sizeof(jumps) / sizeof(jumps[0]));
    tcase_add_test(tests, what_finds_no_thread_is_done_later);
    tcase_add_test(tests, a_session_that_attachd_does_not_know_any_more_is_taken_over_again);
    return tests;
}
