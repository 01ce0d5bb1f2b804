/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the readers of /proc/PID/stat, status, maps, cgroup and mountinfo with real lines and with
 * those of a hostile target. */
#include "run_suite.h"
#include "span.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "proc/proc_cgroup_impl.h"
#include "proc/proc_maps_impl.h"
#include "proc/proc_mountinfo_impl.h"
#include "proc/proc_stat_impl.h"
#include "proc/proc_status_impl.h"

#define AFTER_STATE                                                                                \
    "1 2 3 4 5 4194304 7 8 9 10 11 12 13 14 15 16 17 18 4711 100 200 300\n" /* fields 4 to 25 */

START_TEST(stat_survives_any_command_name)
{
    static const char *const names[] = {"(java)", "((a) S 1 2)", "(x\ny)", "()", "(:) R 9 9 9)"};
    for (int i = 0; i < ROWS(names); i++) {
        char text[256];
        attach__stat stat;
        (void)snprintf(text, sizeof(text), "12 %s S %s", names[i], AFTER_STATE);
        ck_assert_int_eq(attach__stat_parse(&stat, span(text), NULL), ATTACH_OK);
        ck_assert_int_eq(stat.state, 'S');
        ck_assert_uint_eq(stat.start_ticks, 4711);
    }
}
END_TEST

/* An exiting process closes its files before its state letter changes. */
START_TEST(an_exiting_process_counts_as_dead)
{
    attach__stat stat;
    static const char text[] =
        "12 (java) R 1 2 3 4 -1 4194308 7 8 9 10 11 12 13 14 15 16 17 18 4711 100 200 300\n";
    ck_assert_int_eq(attach__stat_parse(&stat, span(text), NULL), ATTACH_OK);
    ck_assert(attach__state_is_dead(stat.state));
    ck_assert_uint_eq(stat.start_ticks, 4711);
}
END_TEST

static const char *const bad_stats[] = {
    "",
    "12 java S 1",
    "12 (java)",
    "12 (java) SS 1 2",
    "12 (java) S 1 2 3",
    "12 (java) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"};

START_TEST(stat_refuses)
{
    attach__stat stat;
    attach_error err = {0};
    ck_assert_int_eq(attach__stat_parse(&stat, span(bad_stats[_i]), &err), ATTACH_ERR_FORMAT);
    ck_assert_str_ne(err.message, "");
}
END_TEST

static const char status_text[] =
    "Name:\tjava\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4711\nPid:\t4711\nPPid:\t1\n"
    "Uid:\t0\t1000\t1000\t1000\nGid:\t0\t1001\t1001\t1001\nGroups:\t4 24 1001 \n"
    "NStgid:\t4711\t7\nNSpid:\t4711\t7\nSigCgt:\t2000000181005ccf\nCapInh:\t0\n";

START_TEST(status_gives_effective_ids_and_inner_pid)
{
    attach__status status;
    ck_assert_int_eq(attach__status_parse(&status, span(status_text), NULL), ATTACH_OK);
    ck_assert_uint_eq(status.ids.uid, 1000);
    ck_assert_uint_eq(status.ids.gid, 1001);
    ck_assert_uint_eq(status.ids.n_groups, 3);
    ck_assert_uint_eq(status.ids.groups[1], 24);
    ck_assert_int_eq(status.ns_pid, 7);
    ck_assert(attach__status_catches(&status, SIGQUIT));
    ck_assert(!attach__status_catches(&status, SIGUSR1));
}
END_TEST

static const char *const bad_statuses[] = {
    "",
    "Name:\tx\n",
    "Uid:\t1\nGid:\t1\t1\nPid:\t1\nSigCgt:\t0\n",
    "Uid:\t1\t99999999999\nGid:\t1\t1\nPid:\t1\nSigCgt:\t0\n",
    "Uid:\t1\t1\nGid:\t1\t1\nPid:\t0\nSigCgt:\t0\n",
    "Uid:\t1\t1\nGid:\t1\t1\nPid:\t1\nSigCgt:\tzz\n",
    "Uid:\t1\t1\nGid:\t1\t1\nPid:\t4294967295\nSigCgt:\t0\n"};

