/* SPDX-License-Identifier: Apache-2.0 */
/* Tests snapshots of many threads and deep stacks, and of JVMs without room. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads_ask.h"
#include "threads_cases.h"

static void check_missing_stacks_are_told(const attach_threads *t)
{
    size_t stacks = 0;
    for (size_t i = 0; i < attach_threads_count(t); i++)
        stacks += attach_threads_at(t, i)->has_stack;
    bool cut = attach_threads_meta_of(t)->cut & ATTACH_CUT_TIME;
    ck_assert_int_eq(cut, stacks < attach_threads_meta_of(t)->stacks_wanted ||
                              attach_threads_count(t) < attach_threads_meta_of(t)->threads_total);
}

START_TEST(five_thousand_threads)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_threads *t = NULL;
    threads_run(&jvm, _i, "many", "5000", NULL);
    t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    (void)printf("# %s: %zu threads in %.0f ms, stacks in %.1f ms\n", threads_version(_i),
                 attach_threads_count(t), (double)meta->total_took_ns / 1e6,
                 (double)meta->stacks_took_ns / 1e6);
    ck_assert_uint_ge(attach_threads_count(t), 5000);
    ck_assert_uint_eq(meta->cut, 0);
    ck_assert_uint_eq(meta->stacks_wanted, 64);
    attach_threads_free(t);

    attach_request *r = threads_request(&jvm); /* fewer threads than the JVM has */
    r->max_threads = 100;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert_uint_eq(attach_threads_count(t), 100);
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, ATTACH_CUT_THREADS);
    ck_assert_uint_ge(attach_threads_meta_of(t)->threads_total, 5000);
    attach_threads_free(t);

    r = threads_request(&jvm); /* fewer bytes than the snapshot needs */
    r->max_bytes = 64 * 1024;
    operation_bytes bytes = {0};
    attach_result result;
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, &bytes, NULL, NULL),
                     ATTACH_OK);
    free(r);
    ck_assert_uint_le(bytes.n, 128 * 1024);
    ck_assert_int_eq(attach_threads_decode(&t, bytes.bytes, bytes.n, NULL), ATTACH_OK);
    ck_assert(attach_threads_meta_of(t)->cut & ATTACH_CUT_BYTES);
    ck_assert(attach_threads_meta_of(t)->cut & ATTACH_CUT_THREADS);
    ck_assert_uint_gt(attach_threads_count(t), 200); /* as many as the room allows */
    attach_threads_free(t);
    free(bytes.bytes);

    r = threads_request(&jvm); /* A full dump may have too little time for all stacks. */
    r->threads_flags = ATTACH_THREADS_FULL;
    r->max_depth = 16;
    r->timeout_ms = 200;
    result = threads_send(&t, r);
    if (result.code == ATTACH_OK) {
        check_missing_stacks_are_told(t);
        attach_threads_free(t);
    } else {
        ck_assert_int_eq(result.reason, ATTACH_REASON_ATTACH_TIMEOUT);
    }
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(deep_stacks_are_cut_and_told)
{
    const char *const program[] = {"Threads", "deep", "2", "300", "1", NULL};
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_run(&jvm, jvm_fixture_any(), NULL, NULL, program);
    attach_request *r = threads_request(&jvm);
    r->max_depth = 20;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert_uint_eq(threads_named(t, "idle-0")->n_frames, 20);
    ck_assert(threads_named(t, "idle-0")->flags & ATTACH_THREAD_STACK_CUT);
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, ATTACH_CUT_DEPTH);
    attach_threads_free(t);
    r = threads_request(&jvm);
    r->max_depth = 500;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert_uint_gt(threads_named(t, "idle-0")->n_frames, 300);
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Two hundred stacks of a thousand frames cannot be walked in a millisecond. */
START_TEST(pauses_are_bounded_and_told)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_threads *t = NULL;
    size_t stacks = 0;
    threads_run(&jvm, _i, "mixed", "200", "1000");
    /* From now on few threads are busy. */
    t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, UINT32_MAX);
    attach_threads_free(t);
    attach_request *r = threads_request(&jvm);
    r->max_depth = 2048;
    r->max_bytes = ATTACH_THREADS_BYTES_MAX;
    r->max_stacks = 200;
    r->pause_ms = 1;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    for (size_t i = 0; i < attach_threads_count(t); i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        stacks += thread->has_stack;
        ck_assert(thread->why != ATTACH_STACK_SAMPLED || thread->has_stack);
    }
    (void)printf("# %s: %zu of %u stacks in %u pauses, at most %.1f ms, %.1f ms at once\n",
                 threads_version(_i), stacks, meta->stacks_wanted, meta->pauses,
                 (double)meta->paused_ns / 1e6, (double)meta->longest_pause_ns / 1e6);
    ck_assert(meta->cut & ATTACH_CUT_PAUSE);
    ck_assert_uint_eq(meta->stacks_wanted, 200);
    ck_assert_uint_ge(stacks, 8);
    ck_assert_uint_lt(stacks, 200);
    ck_assert_uint_ge(meta->pauses, 2); /* the search for deadlocks, and the first stacks */
    ck_assert_uint_gt(meta->longest_pause_ns, 0);
    ck_assert_uint_ge(meta->paused_ns, meta->longest_pause_ns);
    ck_assert_uint_le(meta->paused_ns, meta->deadlock_took_ns + meta->stacks_took_ns);
    ck_assert(threads_has_frame(t, threads_named(t, "stuck-0"), "lockMonitors"));
    ck_assert(threads_has_frame(t, threads_named(t, "stuck-1"), "lockMonitors"));
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* With few stacks per snapshot, each thread gets its turn. */
START_TEST(idle_threads_are_sampled_in_turn)
{
    jvm_fixture jvm;
    bool seen[40] = {false};
    int left = 40;
    threads_run(&jvm, 1, "many", "40", NULL);
    for (int round = 0; round < 30 && left > 0; round++) {
        attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 8);
        for (int i = 0; i < 40; i++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "idle-%d", i);
            if (threads_named(t, name)->has_stack && !seen[i]) {
                seen[i] = true;
                left--;
            }
        }
        attach_threads_free(t);
    }
    ck_assert_int_eq(left, 0);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A dump that would fill the heap is refused with a message, and the JVM continues. */
START_TEST(full_dump_needs_headroom)
{
    const char *const flags[] = {"-Xmx24m", NULL};
    const char *const program[] = {"Threads", "many", "2000", NULL};
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_run(&jvm, jvm_fixture_any(), NULL, flags, program);
    attach_request *r = threads_request(&jvm);
    r->threads_flags = ATTACH_THREADS_FULL;
    attach_result result = threads_send(&t, r);
    ck_assert_int_eq(result.reason, ATTACH_REASON_THREAD_AGENT_ERROR);
    ck_assert_ptr_nonnull(strstr(result.message, "heap"));
    t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

void threads_add_bounds(Suite *suite)
{
    TCase *tc = tcase_create("bounds");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, five_thousand_threads, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, pauses_are_bounded_and_told, 0, THREADS_VERSIONS);
    tcase_add_test(tc, deep_stacks_are_cut_and_told);
    tcase_add_test(tc, idle_threads_are_sampled_in_turn);
    tcase_add_test(tc, full_dump_needs_headroom);
    suite_add_tcase(suite, tc);
}
