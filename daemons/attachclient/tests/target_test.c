/* JVMs that are hard to serve: other users, other namespaces, stopped, dead, locked down, taken. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jvm_operation.h"

#define NOBODY   "65534"
#define SHORT_MS 1500

/* Other users and namespaces need root: said once per test that is left out. */
static bool is_root(const char *what)
{
    if (geteuid() == 0)
        return true;
    (void)printf("# skipped: %s needs root\n", what);
    return false;
}

static bool serves_others(const char *what)
{
    if (!is_root(what))
        return false;
    if (jvm_fixture_shared() != NULL)
        return true;
    (void)printf("# skipped: %s needs openjdk-17-jdk-headless, and a build directory that other "
                 "users can read\n",
                 what);
    return false;
}

static void expect(const attach_result *result, attach_reason reason)
{
    ck_assert_msg(result->code == ATTACH_E_TARGET && result->reason == reason,
                  "wanted %s, got code %d, %s: %s", attach_reason_name(reason), result->code,
                  attach_reason_name(result->reason), result->message);
    ck_assert_str_ne(result->message, "");
}

static attach_result run_request(attach_request *r, operation_bytes *c)
{
    attach_result result;
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, c, NULL, NULL), result.code);
    free(r);
    return result;
}

/* A start that takes no other recorder than async-profiler. */
static attach_result start_strictly(const jvm_fixture *jvm)
{
    attach_request *r = operation_request(jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    return run_request(r, NULL);
}

/* A session with the JDK's recorder, which says why it is that; both its windows are whole. */
static void whole_jfr_session(const jvm_fixture *jvm, const char *why)
{
    operation_bytes recording = {0};
    attach_result started = operation_must(jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(started.info.state, ATTACH_AP_OWNED);
    ck_assert_int_eq(started.info.engine, ATTACH_AP_ENGINE_JFR);
    ck_assert_msg(strstr(started.info.engine_reason, why) != NULL, "%s",
                  started.info.engine_reason);
    ck_assert_int_eq(jvm_fixture_mapped(jvm, "libasyncProfiler"), 0);
    (void)operation_must(jvm, ATTACH_OP_WINDOW, &recording);
    (void)operation_must(jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    ck_assert_int_eq(operation_must(jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    free(recording.bytes);
}

static void whole_session(const jvm_fixture *jvm, const char *directory)
{
    operation_bytes recording = {0};
    attach_result started = operation_must(jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(started.info.state, ATTACH_AP_OWNED);
    ck_assert_mem_eq(started.info.directory, directory, strlen(directory));
    (void)operation_must(jvm, ATTACH_OP_WINDOW, &recording);
    (void)operation_must(jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    free(recording.bytes);
}

START_TEST(another_user)
{
    static const char *const wrapper[] = {"setpriv", "--reuid",        NOBODY, "--regid",
                                          NOBODY,    "--clear-groups", NULL};
    jvm_fixture jvm;
    if (!serves_others("a JVM of another user"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    whole_session(&jvm, "/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* From here on every program that this process starts as root has these capabilities only. */
static void keep_only_what_attachd_has(void)
{
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        bool kept =
            cap == CAP_SYS_PTRACE || cap == CAP_KILL || cap == CAP_SETUID || cap == CAP_SETGID;
        if (!kept)
            ck_assert_int_eq(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0), 0);
    }
}

START_TEST(four_capabilities_suffice)
{
    static const char *const wrapper[] = {"setpriv", "--reuid",        NOBODY, "--regid",
                                          NOBODY,    "--clear-groups", NULL};
    jvm_fixture jvm;
    if (!serves_others("a JVM of another user"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    keep_only_what_attachd_has();
    whole_session(&jvm, "/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(own_pid_and_mount_namespace)
{
    static const char *const wrapper[] = {"unshare",
                                          "--pid",
                                          "--fork",
                                          "--mount",
                                          "--kill-child",
                                          "sh",
                                          "-c",
                                          "mount -t tmpfs none /tmp && mount -t proc proc /proc && "
                                          "exec setpriv --reuid " NOBODY " --regid " NOBODY
                                          " --clear-groups \"$@\"",
                                          "sh",
                                          NULL};
    jvm_fixture jvm;
    attach_jvm seen;
    if (!serves_others("a JVM in its own namespaces"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(seen.ns_pid, 1);
    ck_assert_uint_eq(seen.uid, 65534);
    /* its /tmp is in memory: /var/tmp, on a disk, comes first */
    whole_session(&jvm, "/var/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/var/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Every writable place of another user's JVM: private mounts of the given kind over all of them. */
static const char *const closed_off =
    "set -e; mount -t tmpfs -o noexec none /tmp; mount --bind /tmp /var/tmp; "
    "mount -o remount,bind,noexec /var/tmp; mount -t tmpfs -o noexec none /dev/shm; "
    "mount -t tmpfs -o noexec none /run; chmod 1777 /tmp /dev/shm; eval \"$EXTRA\"; "
    "exec setpriv --reuid " NOBODY " --regid " NOBODY " --clear-groups \"$@\"";

START_TEST(no_place_for_the_library)
{
    const char *const wrapper[] = {"env", "EXTRA=",   "unshare", "--mount", "sh",
                                   "-c",  closed_off, "sh",      NULL};
    jvm_fixture jvm;
    if (!serves_others("a JVM on noexec mounts"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    attach_result result = start_strictly(&jvm);
    expect(&result, ATTACH_REASON_NO_EXEC_DIR);
    ck_assert_msg(strstr(result.message, "/tmp: noexec") != NULL, "%s", result.message);
    whole_jfr_session(&jvm, "no_exec_dir");
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(noexec_tmp_and_another_place)
{
    const char *const wrapper[] = {
        "env",      "EXTRA=mount -t tmpfs -o exec none /mnt; chmod 1777 /mnt",
        "unshare",  "--mount",
        "sh",       "-c",
        closed_off, "sh",
        NULL};
    jvm_fixture jvm;
    if (!serves_others("a JVM on noexec mounts"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    whole_session(&jvm, "/mnt/hotstack-");
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(full_disk)
{
    const char *const wrapper[] = {
        "env",      "EXTRA=mount -t tmpfs -o exec,size=1m none /mnt; chmod 1777 /mnt",
        "unshare",  "--mount",
        "sh",       "-c",
        closed_off, "sh",
        NULL};
    jvm_fixture jvm;
    if (!serves_others("a JVM on a full disk"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    expect(&result, ATTACH_REASON_DISK_FULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(another_user_without_privilege)
{
    jvm_fixture jvm;
    attach_jvm seen;
    if (!is_root("losing root"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    pid_t child = fork();
    if (child == 0) {
        attach_target *target = NULL;
        attach_error err = {0};
        bool ok = setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
                  attach_target_open(&target, &jvm.identity, NULL, &err) == ATTACH_E_TARGET &&
                  err.reason == ATTACH_REASON_PERMISSION_DENIED &&
                  attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL) == ATTACH_OK &&
                  seen.reason == ATTACH_REASON_PERMISSION_DENIED;
        _exit(ok ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(stopped)
{
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    jvm_fixture_freeze(&jvm);
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    expect(&result, ATTACH_REASON_TARGET_STOPPED);
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
    expect(&result, ATTACH_REASON_IDENTITY_CHANGED);
    jvm_fixture_stop(&jvm);
    result = operation_run(&jvm, ATTACH_OP_START, NULL);
    expect(&result, ATTACH_REASON_PROCESS_EXITED);
}
END_TEST

START_TEST(no_jvm_at_all)
{
    jvm_fixture jvm = {.identity = {.pid = (int32_t)getpid()}};
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    expect(&result, ATTACH_REASON_NOT_HOTSPOT);
}
END_TEST

START_TEST(attach_disabled)
{
    static const char *const flags[] = {"-XX:+DisableAttachMechanism", NULL};
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, flags);
    attach_result result = operation_run(&jvm, ATTACH_OP_START, NULL);
    expect(&result, ATTACH_REASON_ATTACH_DISABLED);
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
    attach_result result = start_strictly(&jvm);
    expect(&result, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED);
    whole_jfr_session(&jvm, "dynamic_agent_loading_disabled");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
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
    attach_result result = run_request(r, NULL);
    expect(&result, ATTACH_REASON_LIBRARY_LOAD_FAILED);
    r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->library, sizeof(r->library), "/nonexistent/libasyncProfiler.so");
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    result = run_request(r, NULL);
    expect(&result, ATTACH_REASON_NO_PROFILER_LIBRARY);
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

static void load_elsewhere(const jvm_fixture *jvm, const char *path, const char *options)
{
    attach_request *r = operation_request(jvm, ATTACH_OP_COMMAND);
    operation_bytes answer = {0};
    (void)snprintf(r->command, sizeof(r->command), "load");
    (void)snprintf(r->args[0], sizeof(r->args[0]), "%s", path);
    (void)snprintf(r->args[1], sizeof(r->args[1]), "true");
    (void)snprintf(r->args[2], sizeof(r->args[2]), "%s", options);
    r->n_args = 3;
    attach_result result = run_request(r, &answer);
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
    expect(&result, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_EXTERNAL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(seen.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    /* and its session is left alone, also by our stop */
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
        whole_session(&jvm, "/tmp/hotstack-");
        ck_assert_int_eq(operation_leftovers("/tmp"), 0);
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler"), 1);
    }
    /* while ours runs its loader is told as we would be */
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
    attach_result result = run_request(r, recording);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
}

/* Both begin in the same moment in a JVM that nobody has attached to before. */
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
    expect(lost, ATTACH_REASON_EXTERNAL_PROFILER);
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
    attach_result result = run_request(r, NULL);
    expect(&result, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_msg(strstr(result.message, operation_installation()) != NULL, "%s", result.message);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);

    /* free now: the other one uses the copy that is mapped */
    r = operation_request(&jvm, ATTACH_OP_START);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other%d", (int)getpid());
    result = run_request(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_EXTERNAL);
    r = operation_request(&jvm, ATTACH_OP_STOP);
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "other%d", (int)getpid());
    result = run_request(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_eq(jvm_fixture_entries("/tmp", "hotstack-other") + operation_leftovers("/tmp"),
                     0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* How many descriptors of all processes that may be looked at are of that file. */
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

/* A tool that waited for its turn while the directory was taken away looks anew; the profiler, sent
 * to a directory that is gone, would write to the JVM's standard output. */
START_TEST(directory_taken_away_while_a_tool_waits)
{
    char command[400];
    jvm_fixture jvm;
    pthread_t thread;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    int fd = open(started.info.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
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

/* The second tool's session lies in the directory that the first one's library came from. */
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

START_TEST(restart_adopts_without_loss)
{
    jvm_fixture jvm;
    operation_bytes recording = {0};
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL);
    attach_result window = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    /* a program that has forgotten everything starts again */
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
    attach_result result = run_request(r, NULL);
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
    expect(&window, ATTACH_REASON_PROFILER_ERROR);
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
    ck_assert_int_eq(attachclient_run(&result, r, refuse_bytes, NULL, NULL, NULL), ATTACH_E_IO);
    result = run_request(r, &recording);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    ck_assert_int_ge(operation_whole_chunks(&recording), 2);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(leftovers_are_swept)
{
    jvm_fixture dead, jvm;
    jvm_fixture_start(&dead, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&dead, ATTACH_OP_START, NULL);
    jvm_fixture_stop(&dead);
    ck_assert_int_eq(operation_leftovers("/tmp"), 1);
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
    attach_result result = run_request(r, NULL);
    ck_assert_msg(result.code == ATTACH_OK, "%s", result.message);
    while (operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.running)
        continue; /* each status takes a while; the test's own time limit bounds the wait */
    attach_result last = operation_must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert(!last.info.running);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    attach_result none = operation_run(&jvm, ATTACH_OP_WINDOW, &recording);
    expect(&none, ATTACH_REASON_PROFILER_ERROR);
    (void)operation_must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 1);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
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
    expect(&window, ATTACH_REASON_PROFILER_ERROR);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(deadline_holds_for_a_jvm_stopped_midway)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    (void)operation_must(&jvm, ATTACH_OP_START, NULL); /* its listener exists now */
    jvm_fixture_freeze(&jvm);
    attach_request *r = operation_request(&jvm, ATTACH_OP_WINDOW);
    r->timeout_ms = SHORT_MS;
    attach_result result = run_request(r, NULL);
    expect(&result, ATTACH_REASON_TARGET_STOPPED);
    ck_assert_int_eq(kill(jvm.identity.pid, SIGCONT), 0);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Loads the agent that misbehaves, within a second and a half. */
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
    return run_request(r, NULL);
}

START_TEST(exits_while_we_are_attached)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result result = misbehave(&jvm, "exit");
    expect(&result, ATTACH_REASON_PROCESS_EXITED);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Its attach thread is stuck for good: each later question meets its own deadline. */
START_TEST(half_dead)
{
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, jvm_fixture_any(), NULL, NULL);
    attach_result result = misbehave(&jvm, "hang");
    expect(&result, ATTACH_REASON_ATTACH_TIMEOUT);
    attach_request *r = operation_request(&jvm, ATTACH_OP_START);
    r->timeout_ms = SHORT_MS;
    result = run_request(r, NULL);
    expect(&result, ATTACH_REASON_ATTACH_TIMEOUT);
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
}
END_TEST

int main(void)
{
    if (jvm_fixture_any() == NULL || jvm_fixture_profiler() == NULL) {
        (void)printf("1..0 # SKIP no %s: ./dev test installs them\n",
                     jvm_fixture_any() == NULL ? "JDK" : "libasyncProfiler.so");
        return 0;
    }
    TCase *tc = tcase_create("target");
    tcase_set_timeout(tc, 400);
    tcase_add_test(tc, another_user);
    tcase_add_test(tc, four_capabilities_suffice);
    tcase_add_test(tc, own_pid_and_mount_namespace);
    tcase_add_test(tc, no_place_for_the_library);
    tcase_add_test(tc, noexec_tmp_and_another_place);
    tcase_add_test(tc, full_disk);
    tcase_add_test(tc, another_user_without_privilege);
    tcase_add_test(tc, stopped);
    tcase_add_test(tc, dead_and_changed);
    tcase_add_test(tc, no_jvm_at_all);
    tcase_add_test(tc, attach_disabled);
    tcase_add_loop_test(tc, agent_loading_disabled, 0, 4);
    tcase_add_loop_test(tc, library_that_does_not_load, 0, 4);
    tcase_add_test(tc, socket_removed);
    tcase_add_test(tc, external_profiler);
    tcase_add_test(tc, idle_external_profiler_is_shared);
    tcase_add_test(tc, two_tools_at_once);
    tcase_add_test(tc, another_installation);
    tcase_add_test(tc, directory_taken_away_while_a_tool_waits);
    tcase_add_test(tc, leftovers_of_a_second_tool_are_swept);
    tcase_add_test(tc, restart_adopts_without_loss);
    tcase_add_test(tc, other_settings_stop_and_start_anew);
    tcase_add_test(tc, directory_lost_while_running);
    tcase_add_test(tc, window_can_be_asked_for_again);
    tcase_add_test(tc, leftovers_are_swept);
    tcase_add_test(tc, session_ends_by_itself);
    tcase_add_test(tc, stop_twice);
    tcase_add_test(tc, deadline_holds_for_a_jvm_stopped_midway);
    tcase_add_test(tc, exits_while_we_are_attached);
    tcase_add_test(tc, half_dead);
    Suite *suite = suite_create("libattach-jvm-target");
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