START_TEST(status_refuses)
{
    attach__status status;
    ck_assert_int_eq(attach__status_parse(&status, span(bad_statuses[_i]), NULL),
                     ATTACH_ERR_FORMAT);
}
END_TEST

#define LINE "7f0000000000-7f0000001000 r-xp 00000000 fe:01 42                        "

static const struct {
    const char *maps;
    const char *libjvm;
    bool openj9;
    attach_libc libc;
    const char *profiler;
    bool deleted;
    const char *external;
} maps[] = {
    {LINE "/jdk/lib/server/libjvm.so\n" LINE "/lib/libc.so.6\n", "/jdk/lib/server/libjvm.so", false,
     ATTACH_LIBC_GLIBC, "", false, ""},
    {LINE "/jdk/lib/server/libjvm.so\n" LINE "/lib/ld-musl-x86_64.so.1\n",
     "/jdk/lib/server/libjvm.so", false, ATTACH_LIBC_MUSL, "", false, ""},
    {LINE "/j9/lib/default/libj9vm29.so\n" LINE "/j9/lib/j9vm/libjvm.so\n",
     "/j9/lib/j9vm/libjvm.so", true, ATTACH_LIBC_UNKNOWN, "", false, ""},
    {LINE "/tmp/hotstack-abc1-0123456789abcdef/libasyncProfiler.so (deleted)\n", "", false,
     ATTACH_LIBC_UNKNOWN, "/tmp/hotstack-abc1-0123456789abcdef/libasyncProfiler.so", true, ""},
    {LINE "/tmp/hotstack-abc1-0123456789abcdef/libasyncProfiler.so\n", "", false,
     ATTACH_LIBC_UNKNOWN, "/tmp/hotstack-abc1-0123456789abcdef/libasyncProfiler.so", false, ""},
    {LINE "/tmp/libasyncProfiler-linux-x64-a1b2.so\n", "", false, ATTACH_LIBC_UNKNOWN, "", false,
     "/tmp/libasyncProfiler-linux-x64-a1b2.so"},
    {LINE "/tmp/dd/libjavaProfiler123.so (deleted)\n", "", false, ATTACH_LIBC_UNKNOWN, "", false,
     "/tmp/dd/libjavaProfiler123.so"},
    /* names that only resemble Hotstack's */
    {LINE "/tmp/hotstack-abc1-0123/libasyncProfiler.so\n", "", false, ATTACH_LIBC_UNKNOWN, "",
     false, "/tmp/hotstack-abc1-0123/libasyncProfiler.so"},
    {LINE "/tmp/hotstack-A-0123456789abcdef/libasyncProfiler.so\n", "", false, ATTACH_LIBC_UNKNOWN,
     "", false, "/tmp/hotstack-A-0123456789abcdef/libasyncProfiler.so"},
    /* not files, cut lines, a space and a newline in the path */
    {"7f00-7f01 rw-p 0 00:00 0 [heap]\n7f00\n\n" LINE "/a b\\012c/libjvm.so\n", "/a b\nc/libjvm.so",
     false, ATTACH_LIBC_UNKNOWN, "", false, ""},
    {LINE "/opt/libjvm.so.bak\n" LINE "/opt/xlibjvm.so\n", "", false, ATTACH_LIBC_UNKNOWN, "",
     false, ""},
};

START_TEST(maps_tell_what_runs)
{
    attach__map_facts facts;
    attach__maps_read(&facts, span(maps[_i].maps), "");
    ck_assert_str_eq(facts.libjvm, maps[_i].libjvm);
    ck_assert_int_eq(facts.openj9, maps[_i].openj9);
    ck_assert_int_eq(facts.libc, maps[_i].libc);
    ck_assert_str_eq(facts.profiler, maps[_i].profiler);
    ck_assert_int_eq(facts.profiler_deleted, maps[_i].deleted);
    ck_assert_str_eq(facts.external, maps[_i].external);
    ck_assert_int_eq(facts.external_kind == NULL, facts.external[0] == '\0');
}
END_TEST

