/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the attach protocol with a listener that is not a JVM: cut, garbage, huge and missing
 * answers. */
#include "run_suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "fake_proc.h"

#define LONG_MS  60000
#define SHORT_MS 300

/* A listener that accepts one connection, reads a request and answers with the given bytes. */
typedef struct listener {
    int fd;
    const char *answer;
    size_t n;
    size_t repeat; /* how often the answer is sent */
    bool hold;     /* keeps the connection open */
    char request[4096];
    size_t request_n;
    int connection;
    pthread_t thread;
} listener;

static fake_proc proc;
static attach_target *target;
static attach_reply *reply;
static attach_error err;

static void *serve(void *arg)
{
    listener *l = arg;
    l->connection = accept(l->fd, NULL, NULL);
    if (l->connection < 0)
        return NULL;
    ssize_t got = read(l->connection, l->request, sizeof(l->request));
    l->request_n = got < 0 ? 0 : (size_t)got;
    for (size_t i = 0; i < l->repeat; i++)
        if (send(l->connection, l->answer, l->n, MSG_NOSIGNAL) < 0)
            break;
    if (!l->hold)
        (void)close(l->connection);
    return NULL;
}

static void listen_as_jvm(listener *l)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/root/tmp/.java_pid7", proc.path);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(l->fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(l->fd, 1), 0);
    ck_assert_int_eq(pthread_create(&l->thread, NULL, serve, l), 0);
}

static void end(listener *l)
{
    (void)shutdown(l->fd, SHUT_RDWR);
    (void)pthread_join(l->thread, NULL);
    if (l->hold)
        (void)close(l->connection);
    (void)close(l->fd);
}

static int ask(uint64_t ms)
{
    return attach_jcmd(&reply, target, "VM.version", attach_deadline_in(ms), &err);
}

static void setup(void)
{
    fake_proc_make(&proc);
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    memset(&err, 0, sizeof(err));
    reply = NULL;
}

static void teardown(void)
{
    attach_reply_free(reply);
    attach_target_close(target);
    fake_proc_remove(&proc);
}

START_TEST(sends_protocol_1_and_reads_to_the_end)
{
    static const char wanted[] = "1\0jcmd\0VM.version\0\0";
    listener l = {.answer = "0\nline 1\nline 2", .n = 15, .repeat = 1};
    listen_as_jvm(&l);
    ck_assert_int_eq(ask(LONG_MS), ATTACH_OK);
    end(&l);
    ck_assert_uint_eq(l.request_n, sizeof(wanted));
    ck_assert_mem_eq(l.request, wanted, sizeof(wanted));
    ck_assert_int_eq(attach_reply_code(reply), 0);
    ck_assert_str_eq(attach_reply_text(reply), "line 1\nline 2");
    ck_assert_uint_eq(attach_reply_length(reply), 13);
}
END_TEST

static int ask_named(int which)
{
    uint64_t deadline_ns = attach_deadline_in(LONG_MS);
    return which == 0   ? attach_properties(&reply, target, deadline_ns, &err)
           : which == 1 ? attach_threaddump(&reply, target, NULL, deadline_ns, &err)
                        : attach_threaddump(&reply, target, "-l", deadline_ns, &err);
}

START_TEST(named_commands_are_requests)
{
    static const struct {
        char bytes[24];
        size_t n;
    } wanted[] = {
        {"1\0properties\0\0\0", 16}, {"1\0threaddump\0\0\0", 16}, {"1\0threaddump\0-l\0\0", 18}};
    listener l = {.answer = "0\nx", .n = 3, .repeat = 1};
    listen_as_jvm(&l);
    ck_assert_int_eq(ask_named(_i), ATTACH_OK);
    end(&l);
    ck_assert_uint_eq(l.request_n, wanted[_i].n);
    ck_assert_mem_eq(l.request, wanted[_i].bytes, wanted[_i].n);
    ck_assert_str_eq(attach_reply_text(reply), "x");
}
END_TEST

