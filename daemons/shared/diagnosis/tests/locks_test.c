/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/locks.h>

#include <check.h>
#include <string.h>

#include "run_suite.h"

#define REENTRANT "java.util.concurrent.locks.ReentrantLock$NonfairSync"
#define STAMPED   "java.util.concurrent.locks.StampedLock"

static diagnosed_thread waiter(uint64_t tid, const char *lock, uint64_t id, uint64_t owner)
{
    return (diagnosed_thread){.java_tid = tid,
                              .state = DIAGNOSIS_WAITING,
                              .lock_class = lock,
                              .lock_class_length = strlen(lock),
                              .lock_id = id,
                              .owner_tid = owner};
}

static const struct {
    uint64_t owner;
    uint32_t flags;
    holder_kind kind;
    const char *name;
} holders[] = {
    {0, 0, HOLDER_UNKNOWN, "unknown"},
    {2, 0, HOLDER_JAVA, "java"},
    {30, DIAGNOSIS_OWNER_GONE, HOLDER_VIRTUAL, "virtual"}, /* thread 2 carries it */
    {40, DIAGNOSIS_OWNER_GONE, HOLDER_ENDED_OR_VIRTUAL, "ended_or_virtual"},
    {40, DIAGNOSIS_OWNER_ENDED, HOLDER_ENDED, "ended"},
    {40, 0, HOLDER_UNKNOWN, "unknown"}, /* left out of the snapshot */
};

START_TEST(test_holders)
{
    diagnosed_thread threads[] = {waiter(1, REENTRANT, 7, holders[_i].owner),
                                  {.java_tid = 2, .carries_tid = 30}};
    threads[0].flags = holders[_i].flags;
    holder_kind kind = diagnose_holder(threads, 2, 0);
    ck_assert_int_eq(kind, holders[_i].kind);
    ck_assert_str_eq(holder_kind_name(kind), holders[_i].name);
}
END_TEST

START_TEST(test_waiters_are_grouped)
{
    const diagnosed_thread threads[] = {
        waiter(1, STAMPED, 7, 0),
        waiter(2, REENTRANT, 7, 0),
        waiter(3, REENTRANT, 8, 9),
        waiter(4, REENTRANT, 7, 9),
        waiter(5, REENTRANT, 7, 9),
        waiter(6, "java.lang.Object", 7, 0),
        {.java_tid = 9, .state = DIAGNOSIS_RUNNABLE},
    };
    diagnosed_locks locks;
    ck_assert_int_eq(diagnose_locks(&locks, threads, 7), 0);
    ck_assert_uint_eq(locks.count, 3); /* the sixth waits for work */
    const diagnosed_lock *most = &locks.items[0];
    ck_assert_str_eq(most->class_name, REENTRANT);
    ck_assert_uint_eq(most->id, 7);
    ck_assert_uint_eq(most->waiter_count, 3);
    ck_assert_uint_eq(most->waiters[0], 1); /* it names no holder, but the other waiters do */
    ck_assert_uint_eq(most->waiters[1], 3);
    ck_assert_uint_eq(most->waiters[2], 4);
    ck_assert_int_eq(most->holder, HOLDER_JAVA);
    ck_assert_uint_eq(most->holder_tid, 9);
    diagnosed_locks_free(&locks);
}
END_TEST

START_TEST(test_no_threads)
{
    diagnosed_locks locks;
    ck_assert_int_eq(diagnose_locks(&locks, NULL, 0), 0);
    ck_assert_uint_eq(locks.count, 0);
    diagnosed_locks_free(&locks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diagnosis-locks");
    TCase *tests = tcase_create("locks");
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, test_holders, 0, sizeof(holders) / sizeof(holders[0]));
    tcase_add_test(tests, test_waiters_are_grouped);
    tcase_add_test(tests, test_no_threads);
    return run_suite(suite);
}
