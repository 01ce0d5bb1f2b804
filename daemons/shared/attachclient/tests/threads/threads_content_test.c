/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the content of a snapshot: deadlocks, owners, stacks, carriers. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads.pb-c.h"
#include "threads_ask.h"
#include "threads_cases.h"

/* Checks that every thread waits for a lock that the next one holds, and that its stack says where
 * it has locked. */
static void check_cycle(const attach_threads *t, size_t n, const char *method, bool monitors)
{
    ck_assert_uint_eq(attach_threads_deadlock_count(t), 1);
    const attach_deadlock *cycle = attach_threads_deadlock_at(t, 0);
    ck_assert_uint_eq(cycle->n, n);
    int first = atoi(cycle->threads[0]->name + strlen("stuck-"));
    for (size_t i = 0; i < n; i++) {
        char name[32];
        const attach_thread *thread = cycle->threads[i], *next = cycle->threads[(i + 1) % n];
        (void)snprintf(name, sizeof(name), "stuck-%zu", ((size_t)first + i) % n);
        ck_assert_str_eq(thread->name, name);
        ck_assert_ptr_eq(thread->owner, next);
        ck_assert_ptr_nonnull(thread->lock);
        ck_assert(thread->flags & ATTACH_THREAD_DEADLOCKED);
        ck_assert(thread->why & ATTACH_STACK_DEADLOCKED);
        ck_assert(threads_has_frame(t, thread, method));
        ck_assert_int_eq(thread->state, monitors ? ATTACH_THREAD_BLOCKED : ATTACH_THREAD_WAITING);
        ck_assert_str_eq(thread->lock->class_name,
                         monitors ? "java.lang.Object"
                                  : "java.util.concurrent.locks.ReentrantLock$NonfairSync");
        if (!monitors)
            continue;
        ck_assert_uint_eq(next->n_held, 1); /* the lock that we wait for, locked by that frame */
        ck_assert_uint_eq(next->held[0].lock->identity_hash, thread->lock->identity_hash);
        const attach_thread_frame *frame =
            attach_threads_frame(t, next->frames[next->held[0].depth]);
        ck_assert_str_eq(frame->method, method);
    }
}

static const struct {
    const char *kind;
    const char *n;
    const char *method;
} deadlocks[] = {
    {"monitors", "2", "lockMonitors"},
    {"monitors", "5", "lockMonitors"},
    {"locks", "2", "lockLocks"},
    {"locks", "5", "lockLocks"},
};

