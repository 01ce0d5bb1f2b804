/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/waits.h>

#include <check.h>
#include <string.h>

#include "run_suite.h"

#define LOCKS "java.util.concurrent.locks."

static const struct {
    const char *what;
    diagnosed_thread thread;
    const char *lock;
    wait_kind kind;
} rows[] = {
    {"runs", {.state = DIAGNOSIS_RUNNABLE}, "", WAIT_NONE},
    {"enters a monitor", {.state = DIAGNOSIS_BLOCKED, .owner_tid = 9}, "a.Lock", WAIT_BLOCKED},
    {"enters a monitor of nobody known",
     {.state = DIAGNOSIS_BLOCKED},
     "a.Lock",
     WAIT_UNKNOWN_HOLDER},
    {"waits for a ReentrantLock",
     {.state = DIAGNOSIS_WAITING, .owner_tid = 9},
     LOCKS "ReentrantLock$NonfairSync",
     WAIT_LOCK},
    {"waits for it for a while",
     {.state = DIAGNOSIS_TIMED_WAITING, .owner_tid = 9},
     LOCKS "ReentrantLock$NonfairSync",
     WAIT_LOCK},
    {"waits for a StampedLock",
     {.state = DIAGNOSIS_WAITING},
     LOCKS "StampedLock",
     WAIT_UNKNOWN_HOLDER},
    {"waits for readers",
     {.state = DIAGNOSIS_WAITING},
     LOCKS "ReentrantReadWriteLock$NonfairSync",
     WAIT_UNKNOWN_HOLDER},
    {"waits for work",
     {.state = DIAGNOSIS_WAITING},
     LOCKS "AbstractQueuedSynchronizer$ConditionObject",
     WAIT_IDLE},
    {"waits for work on a newer JDK",
     {.state = DIAGNOSIS_WAITING},
     LOCKS "AbstractQueuedSynchronizer$ConditionNode",
     WAIT_IDLE},
    {"waits for a latch",
     {.state = DIAGNOSIS_WAITING},
     "java.util.concurrent.CountDownLatch$Sync",
     WAIT_IDLE},
    {"was notified by nobody", {.state = DIAGNOSIS_WAITING}, "java.lang.Object", WAIT_IDLE},
    {"sleeps", {.state = DIAGNOSIS_TIMED_WAITING}, "", WAIT_TIMED},
    {"polls a queue",
     {.state = DIAGNOSIS_TIMED_WAITING},
     LOCKS "AbstractQueuedSynchronizer$ConditionObject",
     WAIT_TIMED},
    {"waits for a permit",
     {.state = DIAGNOSIS_WAITING},
     "java.util.concurrent.Semaphore$NonfairSync",
     WAIT_UNKNOWN_HOLDER},
    {"waits for itself",
     {.java_tid = 9, .state = DIAGNOSIS_WAITING, .owner_tid = 9},
     "java.lang.Object",
     WAIT_IDLE},
    {"carries a virtual thread",
     {.state = DIAGNOSIS_WAITING, .flags = DIAGNOSIS_CARRIER, .carries_tid = 30},
     "",
     WAIT_NONE},
    {"is in a cycle",
     {.state = DIAGNOSIS_BLOCKED, .flags = DIAGNOSIS_DEADLOCKED, .owner_tid = 9},
     "a.Lock",
     WAIT_DEADLOCKED},
    {"initialises a class without using CPU",
     {.state = DIAGNOSIS_RUNNABLE,
      .initialises = "a.B",
      .initialises_length = 3,
      .cpu_known = true},
     "",
     WAIT_CLASS},
    {"initialises a class and works",
     {.state = DIAGNOSIS_RUNNABLE,
      .initialises = "a.B",
      .initialises_length = 3,
      .cpu_known = true,
      .cpu_ns = 5000},
     "",
     WAIT_NONE},
    {"initialises a class in native code",
     {.state = DIAGNOSIS_RUNNABLE,
      .flags = DIAGNOSIS_NATIVE,
      .initialises = "a.B",
      .initialises_length = 3,
      .cpu_known = true},
     "",
     WAIT_NONE},
    {"initialises a class, CPU not known",
     {.state = DIAGNOSIS_RUNNABLE, .initialises = "a.B", .initialises_length = 3},
     "",
     WAIT_NONE},
};