static const struct {
    const char *answer;
    size_t n;
    int rc;
    attach_reason reason;
} answers[] = {
    {"", 0, ATTACH_ERR_TARGET, ATTACH_REASON_PERMISSION_DENIED}, /* to another user */
    {"garbage", 7, ATTACH_ERR_FORMAT, ATTACH_REASON_NONE},
    {"\n0\n", 3, ATTACH_ERR_FORMAT, ATTACH_REASON_NONE},
    {"\0\0\0", 3, ATTACH_ERR_FORMAT, ATTACH_REASON_NONE},
    {"123456\n", 7, ATTACH_ERR_FORMAT, ATTACH_REASON_NONE},
    {"--1\n", 4, ATTACH_ERR_FORMAT, ATTACH_REASON_NONE},
    {"-1", 2, ATTACH_OK, ATTACH_REASON_NONE},
    {"101\n", 4, ATTACH_OK, ATTACH_REASON_NONE},
};

START_TEST(answers_are_checked)
{
    listener l = {.answer = answers[_i].answer, .n = answers[_i].n, .repeat = 1};
    listen_as_jvm(&l);
    ck_assert_int_eq(ask(LONG_MS), answers[_i].rc);
    ck_assert_int_eq(err.reason, answers[_i].reason);
    end(&l);
}
END_TEST

START_TEST(huge_answer_meets_the_limit)
{
    char *piece = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(piece);
    memset(piece, '1', 1 << 20);
    listener l = {.answer = piece, .n = 1 << 20, .repeat = 128};
    listen_as_jvm(&l);
    ck_assert_int_eq(ask(LONG_MS), ATTACH_ERR_LIMIT);
    end(&l);
    free(piece);
}
END_TEST

START_TEST(silent_listener_meets_the_deadline)
{
    listener l = {.answer = "0\n", .n = 2, .repeat = 1, .hold = true};
    listen_as_jvm(&l);
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_TIMEOUT);
    end(&l);
}
END_TEST

START_TEST(process_that_dies_meanwhile_is_noticed_at_once)
{
    listener l = {.answer = "0\n", .n = 2, .repeat = 1, .hold = true};
    listen_as_jvm(&l);
    fake_proc_set_state(&proc, 'Z');
    ck_assert_int_eq(ask(LONG_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_PROCESS_EXITED);
    end(&l);
}
END_TEST

START_TEST(no_signal_without_a_handler)
{
    /* the process is this test: a SIGQUIT would end it */
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_DISABLED);
    ck_assert_ptr_nonnull(strstr(err.message, "SIGQUIT"));
}
END_TEST

static atomic_int quits; /* counted by a signal handler in any thread */

static void count_quit(int signal_number)
{
    (void)signal_number;
    quits++;
}

/* Makes the target, which is this test's own process, catch SIGQUIT and state so in its status. A
 * JVM with a listener thread has been attached to before. */
static void catch_quit(const char *thread)
{
    char status[256], path[128];
    (void)signal(SIGQUIT, count_quit);
    quits = 0;
    (void)snprintf(status, sizeof(status),
                   "Pid:\t%d\nNSpid:\t%d\t7\nUid:\t%u\t%u\nGid:\t%u\t%u\nSigCgt:\t%016x\n",
                   proc.identity.pid, proc.identity.pid, geteuid(), geteuid(), getegid(), getegid(),
                   1u << (SIGQUIT - 1));
    fake_proc_write(&proc, "status", status);
    (void)snprintf(path, sizeof(path), "%s/%d/task/12", proc.path, proc.identity.pid);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    fake_proc_write(&proc, "task/12/comm", thread);
}

static const char *trigger_path(const char *directory)
{
    static char path[128];
    (void)snprintf(path, sizeof(path), "%s/root/%s.attach_pid7", proc.path, directory);
    return path;
}

static bool trigger_is_left(void)
{
    return access(trigger_path("tmp/"), F_OK) == 0;
}

static int make_trigger(const char *directory)
{
    int fd = open(trigger_path(directory), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    return fd;
}

/* Returns how many descriptors of this process are of that file. */
static int opened(const char *path)
{
    char target_path[256];
    int n = 0;
    const struct dirent *entry;
    DIR *dir = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL) {
        ssize_t length =
            readlinkat(dirfd(dir), entry->d_name, target_path, sizeof(target_path) - 1);
        target_path[length < 0 ? 0 : length] = '\0';
        n += strcmp(target_path, path) == 0;
    }
    (void)closedir(dir);
    return n;
}