/* A chrooted process, seen from outside: the files that it mapped before are outside its root. */
START_TEST(maps_of_another_root)
{
    attach__map_facts facts;
    attach__span text =
        span("7f00-7f01 r-xp 0 fe:01 42 /srv/jail/usr/lib/jvm/17/lib/server/libjvm.so\n"
             "7f02-7f03 r-xp 0 fe:01 43 "
             "/srv/jail/tmp/hotstack-abc-0123456789abcdef/libasyncProfiler.so (deleted)\n"
             "7f04-7f05 r-xp 0 fe:01 44 "
             "/srv/jail/tmp/hotstack-threads-abc-0123456789abcdef/libhotstackthreads.so\n");
    attach__maps_read(&facts, text, "/srv/jail");
    ck_assert_str_eq(facts.libjvm, "/usr/lib/jvm/17/lib/server/libjvm.so");
    ck_assert_str_eq(facts.profiler, "/tmp/hotstack-abc-0123456789abcdef/libasyncProfiler.so");
    ck_assert_str_eq(facts.thread_agent,
                     "/tmp/hotstack-threads-abc-0123456789abcdef/libhotstackthreads.so");
    attach__maps_read(&facts, text, "/srv/jai");
    ck_assert_str_eq(facts.libjvm, "/srv/jail/usr/lib/jvm/17/lib/server/libjvm.so");
}
END_TEST

START_TEST(profilers_have_owners)
{
    static const struct {
        const char *path;
        const char *name;
        bool shareable;
    } rows[] = {
        {"/tmp/root-pyroscope17/libasyncProfiler-linux-x64-a1b2.so", "Pyroscope", false},
        {"/tmp/alloy-asprof-glibc-ae0261b1/lib/libasyncProfiler.so", "Grafana Alloy", false},
        {"/tmp/coroot/libasyncProfiler.so", "Coroot", false},
        {"/tmp/gprofiler_tmp/x/libasyncProfiler.so", "gProfiler", false},
        {"/tmp/dd/libjavaProfiler-dd_java_agent-1.so", "Datadog", false},
        {"/opt/async-profiler/lib/libasyncProfiler.so", "async-profiler", true},
    };
    for (int i = 0; i < ROWS(rows); i++) {
        const attach__profiler *kind = attach__profiler_of(span(rows[i].path));
        ck_assert_ptr_nonnull(kind);
        ck_assert_str_eq(kind->name, rows[i].name);
        ck_assert_int_eq(kind->shareable, rows[i].shareable);
    }
    ck_assert_ptr_null(attach__profiler_of(span("/lib/libc.so.6")));
    ck_assert_ptr_null(attach__profiler_of(span("/libasyncProfiler")));
}
END_TEST

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD   "8dbc5577-d0e2-4706-8787-57d52c03ddf2"

static const struct {
    const char *text;
    const char *container;
    const char *pod;
} cgroups[] = {
    /* kubelet with the cgroupfs driver, v1 and v2 */
    {"12:cpu,cpuacct:/kubepods/burstable/pod" POD "/" HEX64 "\n", HEX64, POD},
    {"0::/kubepods/pod" POD "/" HEX64 "\n", HEX64, POD},
    /* kubelet with the systemd driver: containerd, CRI-O, docker shim */
    {"0::/kubepods.slice/kubepods-burstable.slice/"
     "kubepods-burstable-pod8dbc5577_d0e2_4706_8787_57d52c03ddf2.slice/cri-containerd-" HEX64
     ".scope\n",
     HEX64, POD},
    {"0::/kubepods.slice/kubepods-pod8dbc5577_d0e2_4706_8787_57d52c03ddf2.slice/crio-" HEX64
     ".scope/container\n",
     HEX64, POD},
    /* a static pod's uid has no dashes */
    {"0::/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" HEX64 "\n", HEX64,
     "0123456789abcdef0123456789abcdef"},
    /* CRI-O and podman, conmon beside the container; containerd's mix of both drivers */
    {"0::/kubepods/burstable/pod" POD "/crio-" HEX64 "\n", HEX64, POD},
    {"0::/machine.slice/libpod-" HEX64 ".scope/container\n", HEX64, ""},
    {"0::/system.slice/containerd.service/"
     "kubepods-burstable-pod8dbc5577_d0e2_4706_8787_57d52c03ddf2.slice:cri-containerd:" HEX64 "\n",
     HEX64, POD},
    /* seen from within another cgroup namespace */
    {"0::/../../pod" POD "/" HEX64 "\n", HEX64, POD},
    {"0::/system.slice/docker-" HEX64 ".scope\n", HEX64, ""},
    {"9:memory:/docker/" HEX64 "\n0::/\n", HEX64, ""},
    {"0::/user.slice/user-1000.slice/session-3.scope\n", "", ""},
    {"0::/kubepods/podnotauid/0123\n", "", ""},
    {"", "", ""},
    {"nonsense\n:::\n0:\n", "", ""},
};