START_TEST(test_kinds)
{
    diagnosed_thread thread = rows[_i].thread;
    thread.lock_class = rows[_i].lock;
    thread.lock_class_length = strlen(rows[_i].lock);
    ck_assert_msg(diagnose_wait(&thread) == rows[_i].kind, "a thread that %s: %s", rows[_i].what,
                  wait_kind_name(diagnose_wait(&thread)));
    ck_assert_int_eq(wait_is_slow(diagnose_wait(&thread)), rows[_i].kind >= WAIT_BLOCKED);
}
END_TEST

static diagnosed_thread blocked(uint64_t tid, uint64_t owner)
{
    return (diagnosed_thread){.java_tid = tid,
                              .state = owner != 0 ? DIAGNOSIS_BLOCKED : DIAGNOSIS_RUNNABLE,
                              .lock_class = "L",
                              .lock_class_length = 1,
                              .owner_tid = owner};
}

START_TEST(test_a_chain_ends_at_the_thread_that_runs)
{
    const diagnosed_thread threads[] = {blocked(1, 4), blocked(4, 7), blocked(7, 0), blocked(8, 7)};
    uint32_t chain[4];
    ck_assert_uint_eq(diagnose_chain(threads, 4, 0, chain, 4), 2);
    ck_assert_uint_eq(chain[0], 1);
    ck_assert_uint_eq(chain[1], 2);
    ck_assert_uint_eq(diagnose_chain(threads, 4, 0, chain, 1), 1);
    ck_assert_uint_eq(diagnose_chain(threads, 4, 2, chain, 4), 0);
}
END_TEST

START_TEST(test_a_chain_of_a_cycle_ends_too)
{
    diagnosed_thread threads[] = {blocked(1, 2), blocked(2, 3), blocked(3, 2), blocked(4, 99)};
    uint32_t chain[8];
    ck_assert_uint_eq(diagnose_chain(threads, 4, 0, chain, 8), 2);
    ck_assert_uint_eq(diagnose_chain(threads, 4, 1, chain, 8), 1);
    ck_assert_uint_eq(diagnose_chain(threads, 4, 3, chain, 8), 0); /* its holder is not listed */
}
END_TEST

static diagnosed_thread initialiser(uint64_t tid, uint64_t cpu_ns)
{
    return (diagnosed_thread){.java_tid = tid,
                              .state = DIAGNOSIS_RUNNABLE,
                              .initialises = "a.B",
                              .initialises_length = 3,
                              .cpu_known = true,
                              .cpu_ns = cpu_ns};
}

START_TEST(test_a_class_is_waited_for)
{
    diagnosed_thread threads[] = {initialiser(1, 0), blocked(2, 0), initialiser(3, 0)};
    ck_assert_uint_eq(diagnose_next(threads, 3, 0), 2);
    ck_assert_uint_eq(diagnose_next(threads, 3, 2), 0);
    ck_assert_uint_eq(diagnose_next(threads, 3, 1), 3);
    threads[2] = initialiser(3, 5000); /* which is working: it is unknown whose class is wanted */
    ck_assert_uint_eq(diagnose_next(threads, 3, 0), 3);
    threads[2] = blocked(3, 0);
    ck_assert_uint_eq(diagnose_next(threads, 3, 0), 3);
}
END_TEST

START_TEST(test_lock_kinds)
{
    ck_assert_str_eq(diagnose_lock_kind(DIAGNOSIS_BLOCKED, "a", 1), "monitor");
    ck_assert_str_eq(diagnose_lock_kind(DIAGNOSIS_WAITING, LOCKS "StampedLock", 38), "juc");
    ck_assert_str_eq(diagnose_lock_kind(DIAGNOSIS_WAITING, "a", 1), "unknown");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diagnosis");
    TCase *tests = tcase_create("waits");
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, test_kinds, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tests, test_a_chain_ends_at_the_thread_that_runs);
    tcase_add_test(tests, test_a_chain_of_a_cycle_ends_too);
    tcase_add_test(tests, test_a_class_is_waited_for);
    tcase_add_test(tests, test_lock_kinds);
    return run_suite(suite);
}
