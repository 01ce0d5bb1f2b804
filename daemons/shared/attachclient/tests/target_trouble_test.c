/* SPDX-License-Identifier: Apache-2.0 */
/* Tests JVMs that are stopped, dead, locked down or misbehave. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm_operation.h"
#include "target_cases.h"

#define SHORT_MS 1500

START_TEST(stopped)
{
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    jvm_fixture_freeze(&jvm);
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    operation_expect(&result, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(seen.reason, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(dead_and_changed)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    jvm_fixture other = jvm;
    other.identity.start_ticks++;
    attach_result result = operation_run(&other, ATTACH_OP_START, NULL);
    operation_expect(&result, ATTACH_REASON_IDENTITY_CHANGED);
    jvm_fixture_stop(&jvm);
    result = operation_run(&jvm, ATTACH_OP_START, NULL);
    operation_expect(&result, ATTACH_REASON_PROCESS_EXITED);
}
END_TEST

START_TEST(no_jvm_at_all)
{
    jvm_fixture jvm = {.identity = {.pid = (int32_t)getpid()}};
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    operation_expect(&result, ATTACH_REASON_NOT_HOTSPOT);
}
END_TEST

START_TEST(attach_disabled)
{
    static const char *const flags[] = {"-XX:+DisableAttachMechanism", NULL};
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, flags);
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    operation_expect(&result, ATTACH_REASON_ATTACH_DISABLED);
    jvm_fixture_expect_silence(&jvm); /* a SIGQUIT would have printed a thread dump */
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(agent_loading_disabled)
{
    static const char *const flags[] = {"-XX:-EnableDynamicAgentLoading", NULL};
    static const char *const versions[] = {"11", "17", "21", "25"};
    jvm_fixture jvm;
    if (jvm_fixture_java(versions[_i]) == NULL)
        return;
    jvm_fixture_start(&jvm, jvm_fixture_java(versions[_i]), NULL, flags);
    attach_result result = operation_start_strictly(&jvm);
    operation_expect(&result, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED);
    operation_whole_jfr_session(&jvm, "dynamic_agent_loading_disabled");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

static void copy_jdk(const char *home)
{
    char command[1200];
    (void)snprintf(
        command, sizeof(command),
        "java=$(readlink -f '%s') && cp -r ${java%%/bin/java} %s && rm -f %s/lib/src.zip",
        jvm_fixture_any(), home, home);
    ck_assert_int_eq(system(command), 0);
}

/* An upgrade of the JDK's package leaves JVMs in this state. */
START_TEST(deleted_jdk)
{
    jvm_fixture jvm;
    char home[] = "/tmp/libattach-jdk-XXXXXX", java[64], command[64];
    ck_assert_ptr_nonnull(mkdtemp(home));
    ck_assert_int_eq(rmdir(home), 0);
    copy_jdk(home);
    (void)snprintf(java, sizeof(java), "%s/bin/java", home);
    (void)snprintf(command, sizeof(command), "rm -r %s", home);
    jvm_fixture_start(&jvm, java, NULL, NULL);
    ck_assert_int_eq(system(command), 0);
    attach_request *r = operation_request(&jvm, ATTACH_OP_THREADS);
    (void)snprintf(r->library, sizeof(r->library), "%s", getenv("HOTSTACK_BAD_AGENT"));
    attach_result result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_JDK_DELETED);
    r = operation_request(&jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_JFR;
    result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_JDK_DELETED);
    operation_whole_session(&jvm, "/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_expect_silence(&jvm); /* no agent was loaded for nothing */
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(library_that_does_not_load)
{
    static const char *const versions[] = {"11", "17", "21", "25"};
    jvm_fixture jvm;
    if (jvm_fixture_java(versions[_i]) == NULL)
        return;
    jvm_fixture_start(&jvm, jvm_fixture_java(versions[_i]), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->library, sizeof(r->library), "/proc/self/exe");
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    attach_result result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_LIBRARY_LOAD_FAILED);
    r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->library, sizeof(r->library), "/nonexistent/libasyncProfiler.so");
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_NO_PROFILER_LIBRARY);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(socket_removed)
{
    char path[64];
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    (void)snprintf(path, sizeof(path), "/tmp/.java_pid%d", jvm.identity.pid);
    ck_assert_int_eq(unlink(path), 0);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

static attach_result window_soon(const jvm_fixture *jvm)
{
    attach_request *r = operation_request(jvm, ATTACH_OP_WINDOW);
    r->timeout_ms = SHORT_MS;
    return operation_send(r, NULL);
}

START_TEST(deadline_holds_for_a_jvm_stopped_midway)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL); /* its listener exists now */
    jvm_fixture_freeze(&jvm);
    attach_result result = window_soon(&jvm);
    operation_expect(&result, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A tool that waits for another one without an answer is told why that one gets none. */
START_TEST(deadline_holds_while_another_tool_works)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    int fd = jvm_fixture_lock(started.info.directory);
    attach_result result = window_soon(&jvm);
    operation_expect(&result, ATTACH_REASON_ATTACH_TIMEOUT);
    ck_assert_msg(strstr(result.message, "another Hotstack program") != NULL, "%s", result.message);
    jvm_fixture_freeze(&jvm);
    result = window_soon(&jvm);
    operation_expect(&result, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    (void)close(fd);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Loads the misbehaving agent, with a deadline of a second and a half. */
static attach_result misbehave(const jvm_fixture *jvm, const char *how)
{
    const char *agent = getenv("HOTSTACK_BAD_AGENT");
    ck_assert_ptr_nonnull(agent);
    attach_request *r = operation_request(jvm, ATTACH_OP_COMMAND);
    (void)snprintf(r->command, sizeof(r->command), "load");
    (void)snprintf(r->args[0], sizeof(r->args[0]), "%s", agent);
    (void)snprintf(r->args[1], sizeof(r->args[1]), "true");
    (void)snprintf(r->args[2], sizeof(r->args[2]), "%s", how);
    r->n_args = 3;
    if (strcmp(how, "hang") == 0)
        r->timeout_ms = SHORT_MS;
    return operation_send(r, NULL);
}

/* The profiler then refuses live objects, and a session that contains them as a whole. */
START_TEST(an_event_that_is_refused_leaves_the_others)
{
    static const char *const versions[] = {"11", "17", "21", "25"};
    jvm_fixture jvm;
    operation_bytes recording = {0};
    if (jvm_fixture_java(versions[_i]) == NULL)
        return;
    jvm_fixture_start(&jvm, jvm_fixture_java(versions[_i]), NULL, NULL);
    attach_result result = misbehave(&jvm, "objects");
    ck_assert_int_eq(result.code, ATTACH_OK);
    for (int i = 0; i < 2; i++) { /* the second takes the session over */
        attach_request *r = operation_request(&jvm, ATTACH_OP_START);
        r->live = true;
        r->wall_ns = 20000000;
        result = operation_send(r, NULL);
        ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
        ck_assert_int_eq(result.info.state, i == 0 ? ATTACH_AP_OWNED : ATTACH_AP_ADOPTED);
        ck_assert(result.info.running);
        ck_assert_uint_eq(result.info.absent, ATTACH_AP_LIVE);
        ck_assert_mem_eq(result.info.absent_reason, "live: ", 6);
    }
    (void)operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A refusal that applies to every event is not a refusal of one event: the session must not start
 * with only the few events that are tried once the JVM is ready. */
START_TEST(a_jvm_that_is_starting_fails_as_a_whole)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->library, sizeof(r->library), "%s", getenv("HOTSTACK_BAD_AGENT"));
    attach_result result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_JVM_STARTING);
    ck_assert_uint_eq(result.info.absent, 0);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(what_the_jdks_recorder_does_not_know_is_absent)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_JFR;
    r->wall_ns = 20000000;
    attach_result result = operation_send(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_uint_eq(result.info.absent, ATTACH_AP_WALL);
    ck_assert_ptr_nonnull(strstr(result.info.absent_reason, "the JDK's own recorder"));
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    r = operation_request(&jvm, ATTACH_OP_START); /* no other event is wanted */
    r->recorder = ATTACH_AP_RECORDER_JFR;
    r->engine = ATTACH_AP_ENGINE_OFF;
    r->wall_ns = 20000000;
    r->alloc_bytes = r->lock_ns = 0;
    result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_PROFILER_ERROR);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(exits_while_we_are_attached)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result result = misbehave(&jvm, "exit");
    operation_expect(&result, ATTACH_REASON_PROCESS_EXITED);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Its attach thread is stuck for good: each later request reaches its own deadline. */
START_TEST(half_dead)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result result = misbehave(&jvm, "hang");
    operation_expect(&result, ATTACH_REASON_ATTACH_TIMEOUT);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->timeout_ms = SHORT_MS;
    result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_ATTACH_TIMEOUT);
    /* a worker with too little CPU time is killed before it has cleaned up, and says so */
    if (strstr(result.message, "was killed") == NULL)
        ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    char *printed = jvm_fixture_output(&jvm); /* versions from 21 on warn of the agent itself */
    ck_assert_ptr_null(strstr(printed, "Full thread dump"));
    free(printed);
    jvm_fixture_stop(&jvm);
}
END_TEST

void target_add_trouble(Suite *suite)
{
    TCase *tc = tcase_create("trouble");
    tcase_set_timeout(tc, 400);
    tcase_add_test(tc, stopped);
    tcase_add_test(tc, dead_and_changed);
    tcase_add_test(tc, no_jvm_at_all);
    tcase_add_test(tc, attach_disabled);
    tcase_add_loop_test(tc, agent_loading_disabled, 0, 4);
    tcase_add_test(tc, deleted_jdk);
    tcase_add_loop_test(tc, library_that_does_not_load, 0, 4);
    tcase_add_test(tc, socket_removed);
    tcase_add_test(tc, deadline_holds_for_a_jvm_stopped_midway);
    tcase_add_test(tc, deadline_holds_while_another_tool_works);
    tcase_add_loop_test(tc, an_event_that_is_refused_leaves_the_others, 0, 4);
    tcase_add_test(tc, a_jvm_that_is_starting_fails_as_a_whole);
    tcase_add_test(tc, what_the_jdks_recorder_does_not_know_is_absent);
    tcase_add_test(tc, exits_while_we_are_attached);
    tcase_add_test(tc, half_dead);
    suite_add_tcase(suite, tc);
}
