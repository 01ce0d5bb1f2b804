/* SPDX-License-Identifier: Apache-2.0 */
/* Tests hotstack-attachd as a program, on a real JVM, over its socket. */
#include "../../shared/attachclient/tests/jvm_fixture.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <check.h>
#include <fcntl.h>
#include <localrpc/client.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_suite.h"

extern char **environ;

enum { CALL_MS = 60000 };

static const char *installation;
static char directory[64];
static char socket_path[128];
static char log_path[128];
static pid_t attachd;
static localrpc_client *client;
static jvm_fixture jvm;

static void start_attachd(const char *extra)
{
    char *program = getenv("HOTSTACK_ATTACHD");
    char state[128];
    char socket_flag[160];
    char id[64];
    char library[600];
    char more[64];
    (void)snprintf(state, sizeof(state), "--state-dir=%s/state", directory);
    (void)snprintf(socket_flag, sizeof(socket_flag), "--socket=%s", socket_path);
    (void)snprintf(id, sizeof(id), "--installation-id=%s", installation);
    (void)snprintf(library, sizeof(library), "--profiler-library=%s", jvm_fixture_profiler());
    (void)snprintf(more, sizeof(more), "%s", extra);
    char *arguments[] = {program, state, socket_flag, id, library, more, NULL};
    ck_assert_ptr_nonnull(program);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    (void)snprintf(log_path, sizeof(log_path), "%s/log", directory);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_path,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    ck_assert_int_eq(posix_spawn(&attachd, program, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
}

static int end_attachd(int signal_number)
{
    int status = 0;
    ck_assert_int_eq(kill(attachd, signal_number), 0);
    ck_assert_int_eq(waitpid(attachd, &status, 0), attachd);
    attachd = 0;
    return status;
}

static void set_up(void)
{
    installation = "attachdtest";
    strcpy(directory, "/tmp/attachd-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(socket_path, sizeof(socket_path), "%s/run/attachd.sock", directory);
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    start_attachd("--adopt-grace=1s");
    localrpc_error err = {0};
    ck_assert_msg(localrpc_client_open(&client, socket_path, LOCALRPC_ATTACHD, &err) == 0, "%s",
                  err.message);
}

static void tear_down(void)
{
    localrpc_client_close(client);
    if (attachd > 0)
        end_attachd(SIGKILL);
    jvm_fixture_stop(&jvm);
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static void ask(const local_request *given, local_answer *answer)
{
    local_request request = *given;
    localrpc_new_id(request.id);
    request.deadline_ms = CALL_MS;
    localrpc_error err = {0};
    int rc = LOCALRPC_ERR_UNREACHABLE;
    for (int i = 0; i < 10 && rc == LOCALRPC_ERR_UNREACHABLE; i++)
        rc = localrpc_client_call(client, &request, answer, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
}

static local_request about(local_op op, const jvm_fixture *one)
{
    local_request request = {
        .op = op, .events = {{[EVENT_CPU] = 1000000, [EVENT_ALLOC] = 65536}}, .offset = UINT64_MAX};
    request.jvm.host_pid = (uint32_t)one->identity.pid;
    request.jvm.start_ticks = one->identity.start_ticks;
    (void)snprintf(request.jvm.boot_id, sizeof(request.jvm.boot_id), "%s", one->identity.boot_id);
    return request;
}

static local_request about_jvm(local_op op)
{
    return about(op, &jvm);
}

static void start_session_of(const jvm_fixture *one, uint32_t expected)
{
    local_request request = about(LOCAL_START, one);
    local_answer answer;
    ask(&request, &answer);
    ck_assert_msg(answer.reason == REASON_NONE, "%s", answer.detail);
    ck_assert_uint_eq(answer.session, expected);
    local_answer_clear(&answer);
}

static void start_session(uint32_t expected)
{
    start_session_of(&jvm, expected);
}

/* Takes a window, whose bytes, read in pieces, must be a recording. */
static void take_window(void)
{
    local_request request = about_jvm(LOCAL_WINDOW);
    local_answer ended;
    ask(&request, &ended);
    ck_assert_msg(ended.reason == REASON_NONE, "%s", ended.detail);
    ck_assert(ended.has_handle);
    ck_assert_uint_gt(ended.size, 68);
    local_request read = {.op = LOCAL_READ, .length = 4};
    memcpy(read.handle, ended.handle, LOCAL_ID_SIZE);
    local_answer piece;
    ask(&read, &piece);
    ck_assert_uint_eq(piece.length, 4);
    ck_assert_mem_eq(piece.data, "FLR\0", 4);
    local_answer_clear(&piece);
    read.offset = ended.size - 10;
    read.length = LOCAL_PIECE_MAX;
    ask(&read, &piece);
    ck_assert_uint_eq(piece.length, 10);
    local_answer_clear(&piece);
    read.length = 0;
    read.done = true;
    ask(&read, &piece);
    local_answer_clear(&piece);
    local_answer_clear(&ended);
}

static int leftovers(void)
{
    char prefix[64];
    (void)snprintf(prefix, sizeof(prefix), "hotstack-%s-", installation);
    return jvm_fixture_entries("/tmp", prefix);
}

START_TEST(a_jvm_is_listed)
{
    local_request request = {.op = LOCAL_LIST};
    local_answer answer;
    ask(&request, &answer);
    const local_jvm *found = NULL;
    for (size_t i = 0; i < answer.jvm_count; i++) {
        if (answer.jvms[i].id.host_pid == (uint32_t)jvm.identity.pid)
            found = &answer.jvms[i];
    }
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found->main_class, "Target");
    ck_assert_uint_eq(found->verdict, REASON_NONE);
    ck_assert_uint_gt(found->start_ms, 1600000000000);
    local_answer_clear(&answer);
}
END_TEST

START_TEST(a_session_gives_windows_and_ends_with_attachd)
{
    start_session(SESSION_STATE_OWNED);
    take_window();
    take_window();
    ck_assert_int_gt(leftovers(), 0);
    int status = end_attachd(SIGTERM);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(leftovers(), 0);
    ck_assert_int_ne(access(socket_path, F_OK), 0);
}
END_TEST

START_TEST(a_killed_attachd_finds_its_session_again)
{
    start_session(SESSION_STATE_OWNED);
    end_attachd(SIGKILL);
    start_attachd("--adopt-grace=1h");
    start_session(SESSION_STATE_ADOPTED);
    take_window();
    end_attachd(SIGTERM);
    ck_assert_int_eq(leftovers(), 0);
}
END_TEST

START_TEST(leave_sessions_leaves_them_and_the_next_run_sweeps_what_nobody_wants)
{
    end_attachd(SIGTERM);
    start_attachd("--leave-sessions");
    start_session(SESSION_STATE_OWNED);
    end_attachd(SIGTERM);
    ck_assert_int_gt(leftovers(), 0);
    start_attachd("--adopt-grace=100ms");
    for (int i = 0; i < 3000 && leftovers() > 0; i++)
        usleep(20000);
    ck_assert_int_eq(leftovers(), 0);
}
END_TEST

static bool is_logged(const char *words)
{
    static char text[65536];
    FILE *file = fopen(log_path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    return strstr(text, words) != NULL;
}

START_TEST(the_session_of_another_installation_is_not_swept)
{
    char others[64], own[64];
    jvm_fixture second;
    end_attachd(SIGTERM);
    start_attachd("--leave-sessions");
    start_session(SESSION_STATE_OWNED);
    end_attachd(SIGTERM);
    jvm_fixture_start(&second, jvm_fixture_any(), NULL, NULL);
    (void)snprintf(others, sizeof(others), "pid %d:", (int)jvm.identity.pid);
    (void)snprintf(own, sizeof(own), "pid %d: a session left by an earlier run removed",
                   (int)second.identity.pid);
    installation = "attachdother";
    start_attachd("--leave-sessions");
    start_session_of(&second, SESSION_STATE_OWNED);
    end_attachd(SIGTERM);
    start_attachd("--adopt-grace=100ms");
    for (int i = 0; i < 3000 && !is_logged(own); i++)
        usleep(20000);
    ck_assert(is_logged(own));
    end_attachd(SIGTERM); /* after the sweep */
    ck_assert(!is_logged(others));
    jvm_fixture_stop(&second);
    installation = "attachdtest";
    ck_assert_int_gt(leftovers(), 0);
    start_attachd("--adopt-grace=100ms");
    for (int i = 0; i < 3000 && leftovers() > 0; i++)
        usleep(20000);
    ck_assert_int_eq(leftovers(), 0);
}
END_TEST

START_TEST(a_dead_pid_and_another_process_are_named)
{
    local_request request = about_jvm(LOCAL_START);
    local_answer answer;
    request.jvm.start_ticks++;
    ask(&request, &answer);
    ck_assert_uint_eq(answer.reason, REASON_IDENTITY_CHANGED);
    local_answer_clear(&answer);
    request.jvm.host_pid = 4194304;
    ask(&request, &answer);
    ck_assert_uint_eq(answer.reason, REASON_PROCESS_EXITED);
    local_answer_clear(&answer);
}
END_TEST

int main(void)
{
    if (jvm_fixture_any() == NULL || jvm_fixture_profiler() == NULL) {
        (void)printf(
            "1..0 # SKIP no JDK or no libasyncProfiler.so; install them with: ./dev build\n");
        return EXIT_SUCCESS;
    }
    Suite *suite = suite_create("attachd-jvm");
    TCase *tests = tcase_create("program");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_jvm_is_listed);
    tcase_add_test(tests, a_session_gives_windows_and_ends_with_attachd);
    tcase_add_test(tests, a_killed_attachd_finds_its_session_again);
    tcase_add_test(tests, leave_sessions_leaves_them_and_the_next_run_sweeps_what_nobody_wants);
    tcase_add_test(tests, the_session_of_another_installation_is_not_swept);
    tcase_add_test(tests, a_dead_pid_and_another_process_are_named);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
