/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/deadlocks.h>

#include <check.h>

#include "run_suite.h"

static diagnosed_thread blocked(uint64_t tid, uint64_t owner, uint32_t flags)
{
    return (diagnosed_thread){.java_tid = tid,
                              .state = DIAGNOSIS_BLOCKED,
                              .flags = flags,
                              .lock_class = "L",
                              .lock_class_length = 1,
                              .lock_id = tid * 100,
                              .owner_tid = owner};
}

static diagnosed_thread initialiser(uint64_t tid)
{
    return (diagnosed_thread){.java_tid = tid,
                              .state = DIAGNOSIS_RUNNABLE,
                              .initialises = "a.B",
                              .initialises_length = 3,
                              .cpu_known = true};
}

static const diagnosed_thread runs = {.java_tid = 9, .state = DIAGNOSIS_RUNNABLE};

START_TEST(test_a_cycle_of_locks_needs_the_jvm)
{
    const uint32_t found = DIAGNOSIS_DEADLOCKED;
    const diagnosed_thread certain[] = {blocked(1, 2, 0), blocked(2, 5, found),
                                        blocked(3, 2, found), blocked(5, 3, found), runs};
    const diagnosed_thread seeming[] = {blocked(1, 2, found), blocked(2, 1, 0), runs};
    diagnosed_deadlocks all;
    ck_assert_int_eq(diagnose_deadlocks(&all, certain, 5), 0);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(all.items[0].count, 3); /* not the first thread, which only waits for it */
    ck_assert(!all.items[0].inferred);
    ck_assert_uint_eq(all.items[0].threads[0], 1);
    ck_assert_uint_eq(all.items[0].threads[1], 3);
    ck_assert_uint_eq(all.items[0].threads[2], 2);
    diagnosed_deadlocks_free(&all);
    ck_assert_int_eq(diagnose_deadlocks(&all, seeming, 3), 0);
    ck_assert_uint_eq(all.count, 0);
    diagnosed_deadlocks_free(&all);
}
END_TEST

START_TEST(test_crossing_initialisations_are_inferred)
{
    diagnosed_thread threads[] = {initialiser(1), runs, initialiser(12)};
    diagnosed_deadlocks all;
    ck_assert_int_eq(diagnose_deadlocks(&all, threads, 3), 0);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(all.items[0].count, 2);
    ck_assert(all.items[0].inferred);
    diagnosed_deadlocks_free(&all);
    threads[2].cpu_ns = 1; /* it continues */
    ck_assert_int_eq(diagnose_deadlocks(&all, threads, 3), 0);
    ck_assert_uint_eq(all.count, 0);
    diagnosed_deadlocks_free(&all);
}
END_TEST

/* One thread waits in its initialiser for a lock of the other, which waits for its class. */
START_TEST(test_a_lock_and_a_class)
{
    diagnosed_thread threads[] = {blocked(1, 12, 0), runs, initialiser(12)};
    diagnosed_deadlocks all;
    threads[0].initialises = "a.C";
    threads[0].initialises_length = 3;
    ck_assert_int_eq(diagnose_deadlocks(&all, threads, 3), 0);
    ck_assert_uint_eq(all.count, 1);
    ck_assert(all.items[0].inferred);
    diagnosed_deadlocks_free(&all);
    threads[0].owner_tid = 9; /* held by a thread that runs */
    ck_assert_int_eq(diagnose_deadlocks(&all, threads, 3), 0);
    ck_assert_uint_eq(all.count, 0);
    diagnosed_deadlocks_free(&all);
}
END_TEST

START_TEST(test_ids_tell_deadlocks_apart)
{
    const uint32_t found = DIAGNOSIS_DEADLOCKED;
    diagnosed_thread threads[] = {blocked(1, 2, found), blocked(2, 1, found), blocked(3, 4, found),
                                  blocked(4, 3, found)};
    diagnosed_deadlocks all, again;
    ck_assert_int_eq(diagnose_deadlocks(&all, threads, 4), 0);
    ck_assert_uint_eq(all.count, 2);
    ck_assert_uint_ne(all.items[0].id, all.items[1].id);
    threads[0].cpu_ns = 7; /* of a later snapshot */
    ck_assert_int_eq(diagnose_deadlocks(&again, threads, 4), 0);
    ck_assert_uint_eq(all.items[0].id, again.items[0].id);
    diagnosed_deadlocks_free(&again);
    threads[0].lock_id++;
    ck_assert_int_eq(diagnose_deadlocks(&again, threads, 4), 0);
    ck_assert_uint_ne(all.items[0].id, again.items[0].id);
    diagnosed_deadlocks_free(&again);
    diagnosed_deadlocks_free(&all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diagnosis-deadlocks");
    TCase *tests = tcase_create("deadlocks");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, test_a_cycle_of_locks_needs_the_jvm);
    tcase_add_test(tests, test_crossing_initialisations_are_inferred);
    tcase_add_test(tests, test_a_lock_and_a_class);
    tcase_add_test(tests, test_ids_tell_deadlocks_apart);
    return run_suite(suite);
}