START_TEST(deadlock_is_found)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    int row = _i / THREADS_VERSIONS;
    threads_run(&jvm, _i, deadlocks[row].kind, deadlocks[row].n, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    check_cycle(t, (size_t)atoi(deadlocks[row].n), deadlocks[row].method,
                strcmp(deadlocks[row].kind, "monitors") == 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(owner_chain_and_states)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "contend", NULL, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    const attach_thread *holder = threads_named(t, "holder");
    for (int i = 0; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "wanting-%d", i);
        const attach_thread *wanting = threads_named(t, name);
        ck_assert_int_eq(wanting->state, ATTACH_THREAD_BLOCKED);
        ck_assert_ptr_eq(wanting->owner, holder);
        ck_assert_str_eq(wanting->lock->class_name, "Threads");
        ck_assert(threads_has_frame(t, wanting, "want"));
        ck_assert_uint_gt(wanting->blocked_count, 0);
    }
    ck_assert(holder->why & ATTACH_STACK_OWNER);
    ck_assert_uint_eq(holder->n_held, 1);
    ck_assert_uint_eq(holder->held[0].lock->identity_hash,
                      threads_named(t, "wanting-0")->lock->identity_hash);
    ck_assert(holder->flags & ATTACH_THREAD_DAEMON);
    ck_assert(!(threads_named(t, "main")->flags & ATTACH_THREAD_DAEMON));
    ck_assert_uint_eq(attach_threads_deadlock_count(t), 0);
    ck_assert_uint_eq(meta->threads_total, attach_threads_count(t));
    ck_assert_uint_eq(meta->cut, 0);
    ck_assert(meta->cpu_time && meta->allocated && !meta->contention && !meta->full);
    ck_assert_uint_ne(threads_named(t, "main")->cpu_ns, ATTACH_THREADS_UNKNOWN);
    ck_assert_uint_ne(threads_named(t, "main")->allocated_bytes, ATTACH_THREADS_UNKNOWN);
    ck_assert_uint_gt(meta->stacks_took_ns, 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(full_dump_has_every_stack)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "locks", "2", NULL);
    attach_threads *t = threads_take(
        &jvm, ATTACH_THREADS_FULL | ATTACH_THREADS_MONITORS | ATTACH_THREADS_SYNCHRONIZERS,
        UINT32_MAX);
    ck_assert(attach_threads_meta_of(t)->full);
    for (size_t i = 0; i < attach_threads_count(t); i++)
        ck_assert_uint_eq(attach_threads_at(t, i)->why, ATTACH_STACK_FULL);
    const attach_thread *stuck = threads_named(t, "stuck-0");
    ck_assert(threads_has_frame(t, stuck, "lockLocks"));
    ck_assert_uint_eq(stuck->n_held, 1);
    ck_assert(stuck->held[0].synchronizer);
    ck_assert_uint_eq(stuck->held[0].lock->identity_hash,
                      threads_named(t, "stuck-1")->lock->identity_hash);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(carriers_are_marked)
{
    if (threads_java(_i) == NULL || atoi(threads_version(_i)) < 21)
        return;
    jvm_fixture jvm;
    int carriers = 0, carrying = 0;
    threads_run(&jvm, _i, "virtual", NULL, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    for (size_t i = 0; i < attach_threads_count(t); i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        bool named = strncmp(thread->name, "ForkJoinPool-", 13) == 0;
        ck_assert_int_eq(named, (thread->flags & ATTACH_THREAD_CARRIER) != 0);
        carriers += named;
        carrying += thread->carries_tid != 0;
        if (thread->carries_tid == 0)
            continue;
        ck_assert_str_eq(thread->carries_name, "vt-computes");
        ck_assert_ptr_null(thread->lock);
        ck_assert_uint_eq(thread->owner_tid, 0);
    }
    ck_assert_int_ge(carriers, 1);
    ck_assert_int_eq(carrying, 1);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(ended_owner_is_named)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "orphans", NULL, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    for (int i = 0; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "orphan-%d", i);
        const attach_thread *orphan = threads_named(t, name);
        ck_assert_uint_ne(orphan->owner_tid, 0);
        ck_assert_str_eq(orphan->owner_name, "XNIO-died");
        ck_assert_ptr_null(orphan->owner);
        ck_assert(orphan->flags & ATTACH_THREAD_OWNER_ENDED);
        ck_assert(orphan->has_stack);
    }
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(virtual_owner_is_not_called_ended)
{
    if (threads_java(_i) == NULL || atoi(threads_version(_i)) < 21)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "parked", NULL, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    const attach_thread *wants = threads_named(t, "wants");
    ck_assert_str_eq(wants->owner_name, "vt-holds");
    ck_assert(wants->flags & ATTACH_THREAD_OWNER_GONE);
    ck_assert(!(wants->flags & ATTACH_THREAD_OWNER_ENDED));
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(waits_without_an_owner_have_stacks)
{
    static const char *const names[] = {"stamped", "writer", "permitted"};
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "ownerless", NULL, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const attach_thread *thread = threads_named(t, names[i]);
        ck_assert_int_eq(thread->state, ATTACH_THREAD_WAITING);
        ck_assert_ptr_nonnull(thread->lock);
        ck_assert_uint_eq(thread->owner_tid, 0);
        ck_assert(thread->why & ATTACH_STACK_BLOCKED);
    }
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* HotSpot reports a thread as runnable while it waits for the initialisation of a class. */
START_TEST(stalled_initialisers_have_stacks)
{
    static const char *const names[] = {"init-First", "init-Second"};
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "initialise", NULL, NULL);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, UINT32_MAX));
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
    for (size_t i = 0; i < 2; i++) {
        const attach_thread *thread = threads_named(t, names[i]);
        ck_assert_int_eq(thread->state, ATTACH_THREAD_RUNNABLE);
        ck_assert(!(thread->flags & ATTACH_THREAD_NATIVE));
        ck_assert(thread->why & ATTACH_STACK_STALLED);
        ck_assert_str_eq(attach_threads_frame(t, thread->frames[0])->method, "<clinit>");
    }
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The bytes have the form of threads.proto: protobuf-c reads them. */
START_TEST(wire_is_the_proto)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_result result;
    attach_threads *t = NULL;
    operation_bytes bytes = {0};
    threads_run(&jvm, _i, "monitors", "2", NULL);
    attach_request *r = threads_request(&jvm);
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, &bytes, NULL, NULL),
                     ATTACH_OK);
    free(r);
    ck_assert_int_eq(attach_threads_decode(&t, bytes.bytes, bytes.n, NULL), ATTACH_OK);
    Hotstack__Threads__V1__ThreadSnapshot *s =
        hotstack__threads__v1__thread_snapshot__unpack(NULL, bytes.n, bytes.bytes);
    ck_assert_ptr_nonnull(s);
    size_t n = attach_threads_count(t);
    ck_assert_uint_eq(s->version, 1);
    ck_assert_uint_eq(s->threads->n_java_tid, n);
    ck_assert_uint_eq(s->threads->state.len, n);
    ck_assert_uint_eq(s->threads->n_owner_tid, n);
    ck_assert_uint_eq(s->threads->n_owner_str, n);
    ck_assert_uint_eq(s->threads->n_carries_tid, n);
    ck_assert_uint_eq(s->threads->n_carries_str, n);
    ck_assert_uint_eq(s->native->n_os_tid, n);
    ck_assert_uint_eq(s->n_deadlocked, 2);
    ck_assert_uint_eq(s->meta->threads_total, n);
    for (size_t i = 0; i < n; i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        ck_assert_uint_eq(s->threads->java_tid[i], thread->java_tid);
        ck_assert_uint_eq(s->threads->state.data[i], thread->state);
        ck_assert_uint_eq(s->threads->cpu_ns[i], thread->cpu_ns + 1);
        ck_assert_uint_eq(s->native->os_tid[i], thread->os_tid);
        ck_assert_uint_eq(s->strings->length[s->threads->name_str[i]], strlen(thread->name));
    }
    hotstack__threads__v1__thread_snapshot__free_unpacked(s, NULL);
    attach_threads_free(t);
    free(bytes.bytes);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

void threads_add_content(Suite *suite)
{
    TCase *tc = tcase_create("content");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, deadlock_is_found, 0, 4 * THREADS_VERSIONS);
    tcase_add_loop_test(tc, owner_chain_and_states, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, full_dump_has_every_stack, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, carriers_are_marked, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, ended_owner_is_named, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, virtual_owner_is_not_called_ended, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, waits_without_an_owner_have_stacks, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, stalled_initialisers_have_stacks, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, wire_is_the_proto, 0, THREADS_VERSIONS);
    suite_add_tcase(suite, tc);
}
