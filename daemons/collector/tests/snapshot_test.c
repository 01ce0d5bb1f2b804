/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how thread snapshots are added to batches, and how batches with snapshots are split. */
#include "collector_tests.h"
#include "contract_verdict.h"

#include <string.h>

/* Adds two threads of JVM 7 that wait for each other's locks, and one that runs. */
static void add_deadlock(batch *to, uint64_t taken_ms)
{
    batch_lock locks[2] = {{0, 0xabc}, {0, 0xdef}};
    batch_state states[3] = {
        {.java_tid = 11, .state = 3, .flags = 32, .stack = 1, .lock = 2, .owner_tid = 12},
        {.java_tid = 12, .state = 3, .flags = 32, .stack = 2, .lock = 1, .owner_tid = 11},
        {.java_tid = 13, .state = 2, .cpu_ns = 1000000001, .flags = 8, .carries_tid = 30},
    };
    batch_held held[2] = {{0, 0, 1, 0}, {1, 1, 1, 0}};
    batch_deadlock deadlocks[2] = {{77, 0, 1}, {77, 1, 1}};
    profile stacks;
    thread_snapshot one = {.meta = {.taken_ms = taken_ms, .threads_total = 3},
                           .states = states,
                           .state_count = 3,
                           .locks = locks,
                           .lock_count = 2,
                           .held = held,
                           .held_count = 2,
                           .deadlocks = deadlocks,
                           .deadlock_count = 2};
    const target_labels labels = {.workload_kind = "process", .workload = "shop"};
    const local_jvm jvm = sample_jvm(7);

    sample_profile(&stacks, 1, 2);
    one.frames = stacks.frames;
    one.stacks = stacks.stacks;
    one.stack_frames = stacks.stack_frames;
    one.strings = stacks.strings;
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(string_table_add(&one.strings, "Lock", 4, &locks[i].class_str), 0);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(string_table_add(&one.strings, "worker-1", 8, &states[i].name_str), 0);
    ck_assert_int_eq(string_table_add(&one.strings, "vt", 2, &states[2].carries_str), 0);
    ck_assert_int_eq(batch_add_snapshot(to, &jvm, &labels, &one), 0);
    stacks.strings = one.strings;
    profile_clear(&stacks);
}

static const char *text_at(const batch *one, uint32_t index)
{
    size_t length = 0;
    return string_table_at(&one->strings, index, &length);
}

START_TEST(snapshots_of_one_jvm_share_locks_and_stacks_of_their_own)
{
    batch one;
    sample_batch(&one, 1, 1, 3);
    add_deadlock(&one, NOON + 1000);
    add_deadlock(&one, NOON + 6000);
    ck_assert_uint_eq(one.target_count, 1);
    ck_assert_uint_eq(one.snapshot_count, 2);
    ck_assert_uint_eq(one.state_count, 6);
    /* Three of rows; "[dropped]" belongs to the threads. */
    ck_assert_uint_eq(one.stack_ids.count, 4);
    ck_assert_int_eq(batch_order(&one), 0);
    assert_contract_holds(&one, NOON + 10000);
    const batch_state *second = &one.states[4];
    ck_assert_uint_eq(second->snapshot, 1);
    ck_assert_uint_eq(second->java_tid, 12);
    ck_assert_uint_eq(one.locks[second->lock - 1].identity, 0xabc);
    ck_assert(strncmp(text_at(&one, second->name_str), "worker-1", 8) == 0);
    ck_assert_uint_eq(one.deadlocks[2].thread, 3);
    ck_assert_uint_eq(one.deadlocks[2].inferred, 1);
    ck_assert_uint_eq(one.held[3].thread, 4);
    ck_assert_uint_eq(one.states[5].carries_tid, 30);
    ck_assert(strncmp(text_at(&one, one.states[5].carries_str), "vt", 2) == 0);
    batch_clear(&one);
}
END_TEST

START_TEST(a_snapshot_that_failed_is_told)
{
    batch one;
    thread_snapshot none;
    const uint8_t id[BATCH_ID_SIZE] = {1};
    const target_labels labels = {.workload_kind = "process", .workload = "shop"};
    const local_jvm jvm = sample_jvm(7);
    batch_begin(&one, id, (uint32_t)(NOON / MS_PER_DAY));
    one.created_ms = NOON;
    thread_snapshot_failed(&none, NOON, 12);
    ck_assert_int_eq(batch_add_snapshot(&one, &jvm, &labels, &none), 0);
    assert_contract_holds(&one, NOON);
    ck_assert_uint_eq(one.snapshots[0].reason, 12);
    batch_clear(&one);
}
END_TEST

/* Windows are separated from snapshots first, then snapshots from each other, each with its
 * threads. */
START_TEST(a_split_keeps_every_snapshot_whole)
{
    batch whole, parts[2], halves[2];
    const uint8_t first[BATCH_ID_SIZE] = {2}, second[BATCH_ID_SIZE] = {3};
    sample_batch(&whole, 1, 2, 3);
    add_deadlock(&whole, NOON + 1000);
    add_deadlock(&whole, NOON + 6000);
    ck_assert_int_eq(batch_split(&whole, &parts[0], &parts[1], first, second), 0);
    ck_assert_uint_eq(parts[0].window_count, 2);
    ck_assert_uint_eq(parts[0].snapshot_count, 0);
    ck_assert_uint_eq(parts[1].snapshot_count, 2);
    ck_assert_uint_eq(parts[1].lock_count, whole.lock_count);
    ck_assert_int_eq(batch_split(&parts[1], &halves[0], &halves[1], first, second), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(halves[i].snapshot_count, 1);
        ck_assert_uint_eq(halves[i].state_count, 3);
        ck_assert_uint_eq(halves[i].held_count, 2);
        ck_assert_uint_eq(halves[i].deadlock_count, 2);
        ck_assert_uint_eq(halves[i].lock_count, 2);
        ck_assert_uint_eq(halves[i].deadlocks[1].thread, 1);
        assert_contract_holds(&halves[i], NOON + 10000);
        batch_clear(&halves[i]);
        batch_clear(&parts[i]);
    }
    batch_clear(&whole);
}
END_TEST

TCase *snapshot_tests(void)
{
    TCase *tcase = tcase_create("snapshot");
    tcase_add_test(tcase, snapshots_of_one_jvm_share_locks_and_stacks_of_their_own);
    tcase_add_test(tcase, a_snapshot_that_failed_is_told);
    tcase_add_test(tcase, a_split_keeps_every_snapshot_whole);
    return tcase;
}