static void *ask_for_long(void *rc)
{
    *(int *)rc = ask(LONG_MS);
    return NULL;
}

/* Holds the trigger file, as another program of Hotstack does, and starts a call that waits for it.
 * Returns the file's descriptor. */
static int ask_behind_another_client(pthread_t *asking, int *rc)
{
    catch_quit("GC Thread#0\n");
    int first = make_trigger("tmp/");
    ck_assert_int_eq(flock(first, LOCK_EX), 0);
    ck_assert_int_eq(pthread_create(asking, NULL, ask_for_long, rc), 0);
    while (opened(trigger_path("tmp/")) < 2)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    return first;
}

/* Another program of Hotstack has sent the signal and waits; its listener starts in the end. */
START_TEST(no_signal_while_another_client_is_at_it)
{
    int rc = ATTACH_ERR_IO;
    pthread_t asking;
    listener l = {.answer = "0\n", .n = 2, .repeat = 1};
    int first = ask_behind_another_client(&asking, &rc);
    listen_as_jvm(&l);
    ck_assert_int_eq(unlink(trigger_path("tmp/")), 0);
    (void)close(first);
    ck_assert_int_eq(pthread_join(asking, NULL), 0);
    end(&l);
    ck_assert_int_eq(rc, ATTACH_OK);
    ck_assert_int_eq(quits, 0);
    ck_assert(!trigger_is_left());
}
END_TEST

/* The first client gave up or was killed. The next one then sends the signal, with a trigger file
 * in either case. */
START_TEST(a_signal_after_a_client_that_failed)
{
    catch_quit("GC Thread#0\n");
    (void)close(make_trigger(_i == 0 ? "tmp/" : ""));
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_TIMEOUT);
    ck_assert_int_eq(quits, 1);
    ck_assert(!trigger_is_left());
}
END_TEST

START_TEST(the_turn_comes_when_the_first_takes_its_trigger_away)
{
    int rc = ATTACH_OK;
    pthread_t asking;
    listener l = {.answer = "0\n", .n = 2, .repeat = 1};
    int first = ask_behind_another_client(&asking, &rc);
    ck_assert_int_eq(unlink(trigger_path("tmp/")), 0);
    (void)close(first);
    while (quits == 0) /* the call makes its own trigger file */
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    ck_assert(trigger_is_left());
    listen_as_jvm(&l);
    ck_assert_int_eq(pthread_join(asking, NULL), 0);
    end(&l);
    ck_assert_int_eq(rc, ATTACH_OK);
    ck_assert_int_eq(quits, 1);
    ck_assert(!trigger_is_left());
}
END_TEST

/* HotSpot would ignore that file and print a thread dump. */
START_TEST(no_signal_with_a_trigger_of_another_user)
{
    if (geteuid() != 0) {
        (void)printf("# skipped: another user's file needs root\n");
        return;
    }
    char status[256];
    (void)snprintf(status, sizeof(status),
                   "Pid:\t%d\nNSpid:\t%d\t7\nUid:\t12\t12\nGid:\t12\t12\nSigCgt:\t%016x\n",
                   proc.identity.pid, proc.identity.pid, 1u << (SIGQUIT - 1));
    catch_quit("GC Thread#0\n");
    fake_proc_write(&proc, "status", status);
    attach_target_close(target);
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    for (int i = 0; i < 2; i++) {
        const char *directory = i == 0 ? "tmp/" : "";
        (void)close(make_trigger(directory));
        ck_assert_int_eq(chown(trigger_path(directory), 13, 13), 0);
    }
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_PERMISSION_DENIED);
    ck_assert_int_eq(quits, 0);
}
END_TEST

START_TEST(one_signal_then_the_deadline)
{
    catch_quit("GC Thread#0\n");
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_TIMEOUT);
    ck_assert_int_eq(quits, 1);
    ck_assert(!trigger_is_left());
}
END_TEST

START_TEST(a_listener_whose_socket_is_gone)
{
    catch_quit("Attach Listener\n");
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_SOCKET_GONE);
    ck_assert_int_eq(quits, 1);
    ck_assert(!trigger_is_left());
}
END_TEST

