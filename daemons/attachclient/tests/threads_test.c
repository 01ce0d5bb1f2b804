/* Thread snapshots of real JVMs of every version there is. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "threads.pb-c.h"
#include "threads_ask.h"

#define DEFAULT_FLAGS (ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS)

static const char *const versions[] = {"11", "17", "21", "25"};

#define VERSIONS ((int)(sizeof(versions) / sizeof(versions[0])))

static const char *java_of(int i)
{
    return jvm_fixture_java(versions[i % VERSIONS]);
}

static void run(jvm_fixture *out, int version, const char *kind, const char *first,
                const char *second)
{
    const char *const program[] = {"Threads", kind, first, second, NULL};
    jvm_fixture_run(out, java_of(version), NULL, NULL, program);
}

/* ---- deadlocks ---- */

/* Every thread waits for a lock that the next holds, and its stack says where it has locked. */
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
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    int row = _i / VERSIONS;
    run(&jvm, _i, deadlocks[row].kind, deadlocks[row].n, NULL);
    attach_threads *t = threads_take(&jvm, DEFAULT_FLAGS, 0);
    check_cycle(t, (size_t)atoi(deadlocks[row].n), deadlocks[row].method,
                strcmp(deadlocks[row].kind, "monitors") == 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* ---- what a snapshot holds ---- */

START_TEST(owner_chain_and_states)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    run(&jvm, _i, "contend", NULL, NULL);
    attach_threads *t = threads_take(&jvm, DEFAULT_FLAGS, 0);
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
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    run(&jvm, _i, "locks", "2", NULL);
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
    if (java_of(_i) == NULL || atoi(versions[_i]) < 21)
        return;
    jvm_fixture jvm;
    int carriers = 0;
    run(&jvm, _i, "virtual", NULL, NULL);
    attach_threads *t = threads_take(&jvm, DEFAULT_FLAGS, 0);
    for (size_t i = 0; i < attach_threads_count(t); i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        bool named = strncmp(thread->name, "ForkJoinPool-", 13) == 0;
        ck_assert_int_eq(named, (thread->flags & ATTACH_THREAD_CARRIER) != 0);
        carriers += named;
    }
    ck_assert_int_ge(carriers, 1);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The bytes are what threads.proto says: read by protobuf-c. */
START_TEST(wire_is_the_proto)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_result result;
    attach_threads *t = NULL;
    operation_bytes bytes = {0};
    run(&jvm, _i, "monitors", "2", NULL);
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

/* ---- CPU time and native ids ---- */

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

static uint32_t task_called(const jvm_fixture *jvm, const char *name)
{
    char command[128];
    unsigned tid = 0;
    (void)snprintf(command, sizeof(command), "grep -lx '%s' /proc/%d/task/*/comm", name,
                   jvm->identity.pid);
    FILE *found = popen(command, "r");
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(fscanf(found, "/proc/%*d/task/%u/comm", &tid), 1);
    (void)pclose(found);
    return tid;
}

/* Threads that burn 30, 60 and 90 percent of a core, over 10 s: within 5 % of what the kernel says.
 * The kernel's clock is read right beside each snapshot, so that a loaded machine cannot matter. */
START_TEST(busy_threads_agree_with_the_kernel)
{
    static const char *const names[] = {"burn-30", "burn-60", "burn-90"};
    static const char *const program[] = {"Threads", "burn", "30", "60", "90", NULL};
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    uint32_t tids[3];
    uint64_t kernel[3];
    jvm_fixture_run(&jvm, java_of(_i), NULL, NULL, program);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, UINT32_MAX)); /* loads */
    for (int i = 0; i < 3; i++)
        tids[i] = task_called(&jvm, names[i]);
    attach_threads *before = threads_take(&jvm, DEFAULT_FLAGS, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        kernel[i] = task_cpu_ns(&jvm, tids[i]);
    (void)nanosleep(&(struct timespec){10, 0}, NULL); /* the window that is measured */
    attach_threads *after = threads_take(&jvm, DEFAULT_FLAGS, 3);
    for (int i = 0; i < 3; i++) {
        const attach_thread *thread = threads_named(after, names[i]);
        double told = (double)attach_thread_cpu_since(thread, before);
        double truth = (double)(task_cpu_ns(&jvm, tids[i]) - kernel[i]);
        (void)printf("# %s on %s: told %.3f s, kernel %.3f s, off by %+.2f %%\n", names[i],
                     versions[_i], told / 1e9, truth / 1e9, (told / truth - 1) * 100);
        ck_assert_uint_eq(thread->os_tid, tids[i]);
        ck_assert_double_gt(truth, 1e8); /* a loaded machine gives less than was asked for */
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

/* An id that is given is the right one: the kernel's name for it fits. */
START_TEST(native_ids_are_certain)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    size_t given = 0;
    run(&jvm, _i, "many", "200", NULL);
    attach_threads *t = threads_take(&jvm, DEFAULT_FLAGS, UINT32_MAX);
    for (size_t i = 0; i < attach_threads_count(t); i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        if (thread->os_tid == 0 || strncmp(thread->name, "idle-", 5) != 0)
            continue;
        ck_assert_uint_eq(task_called(&jvm, thread->name), thread->os_tid);
        given++;
    }
    (void)printf("# %s: native ids of %zu of 200 idle threads\n", versions[_i], given);
    ck_assert_uint_ge(given, 190);
    attach_threads_free(t);
    t = threads_take(&jvm, 0, UINT32_MAX);
    ck_assert_uint_eq(attach_threads_at(t, 0)->os_tid, 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* ---- bounds ---- */

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
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_threads *t = NULL;
    run(&jvm, _i, "many", "5000", NULL);
    t = threads_take(&jvm, DEFAULT_FLAGS, 0);
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    (void)printf("# %s: %zu threads in %.0f ms, stacks in %.1f ms\n", versions[_i],
                 attach_threads_count(t), (double)meta->total_took_ns / 1e6,
                 (double)meta->stacks_took_ns / 1e6);
    ck_assert_uint_ge(attach_threads_count(t), 5000);
    ck_assert_uint_eq(meta->cut, 0);
    ck_assert_uint_eq(meta->stacks_wanted, 64);
    attach_threads_free(t);

    attach_request *r = threads_request(&jvm); /* fewer threads than there are */
    r->max_threads = 100;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert_uint_eq(attach_threads_count(t), 100);
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, ATTACH_CUT_THREADS);
    ck_assert_uint_ge(attach_threads_meta_of(t)->threads_total, 5000);
    attach_threads_free(t);

    r = threads_request(&jvm); /* fewer bytes than it takes */
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
    ck_assert_uint_gt(attach_threads_count(t), 200); /* as many as there is room for */
    attach_threads_free(t);
    free(bytes.bytes);

    r = threads_request(&jvm); /* a full dump that may have too little time for all stacks */
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

/* With few stacks at a time each thread's comes in turn. */
START_TEST(idle_threads_are_sampled_in_turn)
{
    jvm_fixture jvm;
    bool seen[40] = {false};
    int left = 40;
    run(&jvm, 1, "many", "40", NULL);
    for (int round = 0; round < 30 && left > 0; round++) {
        attach_threads *t = threads_take(&jvm, DEFAULT_FLAGS, 8);
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

/* A dump that would fill the heap is refused with words, and the JVM lives on. */
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
    t = threads_take(&jvm, DEFAULT_FLAGS, 0);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* ---- contention monitoring ---- */

static bool contention_of(const jvm_fixture *jvm, uint32_t flags)
{
    attach_threads *t = threads_take(jvm, flags, UINT32_MAX);
    bool on = attach_threads_meta_of(t)->contention;
    const attach_thread *wanting = threads_named(t, "wanting-0");
    ck_assert_int_eq(on, wanting->blocked_ms != ATTACH_THREADS_UNKNOWN);
    attach_threads_free(t);
    return on;
}

START_TEST(contention_monitoring_only_when_asked)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    run(&jvm, _i, "contend", NULL, NULL);
    ck_assert(!contention_of(&jvm, 0));
    ck_assert(contention_of(&jvm, ATTACH_THREADS_CONTENTION));
    ck_assert(!contention_of(&jvm, 0));
    ck_assert(contention_of(&jvm, ATTACH_THREADS_CONTENTION));
    threads_end(&jvm); /* the lease's end switches it back */
    ck_assert(!contention_of(&jvm, 0));
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* ---- the agent's life ---- */

/* Under -Xcheck:jni every wrong use of JNI is printed; and it must leave nothing behind. */
START_TEST(leaves_the_jvm_as_it_was)
{
    static const char *const flags[] = {"-Xcheck:jni", "-XX:+EnableDynamicAgentLoading", NULL};
    const char *const program[] = {"Threads", "monitors", "5", NULL};
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    jvm_fixture_run(&jvm, java_of(_i), NULL, flags, program);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
            attach_threads_free(
                threads_take(&jvm, ATTACH_THREADS_FULL | ATTACH_THREADS_MONITORS, 0));
            ck_assert_int_eq(threads_leftovers(), 1);
        }
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libhotstackthreads.so"), 1);
        ck_assert_uint_ne(task_called(&jvm, "hotstack"), 0);
        threads_end(&jvm);
        ck_assert_int_eq(threads_leftovers(), 0);
    }
    threads_end(&jvm); /* twice does no harm */
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* JEP 451: newer JVMs say on their standard error that a library was loaded, once in their life. */
START_TEST(loading_is_warned_of_once)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    for (int round = 0; round < 2; round++) {
        attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
        threads_end(&jvm);
    }
    char *printed = jvm_fixture_output(&jvm);
    const char *first = strstr(printed, "WARNING: A JVM TI agent has been loaded dynamically");
    ck_assert_int_eq(first != NULL, atoi(versions[_i]) >= 21);
    if (first != NULL)
        ck_assert_ptr_null(strstr(first + 1, "WARNING: A JVM TI agent"));
    free(printed);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* An agent that nobody asks any more ends by itself with all its files. */
START_TEST(lease_ends_by_time)
{
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = threads_request(&jvm);
    r->lease_ms = 100;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    attach_threads_free(t);
    while (threads_leftovers() > 0) /* the test's own time limit bounds the wait */
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0)); /* and comes back when asked */
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Two programs share one agent; it stays until the second is done. */
START_TEST(two_programs_share_one_agent)
{
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    attach_request *r = threads_request(&jvm);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other");
    (void)snprintf(r->lease_id, sizeof(r->lease_id), "other1");
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert_uint_eq(attach_threads_meta_of(t)->interval_ns, 0); /* its own first */
    attach_threads_free(t);
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libhotstackthreads.so"), 1);
    ck_assert_int_eq(threads_leftovers(), 1);
    threads_end(&jvm);
    ck_assert_int_eq(threads_leftovers(), 1);
    r = threads_request(&jvm);
    r->op = ATTACH_OP_THREADS_CLOSE;
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other");
    (void)snprintf(r->lease_id, sizeof(r->lease_id), "other1");
    attach_result result;
    ck_assert_int_eq(attachclient_run(&result, r, NULL, NULL, NULL, NULL), ATTACH_OK);
    free(r);
    ck_assert_int_eq(threads_leftovers(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* /tmp cleaners: the socket, then the whole directory. */
START_TEST(lost_files_are_made_anew)
{
    char command[128];
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    (void)snprintf(command, sizeof(command), "rm /tmp/hotstack-threads-%s-*/socket",
                   operation_installation());
    ck_assert_int_eq(system(command), 0);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    (void)snprintf(command, sizeof(command), "rm -r /tmp/hotstack-threads-%s-*",
                   operation_installation());
    ck_assert_int_eq(system(command), 0);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libhotstackthreads.so"), 1);
    threads_end(&jvm);
    ck_assert_int_eq(threads_leftovers(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(killed_and_ending_jvms)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    ck_assert_int_eq(kill(jvm.identity.pid, SIGTERM), 0); /* exits: the agent tidies up */
    while (threads_leftovers() > 0)
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    jvm_fixture_stop(&jvm);
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    jvm_fixture_stop(&jvm); /* killed: swept by the next one */
    ck_assert_int_eq(threads_leftovers(), 1);
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    ck_assert_int_eq(threads_leftovers(), 1);
    threads_end(&jvm);
    ck_assert_int_eq(threads_leftovers(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(stopped_jvm_ends_in_a_reason)
{
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    jvm_fixture_freeze(&jvm);
    attach_request *r = threads_request(&jvm);
    r->timeout_ms = 1500;
    ck_assert_int_eq(threads_send(&t, r).reason, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    attach_threads_free(threads_take(&jvm, DEFAULT_FLAGS, 0));
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(another_user)
{
    static const char *const wrapper[] = {"setpriv", "--reuid",        "65534", "--regid",
                                          "65534",   "--clear-groups", NULL};
    jvm_fixture jvm;
    if (geteuid() != 0 || jvm_fixture_shared() == NULL) {
        (void)printf("# skipped: a JVM of another user needs root and a java for everybody\n");
        return;
    }
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    attach_threads *t = threads_take(&jvm, DEFAULT_FLAGS, 0);
    (void)threads_named(t, "main");
    attach_threads_free(t);
    threads_end(&jvm);
    ck_assert_int_eq(threads_leftovers(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(without_the_agents_file)
{
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = threads_request(&jvm);
    (void)snprintf(r->library, sizeof(r->library), "/nonexistent/libhotstackthreads.so");
    ck_assert_int_eq(threads_send(&t, r).reason, ATTACH_REASON_NO_THREAD_AGENT);
    r = threads_request(&jvm);
    (void)snprintf(r->library, sizeof(r->library), "/proc/self/exe");
    ck_assert_int_eq(threads_send(&t, r).reason, ATTACH_REASON_LIBRARY_LOAD_FAILED);
    ck_assert_int_eq(threads_leftovers(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, deadlock_is_found, 0, 4 * VERSIONS);
    tcase_add_loop_test(tc, owner_chain_and_states, 0, VERSIONS);
    tcase_add_loop_test(tc, full_dump_has_every_stack, 0, VERSIONS);
    tcase_add_loop_test(tc, carriers_are_marked, 0, VERSIONS);
    tcase_add_loop_test(tc, wire_is_the_proto, 0, VERSIONS);
    tcase_add_loop_test(tc, busy_threads_agree_with_the_kernel, 0, VERSIONS);
    tcase_add_loop_test(tc, native_ids_are_certain, 0, VERSIONS);
    tcase_add_loop_test(tc, five_thousand_threads, 0, VERSIONS);
    tcase_add_test(tc, deep_stacks_are_cut_and_told);
    tcase_add_test(tc, idle_threads_are_sampled_in_turn);
    tcase_add_test(tc, full_dump_needs_headroom);
    tcase_add_loop_test(tc, contention_monitoring_only_when_asked, 0, VERSIONS);
    tcase_add_loop_test(tc, leaves_the_jvm_as_it_was, 0, VERSIONS);
    tcase_add_loop_test(tc, loading_is_warned_of_once, 0, VERSIONS);
    tcase_add_test(tc, lease_ends_by_time);
    tcase_add_test(tc, two_programs_share_one_agent);
    tcase_add_test(tc, lost_files_are_made_anew);
    tcase_add_test(tc, killed_and_ending_jvms);
    tcase_add_test(tc, stopped_jvm_ends_in_a_reason);
    tcase_add_test(tc, another_user);
    tcase_add_test(tc, without_the_agents_file);
}

int main(void)
{
    if (jvm_fixture_any() == NULL) {
        (void)printf("1..0 # SKIP no JDK: ./dev test installs them\n");
        return 0;
    }
    for (int i = 0; i < VERSIONS; i++)
        if (java_of(i) == NULL)
            (void)printf("# JDK %s is missing here and stays untested\n", versions[i]);
    TCase *tc = tcase_create("threads");
    tcase_set_timeout(tc, 180);
    add_tests(tc);
    Suite *suite = suite_create("libattach-jvm-threads");
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
