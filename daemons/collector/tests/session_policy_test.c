/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sessions that pods ask for: they begin, change and end with the policy. */
#include "fake_host.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <string.h>

static void set_decision(policy_mode mode, uint32_t reason, const event_intervals *events)
{
    host.in_pod = true;
    host.decision = (policy_decision){.mode = mode, .reason = reason, .events = *events};
    collector_policy_changed(core);
}

static const event_intervals cpu_only = {{[EVENT_CPU] = 10000000}};
static const event_intervals cpu_and_locks = {{[EVENT_CPU] = 10000000, [EVENT_LOCK] = 1000}};

START_TEST(a_pod_switches_sessions_on_and_off)
{
    set_decision(POLICY_OFF, REASON_DISABLED, &cpu_only);
    run_to(NOON + 5000);
    ck_assert_uint_eq(host.starts, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_OFF);
    ck_assert_str_eq(status_of(1).labels.pod, "web-1");
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 5001); /* at once, not at the next look at the host */
    ck_assert_uint_eq(host.starts, 1);
    run_to(NOON + 12000);
    set_decision(POLICY_OFF, REASON_SWITCHED_OFF, &cpu_only);
    run_to(NOON + 12001);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(host.span_count, 2); /* the last window has been taken */
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_OFF);
    ck_assert_uint_eq(status_of(1).reason, REASON_SWITCHED_OFF);
    run_to(NOON + 60000);
    ck_assert_uint_eq(host.starts, 1);
}
END_TEST

START_TEST(other_events_begin_a_session_anew)
{
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 5000);
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 6000);
    ck_assert_uint_eq(host.stops, 0);
    set_decision(POLICY_CONTINUOUS, 0, &cpu_and_locks);
    run_to(NOON + 6001);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_LOCK], 1000);
    run_to(NOON + 11500); /* two windows between two borders, each with its own start */
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.spans[0].start_ms, NOON + 3000);
    ck_assert_uint_eq(host.spans[0].length_ms, 3000);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 6000);
    ck_assert_uint_eq(host.spans[1].length_ms, 4000);
}
END_TEST

START_TEST(a_temporary_ends_by_the_clock)
{
    set_decision(POLICY_TEMPORARY, 0, &cpu_only);
    host.decision.until_ms = NOON + 7000;
    run_to(NOON + 6999);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_TEMPORARY);
    ck_assert_uint_eq(status_of(1).until_ms, NOON + 7000);
    ck_assert_uint_eq(status_of(1).last_length_ms, 0);
    host.decision = (policy_decision){.mode = POLICY_OFF, .reason = REASON_EXPIRED};
    run_to(NOON + 7000);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(status_of(1).reason, REASON_EXPIRED);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_OFF);
    ck_assert_uint_eq(status_of(1).until_ms, 0);
}
END_TEST

START_TEST(contention_is_measured_until_a_temporary_ends)
{
    set_decision(POLICY_TEMPORARY, 0, &cpu_only);
    host.decision.until_ms = NOON + 20000;
    host.decision.threads_interval_ms = 5000;
    host.decision.contention_monitoring = true;
    run_to(NOON + 16000);
    ck_assert_uint_eq(host.snapshots, 4); /* at once, then at 5, 10 and 15 s */
    ck_assert(host.contention);
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    host.decision.threads_interval_ms = 60000;
    run_to(NOON + 21000);
    ck_assert_uint_eq(host.snapshots, 5);
    ck_assert(!host.contention);
}
END_TEST

START_TEST(another_end_is_told_at_once)
{
    set_decision(POLICY_TEMPORARY, 0, &cpu_only);
    host.decision.until_ms = NOON + 60000;
    run_to(NOON + 5000);
    unsigned changes = host.status_changes;
    collector_policy_changed(core);
    run_to(NOON + 5001);
    ck_assert_uint_eq(host.status_changes, changes);
    host.decision.until_ms = NOON + 90000;
    collector_policy_changed(core);
    run_to(NOON + 5002);
    ck_assert_uint_eq(host.status_changes, changes + 1);
    ck_assert_uint_eq(status_of(1).until_ms, NOON + 90000);
}
END_TEST