START_TEST(no_signal_where_a_listener_answers)
{
    listener l = {.answer = "0\n", .n = 2, .repeat = 1};
    catch_quit("Attach Listener\n");
    listen_as_jvm(&l);
    ck_assert_int_eq(ask(LONG_MS), ATTACH_OK);
    end(&l);
    ck_assert_int_eq(quits, 0);
}
END_TEST

/* A stale socket file of an earlier process with that pid: no process listens on it. */
START_TEST(stale_socket_counts_as_none)
{
    listener l = {.answer = "0\n", .n = 2, .repeat = 1};
    catch_quit("GC Thread#0\n");
    listen_as_jvm(&l);
    end(&l);
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_TIMEOUT);
    ck_assert_int_eq(quits, 1);
}
END_TEST

START_TEST(no_signal_for_a_jvm_that_refuses_attach)
{
    attach_target_close(target);
    FILE *file;
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%d/cmdline", proc.path, proc.identity.pid);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fwrite("java\0-XX:+DisableAttachMechanism\0M", 1, 34, file);
    (void)fclose(file);
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_DISABLED);
    ck_assert_ptr_nonnull(strstr(err.message, "DisableAttachMechanism"));
}
END_TEST

START_TEST(what_lies_at_the_sockets_place_is_checked)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/root/tmp/.java_pid7", proc.path);
    ck_assert_int_eq(symlink("/tmp/elsewhere", path), 0);
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_PERMISSION_DENIED);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(ask(SHORT_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_PERMISSION_DENIED);
}
END_TEST

START_TEST(stopped_process_is_not_asked)
{
    fake_proc_set_state(&proc, 'T');
    ck_assert_int_eq(ask(LONG_MS), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_TARGET_STOPPED);
}
END_TEST

START_TEST(arguments_are_bounded)
{
    char longer[ATTACH_ARG_MAX + 2];
    const char *const four[] = {"a", "b", "c", "d"};
    const char *const one[] = {longer};
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    uint64_t soon = attach_deadline_in(SHORT_MS);
    ck_assert_int_eq(attach_command(&reply, target, "x", four, 4, soon, &err), ATTACH_ERR_USAGE);
    ck_assert_int_eq(attach_command(&reply, target, "x", one, 1, soon, &err), ATTACH_ERR_USAGE);
    ck_assert_int_eq(attach_command(&reply, target, "", NULL, 0, soon, &err), ATTACH_ERR_USAGE);
    ck_assert_int_eq(attach_command(&reply, target, longer, NULL, 0, soon, &err), ATTACH_ERR_USAGE);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("command");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 100);
    tcase_add_test(tc, sends_protocol_1_and_reads_to_the_end);
    tcase_add_loop_test(tc, named_commands_are_requests, 0, 3);
    tcase_add_loop_test(tc, answers_are_checked, 0, ROWS(answers));
    tcase_add_test(tc, huge_answer_meets_the_limit);
    tcase_add_test(tc, silent_listener_meets_the_deadline);
    tcase_add_test(tc, process_that_dies_meanwhile_is_noticed_at_once);
    tcase_add_test(tc, no_signal_without_a_handler);
    tcase_add_test(tc, one_signal_then_the_deadline);
    tcase_add_test(tc, a_listener_whose_socket_is_gone);
    tcase_add_test(tc, no_signal_where_a_listener_answers);
    tcase_add_test(tc, no_signal_while_another_client_is_at_it);
    tcase_add_loop_test(tc, a_signal_after_a_client_that_failed, 0, 2);
    tcase_add_test(tc, the_turn_comes_when_the_first_takes_its_trigger_away);
    tcase_add_test(tc, no_signal_with_a_trigger_of_another_user);
    tcase_add_test(tc, stale_socket_counts_as_none);
    tcase_add_test(tc, no_signal_for_a_jvm_that_refuses_attach);
    tcase_add_test(tc, what_lies_at_the_sockets_place_is_checked);
    tcase_add_test(tc, stopped_process_is_not_asked);
    tcase_add_test(tc, arguments_are_bounded);
    Suite *suite = suite_create("command");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
