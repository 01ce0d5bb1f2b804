/* SPDX-License-Identifier: Apache-2.0 */
/* Compares CPU time and native ids with the kernel's. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "threads_ask.h"
#include "threads_cases.h"

static uint64_t task_cpu_ns(const jvm_fixture *jvm, uint32_t tid)
{
    char path[64];
    unsigned long long ns = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", jvm->identity.pid, tid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu", &ns), 1);
    (void)fclose(file);
    return ns;
}

static bool is_called(const jvm_fixture *jvm, uint32_t tid, const char *name)
{
    char path[64], comm[32] = "";
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%u/comm", jvm->identity.pid, tid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(comm, sizeof(comm), file));
    (void)fclose(file);
    comm[strcspn(comm, "\n")] = '\0';
    return strcmp(comm, name) == 0;
}

/* Threads that use 30, 60 and 90 percent of a core for 10 s: the difference to the kernel's figure
 * is at most 5 %. The kernel's clock is read directly beside each snapshot, so that a loaded
 * machine does not matter. */
START_TEST(busy_threads_agree_with_the_kernel)
{
    static const char *const names[] = {"burn-30", "burn-60", "burn-90"};
    static const char *const program[] = {"Threads", "burn", "30", "60", "90", NULL};
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    uint32_t tids[3];
    uint64_t kernel[3];
    jvm_fixture_run(&jvm, threads_java(_i), NULL, NULL, program);
    /* Loads the agent. */
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, UINT32_MAX));
    for (int i = 0; i < 3; i++)
        tids[i] = threads_task_called(&jvm, names[i]);
    attach_threads *before = threads_take(&jvm, THREADS_DEFAULT_FLAGS, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        kernel[i] = task_cpu_ns(&jvm, tids[i]);
    (void)nanosleep(&(struct timespec){10, 0}, NULL); /* the window that is measured */
    attach_threads *after = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 3);
    for (int i = 0; i < 3; i++) {
        const attach_thread *thread = threads_named(after, names[i]);
        double told = (double)attach_thread_cpu_since(thread, before);
        double truth = (double)(task_cpu_ns(&jvm, tids[i]) - kernel[i]);
        (void)printf("# %s on %s: told %.3f s, kernel %.3f s, off by %+.2f %%\n", names[i],
                     threads_version(_i), told / 1e9, truth / 1e9, (told / truth - 1) * 100);
        ck_assert_uint_eq(thread->os_tid, tids[i]);
        ck_assert_double_gt(truth, 1e8); /* a loaded machine gives less than requested */
        ck_assert_double_lt(told, truth * 1.05);
        ck_assert_double_gt(told, truth * 0.95);
        ck_assert(thread->why & ATTACH_STACK_BUSY);
        ck_assert(threads_has_frame(after, thread, "burnShare"));
    }
    ck_assert_uint_ge(attach_threads_meta_of(after)->interval_ns, UINT64_C(10000000000));
    attach_threads_free(before);
    attach_threads_free(after);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A reported id is the right one: the kernel's name for it matches. */
START_TEST(native_ids_are_certain)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    size_t given = 0;
    threads_run(&jvm, _i, "many", "200", NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, UINT32_MAX);
    for (size_t i = 0; i < attach_threads_count(t); i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        if (thread->os_tid == 0 || strncmp(thread->name, "idle-", 5) != 0)
            continue;
        ck_assert_msg(is_called(&jvm, thread->os_tid, thread->name), "%s", thread->name);
        given++;
    }
    (void)printf("# %s: native ids of %zu of 200 idle threads\n", threads_version(_i), given);
    ck_assert_uint_ge(given, 190);
    attach_threads_free(t);
    t = threads_take(&jvm, 0, UINT32_MAX);
    ck_assert_uint_eq(attach_threads_at(t, 0)->os_tid, 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

void threads_add_busy(Suite *suite)
{
    TCase *tc = tcase_create("busy");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, busy_threads_agree_with_the_kernel, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, native_ids_are_certain, 0, THREADS_VERSIONS);
    suite_add_tcase(suite, tc);
}
