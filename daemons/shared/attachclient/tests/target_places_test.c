/* SPDX-License-Identifier: Apache-2.0 */
/* Tests JVMs of other users, in other namespaces, and without a directory for files. */
#include <check.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm_operation.h"
#include "target_cases.h"

/* Other users and namespaces need root: each test that is skipped says so. */
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

START_TEST(another_user)
{
    jvm_fixture jvm;
    if (!serves_others("a JVM of another user"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), jvm_fixture_as_nobody, NULL);
    operation_whole_session(&jvm, "/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* Limits every program that this process starts as root to these capabilities from here on. */
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
    jvm_fixture jvm;
    if (!serves_others("a JVM of another user"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), jvm_fixture_as_nobody, NULL);
    keep_only_what_attachd_has();
    operation_whole_session(&jvm, "/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

#define OPERATOR 65533 /* neither root nor the JVM's user */

static uint32_t bit(unsigned cap)
{
    return UINT32_C(1) << cap;
}

/* As `setpriv --reuid 65533 --inh-caps=... --ambient-caps=...` would start this process. */
static void become_operator(uint32_t caps)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{caps, caps, caps}};
    ck_assert_int_eq(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(setresgid(OPERATOR, OPERATOR, OPERATOR), 0);
    ck_assert_int_eq(setresuid(OPERATOR, OPERATOR, OPERATOR), 0);
    ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
    for (unsigned cap = 0; cap < 32; cap++)
        if ((caps & bit(cap)) != 0)
            ck_assert_int_eq(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0), 0);
}

/* Copies the profiler's library, which is in root's own cache, to where everybody may read it. */
static void publish_profiler(char path[64])
{
    char command[1200];
    (void)snprintf(path, 64, "/tmp/libattach-profiler-%d.so", (int)getpid());
    (void)snprintf(command, sizeof(command), "cp '%s' %s && chmod 0644 %s", jvm_fixture_profiler(),
                   path, path);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(setenv("HOTSTACK_ASYNC_PROFILER", path, 1), 0);
}

/* Runs `act` in a process of its own that has become the operator. */
static void as_operator(uint32_t caps, void (*act)(const jvm_fixture *jvm), const jvm_fixture *jvm)
{
    char library[64];
    int status = 0;
    publish_profiler(library);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        become_operator(caps);
        act(jvm);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    (void)unlink(library);
    ck_assert_int_eq(status, 0);
}

static int leftovers_anywhere(void)
{
    return operation_leftovers("/tmp") + operation_leftovers("/var/tmp") +
           operation_leftovers("/dev/shm");
}

static void profile_and_take_threads(const jvm_fixture *jvm)
{
    operation_bytes snapshot = {0};
    operation_whole_session(jvm, "/tmp/hotstack-");
    if (jvm_fixture_thread_agent() == NULL) /* a build without jni.h */
        return;
    attach_request *r = operation_request(jvm, ATTACH_OP_THREADS);
    (void)snprintf(r->library, sizeof(r->library), "%s", jvm_fixture_thread_agent());
    ck_assert_int_eq(operation_send(r, &snapshot).code, ATTACH_OK);
    ck_assert_uint_gt(snapshot.n, 0);
    (void)operation_must(jvm, ATTACH_OP_THREADS_CLOSE, NULL);
    free(snapshot.bytes);
}

START_TEST(ambient_capabilities_serve_another_user)
{
    jvm_fixture jvm;
    if (!serves_others("a JVM of another user"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), jvm_fixture_as_nobody, NULL);
    as_operator(bit(CAP_SYS_PTRACE) | bit(CAP_KILL) | bit(CAP_SETUID) | bit(CAP_SETGID),
                profile_and_take_threads, &jvm);
    ck_assert_int_eq(leftovers_anywhere(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

static void be_refused(const jvm_fixture *jvm)
{
    static const attach_op ops[] = {ATTACH_OP_EXAMINE, ATTACH_OP_START, ATTACH_OP_THREADS};
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        attach_result result = operation_run(jvm, ops[i], NULL);
        operation_expect(&result, ATTACH_REASON_PERMISSION_DENIED);
        ck_assert_msg(strstr(result.message, "CAP_SETUID") != NULL, "%s", result.message);
    }
}

/* Every operation reports the true reason, and so does doctor's examination. */
START_TEST(without_setuid_another_user_is_refused)
{
    jvm_fixture jvm;
    if (!serves_others("a JVM of another user"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), jvm_fixture_as_nobody, NULL);
    as_operator(bit(CAP_SYS_PTRACE) | bit(CAP_KILL), be_refused, &jvm);
    ck_assert_int_eq(leftovers_anywhere(), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* The JVM's classes may be in a directory that a mount hides: they are mounted again inside it. */
#define KEEP_CLASSES "set -e; mount --bind \"$HOTSTACK_TEST_CLASSES\" /media; "
#define SHOW_CLASSES                                                                               \
    "mkdir -p \"$HOTSTACK_TEST_CLASSES\"; mount --move /media \"$HOTSTACK_TEST_CLASSES\"; "

START_TEST(own_pid_and_mount_namespace)
{
    static const char *const wrapper[] = {
        "unshare",
        "--pid",
        "--fork",
        "--mount",
        "--kill-child",
        "sh",
        "-c",
        KEEP_CLASSES "mount -t tmpfs none /tmp; " SHOW_CLASSES "mount -t proc proc /proc; "
                     "exec setpriv --reuid " JVM_FIXTURE_NOBODY " --regid " JVM_FIXTURE_NOBODY
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
    /* its /tmp is in memory: /var/tmp, on a disk, is preferred */
    operation_whole_session(&jvm, "/var/tmp/hotstack-");
    ck_assert_int_eq(operation_leftovers("/var/tmp"), 0);
    jvm_fixture_stop(&jvm);
}
END_TEST

#define JAIL "/tmp/libattach-jail-XXXXXX"

static void run_in_jail(const char *jail, const char *script)
{
    char command[1200];
    (void)snprintf(command, sizeof(command), "set -e; cd %s; classes=%s; %s", jail,
                   jvm_fixture_classes(), script);
    ck_assert_int_eq(system(command), 0);
}

/* Makes mounts that only this test sees; its children and the workers have the same namespace. */
static void make_jail(char *jail)
{
    ck_assert_ptr_nonnull(mkdtemp(jail));
    ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
    run_in_jail(jail, "mount --make-rprivate /; chmod 0755 .; mkdir -m 1777 tmp; mkdir proc; "
                      "for d in /usr /lib /lib64 /etc /dev $classes; do test -d $d || continue; "
                      "mkdir -p .$d; mount --bind $d .$d; done; mount -t proc proc proc");
}

/* Removes empty directories only, so that a mount that is still there keeps its files. */
static void remove_jail(const char *jail)
{
    run_in_jail(jail, "umount -l proc; for d in /usr /lib /lib64 /etc /dev $classes; do "
                      "test -d .$d && umount -l .$d; done; rm -rf tmp/hsperfdata_* tmp/.java_pid*; "
                      "find $PWD -depth -type d -empty -delete");
}

/* Its root is part of the paths in its maps, but must not be part of commands. */
START_TEST(chrooted_in_the_same_mount_namespace)
{
    char jail[] = JAIL, inside[64];
    jvm_fixture jvm;
    attach_jvm seen;
    if (!serves_others("a chrooted JVM"))
        return;
    make_jail(jail);
    const char *const wrapper[] = {"chroot", jail, NULL};
    (void)snprintf(inside, sizeof(inside), "%s/tmp", jail);
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_mem_eq(seen.libjvm, "/usr/lib/jvm/", 13);
    for (int i = 0; i < 2; i++) { /* the second session finds the libraries mapped */
        profile_and_take_threads(&jvm);
        ck_assert_int_eq(operation_leftovers(inside), 0);
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
    }
    jvm_fixture_expect_silence(&jvm);
    jvm_fixture_stop(&jvm);
    remove_jail(jail);
}
END_TEST

/* Mounts something of the given kind over every writable directory of another user's JVM. */
static const char *const closed_off =
    KEEP_CLASSES "mount -t tmpfs -o noexec none /tmp; mount --bind /tmp /var/tmp; "
                 "mount -o remount,bind,noexec /var/tmp; mount -t tmpfs -o noexec none /dev/shm; "
                 "mount -t tmpfs -o noexec none /run; chmod 1777 /tmp /dev/shm; " SHOW_CLASSES
                 "eval \"$EXTRA\"; "
                 "exec setpriv --reuid " JVM_FIXTURE_NOBODY " --regid " JVM_FIXTURE_NOBODY
                 " --clear-groups \"$@\"";

START_TEST(no_place_for_the_library)
{
    const char *const wrapper[] = {"env", "EXTRA=",   "unshare", "--mount", "sh",
                                   "-c",  closed_off, "sh",      NULL};
    jvm_fixture jvm;
    if (!serves_others("a JVM on noexec mounts"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    attach_result result = operation_start_strictly(&jvm);
    operation_expect(&result, ATTACH_REASON_NO_EXEC_DIR);
    ck_assert_msg(strstr(result.message, "/tmp: noexec") != NULL, "%s", result.message);
    operation_whole_jfr_session(&jvm, "no_exec_dir");
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
    operation_whole_session(&jvm, "/mnt/hotstack-");
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
    operation_expect(&result, ATTACH_REASON_DISK_FULL);
    jvm_fixture_stop(&jvm);
}
END_TEST

/* A full disk must not keep a session alive, and the JVM must not print anything about it. */
START_TEST(disk_fills_up_meanwhile)
{
    const char *const wrapper[] = {
        "env",      "EXTRA=mount -t tmpfs -o exec,size=12m none /mnt; chmod 1777 /mnt",
        "unshare",  "--mount",
        "sh",       "-c",
        closed_off, "sh",
        NULL};
    jvm_fixture jvm;
    char command[160];
    if (!serves_others("a JVM on a disk that fills up"))
        return;
    jvm_fixture_start(&jvm, jvm_fixture_shared(), wrapper, NULL);
    attach_result started = operation_must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_mem_eq(started.info.directory, "/mnt/", 5);
    (void)snprintf(command, sizeof(command), "cat /dev/zero > /proc/%d/root/mnt/filler 2>/dev/null",
                   jvm.identity.pid);
    ck_assert_int_ne(system(command), 0);
    attach_result window = operation_run(&jvm, ATTACH_OP_WINDOW, NULL);
    operation_expect(&window, ATTACH_REASON_DISK_FULL);
    (void)operation_must(&jvm, ATTACH_OP_STOP, NULL);
    ck_assert_int_eq(operation_must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    (void)snprintf(command, sizeof(command), "rm /proc/%d/root/mnt/filler", jvm.identity.pid);
    ck_assert_int_eq(system(command), 0);
    operation_whole_session(&jvm, "/mnt/hotstack-");
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
    jvm_fixture_expect_silence(&jvm);
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
                  attach_target_open(&target, &jvm.identity, NULL, &err) == ATTACH_ERR_TARGET &&
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

void target_add_places(Suite *suite)
{
    TCase *tc = tcase_create("places");
    tcase_set_timeout(tc, 400);
    tcase_add_test(tc, another_user);
    tcase_add_test(tc, four_capabilities_suffice);
    tcase_add_test(tc, ambient_capabilities_serve_another_user);
    tcase_add_test(tc, without_setuid_another_user_is_refused);
    tcase_add_test(tc, own_pid_and_mount_namespace);
    tcase_add_test(tc, chrooted_in_the_same_mount_namespace);
    tcase_add_test(tc, no_place_for_the_library);
    tcase_add_test(tc, noexec_tmp_and_another_place);
    tcase_add_test(tc, full_disk);
    tcase_add_test(tc, disk_fills_up_meanwhile);
    tcase_add_test(tc, another_user_without_privilege);
    suite_add_tcase(suite, tc);
}
