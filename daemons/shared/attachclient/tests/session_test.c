/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sessions on real JVMs of every installed version: they are found, started, read in windows,
 * adopted and stopped. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jvm_operation.h"
#include "run_suite.h"

static const char *const versions[] = {"11", "17", "21", "25"};

static const char *java_of(int i)
{
    return jvm_fixture_java(versions[i]);
}

START_TEST(listed_with_version_and_main_class)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_str_eq(seen.main_class, "Target");
    ck_assert_mem_eq(seen.version, versions[_i], strlen(versions[_i]));
    ck_assert_str_ne(seen.vendor, "");
    ck_assert_int_eq(seen.reason, ATTACH_REASON_NONE);
    ck_assert_int_eq(seen.ns_pid, jvm.identity.pid);
    ck_assert_uint_eq(seen.uid, geteuid());
    ck_assert_int_eq(seen.libc, ATTACH_LIBC_GLIBC);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The command line of a program that creates its JVM itself names no main class. */
START_TEST(a_native_launcher_is_called_by_its_own_name)
{
    static const char *const counters[] = {"-XX:+UsePerfData", "-XX:-UsePerfData"};
    const char *const arguments[] = {"-java-home", "/usr/lib/jvm/x", "-user",
                                     "t",          counters[_i],     NULL};
    static const char *const program[] = {"org.acme.Boot", "start", NULL};
    jvm_fixture jvm;
    attach_jvm seen;
    const char *launcher = getenv("HOTSTACK_TEST_LAUNCHER");
    if (launcher == NULL) {
        (void)printf("# skipped: a native launcher needs jni.h: openjdk-17-jdk-headless\n");
        return;
    }
    jvm_fixture_run(&jvm, launcher, NULL, arguments, program);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_str_eq(seen.main_class, "orders");
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Tests the commands of attach_properties and attach_threaddump, whose requests are tested without
 * a JVM elsewhere. */
static void other_commands_answer(const jvm_fixture *jvm)
{
    static const struct {
        const char *command;
        const char *arg;
        const char *words;
    } asked[] = {{"properties", "", "java.specification.version="},
                 {"threaddump", "-l", "Target.holdLock"}};
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        operation_bytes text = {0};
        attach_request *r = operation_request(jvm, ATTACH_OP_COMMAND);
        (void)snprintf(r->command, sizeof(r->command), "%s", asked[i].command);
        (void)snprintf(r->args[0], sizeof(r->args[0]), "%s", asked[i].arg);
        r->n_args = asked[i].arg[0] == '\0' ? 0 : 1;
        attach_result result = operation_send(r, &text);
        ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
        ck_assert_int_eq(result.reply_code, 0);
        ck_assert_ptr_nonnull(memmem(text.bytes, text.n, asked[i].words, strlen(asked[i].words)));
        free(text.bytes);
    }
}

START_TEST(command_answers)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    operation_bytes text = {0};
    attach_result result;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_COMMAND);
    (void)snprintf(r->command, sizeof(r->command), "jcmd");
    (void)snprintf(r->args[0], sizeof(r->args[0]), "VM.version");
    r->n_args = 1;
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, &text, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(result.reply_code, 0);
    ck_assert_ptr_nonnull(memmem(text.bytes, text.n, "JDK ", 4));
    ck_assert_ptr_nonnull(memmem(text.bytes, text.n, versions[_i], strlen(versions[_i])));
    /* longer than protocol 1 can carry: sent by protocol 2 where the JVM has it */
    memset(r->args[0] + strlen("VM.version"), ' ', ATTACH_ARG_V1_MAX);
    text.n = 0;
    int wanted = strcmp(versions[_i], "25") == 0 ? ATTACH_OK : ATTACH_ERR_LIMIT;
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, &text, NULL, NULL), wanted);
    if (wanted == ATTACH_OK)
        ck_assert_ptr_nonnull(memmem(text.bytes, text.n, "JDK ", 4));
    else
        ck_assert_msg(strstr(result.message, "JDK 24") != NULL, "%s", result.message);
    other_commands_answer(&jvm);
    free(r);
    free(text.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Takes windows until one shows the busy method, however little CPU time this machine gives to
 * it. */
static int windows_until_busy(const jvm_fixture *jvm, operation_bytes *recording)
{
    int windows = 0;
    while (recording->n == 0 || memmem(recording->bytes, recording->n, "burn", 4) == NULL) {
        (void)operation_must(jvm, ATTACH_OP_WINDOW, recording);
        windows++;
    }
    return windows;
}

START_TEST(windows_without_stopping)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(started.info.state, ATTACH_AP_OWNED);
    ck_assert(started.info.running);
    ck_assert_int_ne(started.info.engine, ATTACH_AP_ENGINE_OFF);
    ck_assert_uint_eq(started.info.offset, 0);

    attach_result first = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    ck_assert_uint_eq(first.info.offset, recording.n);
    attach_result second = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    ck_assert_uint_eq(second.info.offset, recording.n);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_OWNED);
    int more = windows_until_busy(&jvm, &recording);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 3 + more);
    ck_assert_uint_eq(operation_gap_ns(&recording), 0);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    jvm_fixture_expect_silence(&jvm);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The JDK's own recorder on request: windows follow each other, and the session is adopted. */