START_TEST(cgroup_names_container_and_pod)
{
    attach_jvm jvm = {0};
    attach__cgroup_read(&jvm, span(cgroups[_i].text));
    ck_assert_str_eq(jvm.container_id, cgroups[_i].container);
    ck_assert_str_eq(jvm.pod_uid, cgroups[_i].pod);
}
END_TEST

START_TEST(mountinfo_reads_good_lines_only)
{
    attach__span rest =
        span("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
             "broken\n1 2 3:4 / relative rw - ext4 x rw\n37 35 0:1 / /ro ro - tmpfs none rw\n"
             "38 35 0:1 / /sro rw,noexec shared:1 unbindable - tmpfs none ro,size=1k\n"
             "39 35 0:1 / /nosep rw shared:1\n40 35 0:1 / /last rw - xfs src");
    attach__mount m;
    ck_assert(attach__mountinfo_next(&rest, &m));
    ck_assert_str_eq(m.path, "/mnt 2");
    ck_assert_str_eq(m.fstype, "ext3");
    ck_assert(!m.read_only && !m.noexec);
    ck_assert(attach__mountinfo_next(&rest, &m));
    ck_assert_str_eq(m.path, "/ro");
    ck_assert(m.read_only);
    ck_assert(attach__mountinfo_next(&rest, &m));
    ck_assert_str_eq(m.path, "/sro");
    ck_assert(m.read_only && m.noexec);
    ck_assert(attach__mountinfo_next(&rest, &m));
    ck_assert_str_eq(m.path, "/last");
    ck_assert(!attach__mountinfo_next(&rest, &m));
}
END_TEST

START_TEST(mounts_that_could_hang_are_known)
{
    attach__span mounts =
        span("1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / /tmp rw - fuse.sshfs x rw\n"
             "3 1 0:3 / /tmp/in rw - tmpfs x rw\n4 1 0:4 / /jdk rw - nfs4 x rw\n");
    ck_assert(!attach__mount_could_hang(mounts, "/etc"));
    ck_assert(attach__mount_could_hang(mounts, "/tmp"));
    ck_assert(attach__mount_could_hang(mounts, "/tmp/x"));
    ck_assert(!attach__mount_could_hang(mounts, "/tmp/in/x"));
    ck_assert(!attach__mount_could_hang(mounts, "/tmpx"));
    ck_assert(attach__mount_could_hang(mounts, "/jdk/lib/libjvm.so"));
    ck_assert(!attach__mount_could_hang(span(""), "/tmp"));
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("proc");
    tcase_add_test(tc, stat_survives_any_command_name);
    tcase_add_test(tc, an_exiting_process_counts_as_dead);
    tcase_add_loop_test(tc, stat_refuses, 0, ROWS(bad_stats));
    tcase_add_test(tc, status_gives_effective_ids_and_inner_pid);
    tcase_add_loop_test(tc, status_refuses, 0, ROWS(bad_statuses));
    tcase_add_loop_test(tc, maps_tell_what_runs, 0, ROWS(maps));
    tcase_add_test(tc, profilers_have_owners);
    tcase_add_test(tc, maps_of_another_root);
    tcase_add_loop_test(tc, cgroup_names_container_and_pod, 0, ROWS(cgroups));
    tcase_add_test(tc, mountinfo_reads_good_lines_only);
    tcase_add_test(tc, mounts_that_could_hang_are_known);
    Suite *suite = suite_create("proc");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
