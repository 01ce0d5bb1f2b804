/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what the agent switches on, leaves, shares and survives in a JVM. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "threads_ask.h"
#include "threads_cases.h"

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
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    threads_run(&jvm, _i, "contend", NULL, NULL);
    ck_assert(!contention_of(&jvm, 0));
    ck_assert(contention_of(&jvm, ATTACH_THREADS_CONTENTION));
    ck_assert(!contention_of(&jvm, 0));
    ck_assert(contention_of(&jvm, ATTACH_THREADS_CONTENTION));
    threads_end(&jvm); /* the end of the lease switches it off again */
    ck_assert(!contention_of(&jvm, 0));
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* -Xcheck:jni prints every wrong use of JNI. The agent must leave nothing behind. */
START_TEST(leaves_the_jvm_as_it_was)
{
    static const char *const flags[] = {"-Xcheck:jni", "-XX:+EnableDynamicAgentLoading", NULL};
    const char *const program[] = {"Threads", "monitors", "5", NULL};
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    jvm_fixture_run(&jvm, threads_java(_i), NULL, flags, program);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
            attach_threads_free(
                threads_take(&jvm, ATTACH_THREADS_FULL | ATTACH_THREADS_MONITORS, 0));
            ck_assert_int_eq(threads_leftovers(), 1);
        }
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libhotstackthreads.so"), 1);
        ck_assert_uint_ne(threads_task_called(&jvm, "hotstack"), 0);
        threads_end(&jvm);
        ck_assert_int_eq(threads_leftovers(), 0);
    }
    threads_end(&jvm); /* a second end does no harm */
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* JEP 451: newer JVMs report once in their life, on standard error, that a library was loaded. */
START_TEST(loading_is_warned_of_once)
{
    if (threads_java(_i) == NULL)
        return;
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, threads_java(_i), NULL, NULL);
    for (int round = 0; round < 2; round++) {
        attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
        threads_end(&jvm);
    }
    char *printed = jvm_fixture_output(&jvm);
    const char *first = strstr(printed, "WARNING: A JVM TI agent has been loaded dynamically");
    ck_assert_int_eq(first != NULL, atoi(threads_version(_i)) >= 21);
    if (first != NULL)
        ck_assert_ptr_null(strstr(first + 1, "WARNING: A JVM TI agent"));
    free(printed);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* An agent without requests ends by itself, switches off what it switched on, and removes all its
 * files. */
START_TEST(lease_ends_by_time)
{
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = threads_request(&jvm);
    r->lease_ms = 100;
    r->threads_flags |= ATTACH_THREADS_CONTENTION;
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert(attach_threads_meta_of(t)->contention);
    attach_threads_free(t);
    while (threads_leftovers() > 0) /* the test's own time limit bounds the wait */
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0); /* and starts again on the next request */
    ck_assert(!attach_threads_meta_of(t)->contention);
    attach_threads_free(t);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Two programs share one agent; it stays until the second has ended its lease. */
START_TEST(two_programs_share_one_agent)
{
    jvm_fixture jvm;
    attach_threads *t = NULL;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    attach_request *r = threads_request(&jvm);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other");
    (void)snprintf(r->lease_id, sizeof(r->lease_id), "other1");
    ck_assert_int_eq(threads_send(&t, r).code, ATTACH_OK);
    ck_assert_uint_eq(attach_threads_meta_of(t)->interval_ns, 0); /* its first snapshot */
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

/* Cleaners of /tmp remove the socket, then the whole directory. */
START_TEST(lost_files_are_made_anew)
{
    char command[128];
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    (void)snprintf(command, sizeof(command), "rm /tmp/hotstack-threads-%s-*/socket",
                   operation_installation());
    ck_assert_int_eq(system(command), 0);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    (void)snprintf(command, sizeof(command), "rm -r /tmp/hotstack-threads-%s-*",
                   operation_installation());
    ck_assert_int_eq(system(command), 0);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
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
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    ck_assert_int_eq(kill(jvm.identity.pid, SIGTERM), 0); /* exits: the agent cleans up */
    while (threads_leftovers() > 0)
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    jvm_fixture_stop(&jvm);
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    ck_assert_int_eq(threads_leftovers(), 1);
    jvm_fixture_stop(&jvm); /* killed: the next agent removes the files, whoever starts it */
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
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
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    jvm_fixture_freeze(&jvm);
    attach_request *r = threads_request(&jvm);
    r->timeout_ms = 1500;
    ck_assert_int_eq(threads_send(&t, r).reason, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

static attach_reason close_soon(const jvm_fixture *jvm)
{
    attach_threads *none = NULL;
    attach_request *r = threads_request(jvm);
    r->op = ATTACH_OP_THREADS_CLOSE;
    r->timeout_ms = 1500;
    return threads_send(&none, r).reason;
}

START_TEST(jvm_stopped_while_another_tool_works_ends_in_a_reason)
{
    char pattern[96];
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_threads_free(threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0));
    (void)snprintf(pattern, sizeof(pattern), "/tmp/hotstack-threads-%s-*",
                   operation_installation());
    int fd = jvm_fixture_lock(pattern);
    ck_assert_int_eq(close_soon(&jvm), ATTACH_REASON_ATTACH_TIMEOUT);
    jvm_fixture_freeze(&jvm);
    ck_assert_int_eq(close_soon(&jvm), ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    (void)close(fd);
    threads_end(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(another_user)
{
    jvm_fixture jvm;
    if (geteuid() != 0 || jvm_fixture_shared() == NULL) {
        (void)printf("# skipped: a JVM of another user needs root and a java for everybody\n");
        return;
    }
    jvm_fixture_start(&jvm, jvm_fixture_shared(), jvm_fixture_as_nobody, NULL);
    attach_threads *t = threads_take(&jvm, THREADS_DEFAULT_FLAGS, 0);
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

void threads_add_life(Suite *suite)
{
    TCase *tc = tcase_create("life");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, contention_monitoring_only_when_asked, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, leaves_the_jvm_as_it_was, 0, THREADS_VERSIONS);
    tcase_add_loop_test(tc, loading_is_warned_of_once, 0, THREADS_VERSIONS);
    tcase_add_test(tc, lease_ends_by_time);
    tcase_add_test(tc, two_programs_share_one_agent);
    tcase_add_test(tc, lost_files_are_made_anew);
    tcase_add_test(tc, killed_and_ending_jvms);
    tcase_add_test(tc, stopped_jvm_ends_in_a_reason);
    tcase_add_test(tc, jvm_stopped_while_another_tool_works_ends_in_a_reason);
    tcase_add_test(tc, another_user);
    tcase_add_test(tc, without_the_agents_file);
    suite_add_tcase(suite, tc);
}