START_TEST(windows_of_the_jdk_recorder)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_result result;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_JFR;
    ck_assert_int_eq(attachclient_run(&result, r, NULL, NULL, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(result.info.engine, ATTACH_AP_ENGINE_JFR);
    ck_assert_str_eq(result.info.engine_reason, "");
    attach_result first = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    ck_assert_uint_eq(first.info.offset, recording.n);
    ck_assert_int_eq(attachclient_run(&result, r, NULL, NULL, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(result.info.state, ATTACH_AP_ADOPTED);
    ck_assert_uint_eq(result.info.offset, recording.n);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_OWNED);
    (void)operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    int more = windows_until_busy(&jvm, &recording);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 3 + more);
    ck_assert_uint_eq(operation_gap_ns(&recording), 0);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_expect_silence(&jvm);
    free(recording.bytes);
    free(r);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A JVM without hsperfdata, and with flags that are only in its environment. */
START_TEST(listed_without_counters)
{
    static const char *const wrapper[] = {"env", "JAVA_TOOL_OPTIONS=-XX:+PerfDisableSharedMem",
                                          NULL};
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, java_of(_i), wrapper, NULL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert(seen.perf_data_off);
    ck_assert_str_eq(seen.main_class, "Target");
    ck_assert_mem_eq(seen.version, versions[_i], strlen(versions[_i]));
    ck_assert_int_eq(seen.reason, ATTACH_REASON_NONE);
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    ck_assert_int_le(seen.start_ms, now_ms + 1000);
    ck_assert_int_gt(seen.start_ms, now_ms - 600000);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(one_library_however_often_started)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    for (int round = 0; round < 3; round++) {
        operation_bytes recording = {0};
        (void)operation_must(&jvm, ATTACH_OP_START, NULL);
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
        (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
        ck_assert_int_eq(operation_whole_chunks(&recording), 1);
        ck_assert_int_eq(operation_leftovers("/tmp"), 0);
        free(recording.bytes);
    }
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so (deleted)"), 1);
    jvm_fixture_stop(&jvm);
}
END_TEST

int main(void)
{
    int n = (int)(sizeof(versions) / sizeof(versions[0])), found = 0;
    for (int i = 0; i < n; i++)
        found += java_of(i) != NULL;
    if (found == 0 || jvm_fixture_profiler() == NULL) {
        (void)printf("1..0 # SKIP no %s: ./dev test installs them\n",
                     found == 0 ? "JDK" : "libasyncProfiler.so");
        return 0;
    }
    for (int i = 0; i < n; i++)
        if (java_of(i) == NULL)
            (void)printf("# JDK %s is missing here and stays untested\n", versions[i]);
    TCase *tc = tcase_create("session");
    tcase_set_timeout(tc, 400);
    tcase_add_loop_test(tc, listed_with_version_and_main_class, 0, n);
    tcase_add_loop_test(tc, a_native_launcher_is_called_by_its_own_name, 0, 2);
    tcase_add_loop_test(tc, command_answers, 0, n);
    tcase_add_loop_test(tc, windows_without_stopping, 0, n);
    tcase_add_loop_test(tc, windows_of_the_jdk_recorder, 0, n);
    tcase_add_loop_test(tc, listed_without_counters, 0, n);
    tcase_add_loop_test(tc, one_library_however_often_started, 0, n);
    Suite *suite = suite_create("libattach-jvm-session");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
