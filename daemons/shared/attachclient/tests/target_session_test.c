/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sessions that are taken over, lost, requested again, or left behind. */
#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm_operation.h"
#include "target_cases.h"

START_TEST(restart_adopts_without_loss)
{
    jvm_fixture jvm;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    attach_result window = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    /* a program that has lost its state starts again */
    attach_result again = operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(again.info.state, ATTACH_AP_ADOPTED);
    ck_assert_uint_eq(again.info.offset, window.info.offset);
    ck_assert_int_eq(again.info.engine, window.info.engine);
    ck_assert_int_gt(again.info.started_ms, 0);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(other_settings_stop_and_start_anew)
{
    jvm_fixture jvm;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->engine = ATTACH_AP_ENGINE_ITIMER;
    attach_result result = operation_send(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_eq(result.info.state, ATTACH_AP_ORPHANED);
    ck_assert_int_eq(result.info.engine, ATTACH_AP_ENGINE_ITIMER);
    ck_assert(result.info.running);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(directory_lost_while_running)
{
    char command[400];
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    (void)snprintf(command, sizeof(command), "rm -r %s", started.info.directory);
    ck_assert_int_eq(system(command), 0);
    attach_result window = operation_run(&jvm, ATTACH_OP_WINDOW, NULL);
    operation_expect(&window, ATTACH_REASON_PROFILER_ERROR);
    attach_result again = operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(again.info.state, ATTACH_AP_ORPHANED);
    ck_assert_str_eq(again.info.directory, started.info.directory);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

static int refuse_bytes(void *ctx, const uint8_t *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return -1;
}

START_TEST(window_can_be_asked_for_again)
{
    jvm_fixture jvm;
    attach_result result;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_WINDOW);
    r->offset = 0;
    ck_assert_int_eq(attachclient_run(&result, r, refuse_bytes, NULL, NULL, NULL), ATTACH_ERR_IO);
    result = operation_send(r, &recording);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_ge(operation_whole_chunks(&recording), 2);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A worker that has answered may finish its work, or that of a memory checker in it. */
START_TEST(worker_that_answered_is_let_end)
{
    char worker[] = "/tmp/worker-XXXXXX", ended[sizeof(worker) + sizeof(".ended")];
    attachclient_options options = ATTACHCLIENT_OPTIONS_INIT;
    jvm_fixture jvm;
    attach_result result;
    int fd = mkstemp(worker);
    ck_assert_int_ge(fd, 0);
    (void)snprintf(ended, sizeof(ended), "%s.ended", worker);
    ck_assert_int_gt(dprintf(fd, "#!/bin/sh\n\"%s\"\nsleep 0.1\n: >\"%s\"\n",
                             getenv("HOTSTACK_ATTACH_WORKER"), ended),
                     0);
    ck_assert_int_eq(fchmod(fd, 0700), 0);
    ck_assert_int_eq(close(fd), 0);
    options.worker = worker;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_STATUS);
    ck_assert_int_eq(attachclient_run(&result, r, NULL, NULL, &options, NULL), ATTACH_OK);
    ck_assert_int_eq(unlink(worker), 0);
    ck_assert_int_eq(unlink(ended), 0);
    free(r);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(leftovers_are_swept)
{
    jvm_fixture dead, jvm;
    jvm_fixture_start(&dead, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&dead, ATTACH_OP_START, NULL);
    ck_assert_int_eq(operation_leftovers("/tmp"), 1);
    jvm_fixture_stop(&dead); /* from now on a start in any other test may sweep it */
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(operation_leftovers("/tmp"), 1);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(session_ends_by_itself)
{
    jvm_fixture jvm;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->max_seconds = 1;
    attach_result result = operation_send(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    while (operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.running)
        continue; /* each status takes a while; the test's own time limit bounds the wait */
    attach_result last = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert(!last.info.running);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    attach_result none = operation_run(&jvm, ATTACH_OP_WINDOW, &recording);
    operation_expect(&none, ATTACH_REASON_PROFILER_ERROR);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A recording that cannot be handed over is reported; the session and its files are removed all the
 * same. */
START_TEST(discard_ends_a_session_whose_recording_is_damaged)
{
    jvm_fixture jvm;
    char command[400];
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    (void)snprintf(command, sizeof(command),
                   "printf XXXX | dd of=%s/recording.jfr conv=notrunc status=none",
                   started.info.directory);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_ne(operation_run(&jvm, ATTACH_OP_STOP, NULL).code, ATTACH_OK);
    ck_assert_int_eq(operation_leftovers("/tmp"), 1);
    attach_result discarded = operation_must(&jvm, ATTACH_OP_DISCARD, NULL);
    ck_assert(!discarded.info.running);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    operation_whole_session(&jvm, "/tmp/hotstack-");
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The profiler goes on writing to the file that the JVM has replaced. */
START_TEST(a_recording_that_was_replaced_is_damaged)
{
    jvm_fixture jvm;
    char command[400];
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    (void)snprintf(command, sizeof(command), "cd %s && cp recording.jfr x && mv x recording.jfr",
                   started.info.directory);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(operation_run(&jvm, ATTACH_OP_WINDOW, NULL).code, ATTACH_ERR_FORMAT);
    (void)operation_must(&jvm, ATTACH_OP_DISCARD, NULL);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* This JVM makes more than one event of each kind in a second; the events over the limit are
 * counted. */
START_TEST(events_past_the_rate_limit_are_counted)
{
    jvm_fixture jvm;
    operation_bytes recording = {0};
    uint64_t dropped = 0;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    r->cpu_interval_ns = 1000000;
    r->rate_limit = 1;
    attach_result result = operation_send(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    while (dropped == 0)
        dropped = operation_must(&jvm, ATTACH_OP_WINDOW, &recording).info.dropped;
    dropped = 0;
    while (dropped == 0) /* the next window has its own */
        dropped = operation_must(&jvm, ATTACH_OP_WINDOW, &recording).info.dropped;
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Refuses perf events to this test's process and all that it starts, like a container's seccomp
 * profile. */
static void refuse_perf_events(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/* Returns the setting in the recording: the name is followed by the value as text. */
static uint64_t stated_interval(const operation_bytes *recording)
{
    static const char name[] = "interval";
    const uint8_t *at = memmem(recording->bytes, recording->n, name, sizeof(name) - 1);
    ck_assert_ptr_nonnull(at);
    return strtoull((const char *)at + sizeof(name) + 1, NULL, 10); /* its kind, its length */
}

/* A sample stands for the interval that the recording states. With an interval shorter than the
 * kernel's timer can reach, the sum would be only a part of the CPU time. */
START_TEST(a_timer_states_no_interval_below_the_kernels_tick)
{
    static const attach_ap_engine engines[] = {ATTACH_AP_ENGINE_AUTO, ATTACH_AP_ENGINE_CTIMER,
                                               ATTACH_AP_ENGINE_ITIMER};
    jvm_fixture jvm;
    operation_bytes recording = {0};
    struct timespec tick;
    ck_assert_int_eq(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
    bool reached = tick.tv_nsec <= 1000000;
    refuse_perf_events();
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    r->engine = engines[_i];
    r->cpu_interval_ns = 1000000;
    attach_result started = operation_send(r, NULL);
    ck_assert_msg(started.code == ATTACH_OK, "%s", started.message);
    ck_assert_int_eq(started.info.engine,
                     engines[_i] == ATTACH_AP_ENGINE_AUTO ? ATTACH_AP_ENGINE_CTIMER : engines[_i]);
    ck_assert_int_eq(strstr(started.info.engine_reason, "the kernel's tick") == NULL, reached);
    r = operation_request(&jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    r->engine = engines[_i];
    r->cpu_interval_ns = 1000000;
    ck_assert_int_eq(operation_send(r, NULL).info.state, ATTACH_AP_ADOPTED);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_uint_eq(stated_interval(&recording), reached ? 1000000 : (uint64_t)tick.tv_nsec);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(stop_twice)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STOP, NULL).info.state, ATTACH_AP_NONE);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STOP, NULL).info.state, ATTACH_AP_NONE);
    attach_result window = operation_run(&jvm, ATTACH_OP_WINDOW, NULL);
    operation_expect(&window, ATTACH_REASON_PROFILER_ERROR);
    jvm_fixture_stop(&jvm);
}
END_TEST

void target_add_session(Suite *suite)
{
    TCase *tc = tcase_create("session");
    tcase_set_timeout(tc, 400);
    tcase_add_test(tc, restart_adopts_without_loss);
    tcase_add_test(tc, other_settings_stop_and_start_anew);
    tcase_add_test(tc, directory_lost_while_running);
    tcase_add_test(tc, window_can_be_asked_for_again);
    tcase_add_test(tc, worker_that_answered_is_let_end);
    tcase_add_test(tc, leftovers_are_swept);
    tcase_add_test(tc, session_ends_by_itself);
    tcase_add_test(tc, discard_ends_a_session_whose_recording_is_damaged);
    tcase_add_test(tc, a_recording_that_was_replaced_is_damaged);
    tcase_add_test(tc, events_past_the_rate_limit_are_counted);
    tcase_add_loop_test(tc, a_timer_states_no_interval_below_the_kernels_tick, 0, 3);
    tcase_add_test(tc, stop_twice);
    suite_add_tcase(suite, tc);
}
