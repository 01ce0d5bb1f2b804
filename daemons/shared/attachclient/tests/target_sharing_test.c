/* SPDX-License-Identifier: Apache-2.0 */
/* Tests several tools on one JVM: other profilers, and several of ours. */
#include <check.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jvm_operation.h"
#include "target_cases.h"

static void load_elsewhere(const jvm_fixture *jvm, const char *path, const char *options)
{
    attach_request *r = operation_request(jvm, ATTACH_OP_COMMAND);
    operation_bytes answer = {0};
    (void)snprintf(r->command, sizeof(r->command), "load");
    (void)snprintf(r->args[0], sizeof(r->args[0]), "%s", path);
    (void)snprintf(r->args[1], sizeof(r->args[1]), "true");
    (void)snprintf(r->args[2], sizeof(r->args[2]), "%s", options);
    r->n_args = 3;
    attach_result result = operation_send(r, &answer);
    ck_assert_int_eq(result.code, ATTACH_OK);
    ck_assert_ptr_nonnull(memmem(answer.bytes, answer.n, "return code: 0", 14));
    free(answer.bytes);
}

START_TEST(external_profiler)
{
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    load_elsewhere(&jvm, jvm_fixture_profiler(), "start,event=itimer,quiet");
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    operation_expect(&result, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_EXTERNAL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(seen.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    /* its session continues, even after our stop */
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    load_elsewhere(&jvm, jvm_fixture_profiler(), "stop,file=/dev/null,collapsed,quiet");
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(idle_external_profiler_is_shared)
{
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    load_elsewhere(&jvm, jvm_fixture_profiler(), "version,quiet,file=/dev/null");
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(seen.reason, ATTACH_REASON_NONE);
    ck_assert_str_eq(seen.profiler, "async-profiler");
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    for (int round = 0; round < 2; round++) {
        operation_whole_session(&jvm, "/tmp/hotstack-");
        ck_assert_int_eq(operation_leftovers("/tmp"), 0);
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler"), 1);
    }
    /* while our session runs, its loader gets the answer that we would get */
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_OWNED);
    attach_result again = operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(again.info.state, ATTACH_AP_ADOPTED);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

typedef struct racer {
    attach_request *request;
    attach_result result;
    int returned;
} racer;

static racer racer_make(const jvm_fixture *jvm, int number)
{
    racer r = {.request = operation_request(jvm, ATTACH_OP_START)};
    (void)snprintf(r.request->installation_id, sizeof(r.request->installation_id), "race%dx%d",
                   (int)getpid(), number);
    (void)snprintf(r.request->owner, sizeof(r.request->owner), "tool %d", number);
    r.request->max_seconds = 600;
    return r;
}

static int race_leftovers(void)
{
    char prefix[64];
    (void)snprintf(prefix, sizeof(prefix), "hotstack-race%dx", (int)getpid());
    return jvm_fixture_entries("/tmp", prefix);
}

static void *race(void *ctx)
{
    racer *r = ctx;
    r->returned = attachclient_run(&r->result, r->request, NULL, NULL, NULL, NULL);
    return NULL;
}

static void stop_race(const jvm_fixture *jvm, int number, operation_bytes *recording)
{
    attach_request *r = operation_request(jvm, ATTACH_OP_STOP);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "race%dx%d", (int)getpid(),
                   number);
    attach_result result = operation_send(r, recording);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
}

/* Both start at the same moment in a JVM that no tool has attached to before. */
START_TEST(two_tools_at_once)
{
    jvm_fixture jvm;
    pthread_t threads[2];
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    racer racers[] = {racer_make(&jvm, 0), racer_make(&jvm, 1)};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        ck_assert_int_eq(racers[i].returned, racers[i].result.code);
        free(racers[i].request);
    }
    int winner = racers[0].result.code == ATTACH_OK ? 0 : 1;
    const attach_result *lost = &racers[1 - winner].result;
    char words[64];
    ck_assert_msg(racers[winner].result.code == ATTACH_OK, "%s", racers[winner].result.message);
    operation_expect(lost, ATTACH_REASON_EXTERNAL_PROFILER);
    (void)snprintf(words, sizeof(words), "tool %d has a session", winner);
    ck_assert_msg(strstr(lost->message, words) != NULL, "%s", lost->message);
    ck_assert_msg(strstr(lost->message, ", until 20") != NULL, "%s", lost->message);
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
    attach_result seen = operation_must(&jvm, ATTACH_OP_STATUS, NULL);
    ck_assert_int_eq(seen.info.state, ATTACH_AP_EXTERNAL);
    ck_assert_int_gt(seen.info.until_ms, seen.info.started_ms);
    ck_assert_mem_eq(seen.info.owner, words, strlen("tool 0"));
    stop_race(&jvm, winner, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    stop_race(&jvm, 1 - winner, NULL);
    ck_assert_int_eq(race_leftovers(), 0);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(another_installation)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other%d", (int)getpid());
    attach_result result = operation_send(r, NULL);
    operation_expect(&result, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_msg(strstr(result.message, operation_installation()) != NULL, "%s", result.message);
    ck_assert_msg(strstr(result.message, "until it is stopped") != NULL, "%s", result.message);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);

    /* free now: the other tool uses the mapped copy */
    r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other%d", (int)getpid());
    result = operation_send(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_EXTERNAL);
    r = operation_request(&jvm, ATTACH_OP_STOP);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other%d", (int)getpid());
    result = operation_send(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_eq(jvm_fixture_entries("/tmp", "hotstack-other") + operation_leftovers("/tmp"),
                     0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Counts the descriptors of that file in all processes that may be examined. */
static int holders(const char *path)
{
    glob_t found;
    char target[256];
    int n = 0;
    ck_assert_int_eq(glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        ssize_t length = readlink(found.gl_pathv[i], target, sizeof(target) - 1);
        target[length < 0 ? 0 : length] = '\0';
        n += strcmp(target, path) == 0;
    }
    globfree(&found);
    return n;
}

/* A tool that waited while the directory was removed must look for it again. The profiler would
 * write to the JVM's standard output if it got a directory that no longer exists. */
START_TEST(directory_taken_away_while_a_tool_waits)
{
    char command[400];
    jvm_fixture jvm;
    pthread_t thread;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    int fd = jvm_fixture_lock(started.info.directory);
    racer asker = {.request = operation_request(&jvm, ATTACH_OP_STATUS)};
    ck_assert_int_eq(pthread_create(&thread, NULL, race, &asker), 0);
    while (holders(started.info.directory) < 2)
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    (void)snprintf(command, sizeof(command), "rm -r %s", started.info.directory);
    ck_assert_int_eq(system(command), 0);
    (void)close(fd);
    (void)pthread_join(thread, NULL);
    ck_assert_msg(asker.returned == ATTACH_OK, "%s", asker.result.message);
    ck_assert(asker.result.info.running);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    free(asker.request);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The second tool's session is in the directory from which the first tool's library was loaded. */
START_TEST(leftovers_of_a_second_tool_are_swept)
{
    jvm_fixture dead, jvm;
    jvm_fixture_start(&dead, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&dead, ATTACH_OP_START, NULL);
    (void)operation_must(&dead, ATTACH_OP_STOP, NULL);
    racer second = racer_make(&dead, 0);
    (void)race(&second);
    ck_assert_msg(second.returned == ATTACH_OK, "%s", second.result.message);
    ck_assert_int_eq(operation_leftovers("/tmp"), 1);
    jvm_fixture_stop(&dead);
    free(second.request);
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    racer third = racer_make(&jvm, 1);
    (void)race(&third);
    ck_assert_msg(third.returned == ATTACH_OK, "%s", third.result.message);
    free(third.request);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    stop_race(&jvm, 1, NULL);
    ck_assert_int_eq(race_leftovers(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

void target_add_sharing(Suite *suite)
{
    TCase *tc = tcase_create("sharing");
    tcase_set_timeout(tc, 400);
    tcase_add_test(tc, external_profiler);
    tcase_add_test(tc, idle_external_profiler_is_shared);
    tcase_add_test(tc, two_tools_at_once);
    tcase_add_test(tc, another_installation);
    tcase_add_test(tc, directory_taken_away_while_a_tool_waits);
    tcase_add_test(tc, leftovers_of_a_second_tool_are_swept);
    suite_add_tcase(suite, tc);
}