START_TEST(a_pod_sets_the_length_of_windows_and_how_often_threads_are_looked_at)
{
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.spans[0].start_ms + host.spans[0].length_ms, NOON + WINDOW);
    ck_assert_uint_eq(host.snapshots, 0);
    host.decision.interval_ms = 2000;
    host.decision.threads_interval_ms = 1000;
    host.decision.contention_monitoring = true;
    collector_policy_changed(core);
    run_to(NOON + 18500);
    ck_assert_uint_eq(host.span_count, 4);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.spans[2].start_ms, NOON + 14000);
    ck_assert_uint_eq(host.spans[3].start_ms, NOON + 16000);
    for (size_t i = 1; i < 4; i++) /* the first ends at a border of the new length */
        ck_assert_uint_eq(host.spans[i].length_ms, i == 1 ? 4000 : 2000);
    ck_assert_uint_ge(host.snapshots, 6);
    ck_assert(host.contention);
    host.decision.interval_ms = WINDOW;
    collector_policy_changed(core);
    run_to(NOON + 30500);
    ck_assert_uint_eq(host.spans[4].start_ms, NOON + 18000);
    ck_assert_uint_eq(host.spans[4].length_ms, 2000);
    ck_assert_uint_eq(host.spans[5].length_ms, WINDOW);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(host.stops, 0);
}
END_TEST

START_TEST(rules_serve_pods_that_ask_for_nothing)
{
    add_rule("Shop", false, 0);
    set_decision(POLICY_OFF, REASON_POD_UNKNOWN, &cpu_only);
    run_to(NOON + 5000);
    ck_assert_uint_eq(host.starts, 0); /* no guess if the pod is unknown */
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_UNKNOWN);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_UNKNOWN);
    ck_assert_uint_eq(collector_get_stats(core).unknown_pods, 1);
    set_decision(POLICY_OFF, REASON_DISABLED, &cpu_only);
    run_to(NOON + 5001);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_str_eq(status_of(1).labels.workload, "web");
    set_decision(POLICY_OFF, REASON_SWITCHED_OFF, &cpu_only);
    run_to(NOON + 5002);
    ck_assert_uint_eq(host.stops, 1);
}
END_TEST

START_TEST(a_profile_on_demand_has_an_end)
{
    run_to(NOON + 5000);
    ck_assert_int_eq(collector_profile_until(core, 99, &cpu_only, NOON + 60000), DEMAND_NO_JVM);
    ck_assert_int_eq(collector_profile_until(core, 1, &cpu_only, NOON + 60000), DEMAND_TAKEN);
    run_to(NOON + 5001);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_TEMPORARY);
    ck_assert_uint_eq(status_of(1).until_ms, NOON + 60000);
    run_to(NOON + 16000);
    ck_assert_uint_eq(host.snapshots, 3); /* at once, then every 5 s */
    run_to(NOON + 60000);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_OFF);
    ck_assert_int_eq(collector_profile_stop(core, 1), DEMAND_NO_JVM); /* it has ended */
    ck_assert_int_eq(collector_profile_until(core, 1, &cpu_only, NOON + 90000), DEMAND_TAKEN);
    run_to(NOON + 61000);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_int_eq(collector_profile_stop(core, 1), DEMAND_TAKEN);
    run_to(NOON + 61001);
    ck_assert_uint_eq(host.stops, 2);
}
END_TEST

START_TEST(on_demand_is_over_continuous_and_below_off)
{
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 5000);
    ck_assert_int_eq(collector_profile_until(core, 1, &cpu_and_locks, NOON + 20000), DEMAND_TAKEN);
    run_to(NOON + 6000);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_LOCK], 1000);
    run_to(NOON + 20001); /* the continuous session goes on */
    ck_assert_uint_eq(host.starts, 3);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_CONTINUOUS);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_LOCK], 0);
    set_decision(POLICY_OFF, REASON_SWITCHED_OFF, &cpu_only);
    run_to(NOON + 21000);
    ck_assert_int_eq(collector_profile_until(core, 1, &cpu_only, NOON + 60000), DEMAND_OFF);
    run_to(NOON + 22000);
    ck_assert_uint_eq(host.starts, 3);
    set_decision(POLICY_OFF, REASON_DISABLED, &cpu_only);
    add_rule("Shop", true, 0);
    collector_policy_changed(core);
    run_to(NOON + 23000);
    ck_assert_int_eq(collector_profile_until(core, 1, &cpu_only, NOON + 60000), DEMAND_OFF);
}
END_TEST

TCase *session_policy_tests(void)
{
    TCase *tests = tcase_create("sessions by policy");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, fake_host_set_up, fake_host_tear_down);
    tcase_add_test(tests, a_pod_switches_sessions_on_and_off);
    tcase_add_test(tests, other_events_begin_a_session_anew);
    tcase_add_test(tests, a_temporary_ends_by_the_clock);
    tcase_add_test(tests, contention_is_measured_until_a_temporary_ends);
    tcase_add_test(tests, another_end_is_told_at_once);
    tcase_add_test(tests, a_pod_sets_the_length_of_windows_and_how_often_threads_are_looked_at);
    tcase_add_test(tests, rules_serve_pods_that_ask_for_nothing);
    tcase_add_test(tests, a_profile_on_demand_has_an_end);
    tcase_add_test(tests, on_demand_is_over_continuous_and_below_off);
    return tests;
}
