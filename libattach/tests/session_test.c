/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the parts of a session that need no JVM: marker, candidate directories, recording, options.
 */
#include "run_suite.h"
#include "span.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_proc.h"
#include "profiler/ap_candidates_impl.h"
#include "profiler/ap_jfr_impl.h"
#include "profiler/ap_marker_impl.h"
#include "profiler/ap_place_impl.h"
#include "profiler/ap_recording_impl.h"
#include "profiler/ap_session_impl.h"
#include "profiler/jfr_settings_impl.h"

static attach__marker a_marker(void)
{
    return (attach__marker){.installation = "abc1",
                            .identity = {"11111111-2222-3333-4444-555555555555", 42, 4711},
                            .namespace_id = 24,
                            .wanted = ATTACH_AP_ENGINE_AUTO,
                            .engine = ATTACH_AP_ENGINE_CTIMER,
                            .engine_reason = "perf events are refused",
                            .cpu_interval_ns = 10000000,
                            .alloc_bytes = 524288,
                            .lock_ns = 1000000,
                            .memlimit_bytes = 1 << 26,
                            .started_ms = 1700000000123,
                            .until_ms = 1700000060123,
                            .rate_limit = 10000,
                            .wall_ns = 50000000,
                            .nativemem_bytes = 65536,
                            .live = 1,
                            .absent = ATTACH_AP_LIVE,
                            .absent_reason = "live: it was refused",
                            .handed = 123456789,
                            .skipped = 17,
                            .until_ns = 1700000001123456789,
                            .recorder = ATTACH_AP_RECORDER_JFR,
                            .owner = "hotstack profile (pid 17)"};
}

START_TEST(marker_survives_writing_and_reading)
{
    char text[ATTACH__MARKER_MAX], again[ATTACH__MARKER_MAX];
    attach__marker wanted = a_marker(), got;
    size_t n = attach__marker_format(text, &wanted);
    ck_assert_int_eq(attach__marker_parse(&got, attach__span_of(text, n), NULL), ATTACH_OK);
    ck_assert_uint_eq(attach__marker_format(again, &got), n);
    ck_assert_str_eq(again, text);
    ck_assert_str_eq(got.engine_reason, "perf events are refused");
    ck_assert_uint_eq(got.handed, 123456789);
    ck_assert_uint_eq(got.rate_limit, 10000);
    ck_assert_uint_eq(got.skipped, 17);
    ck_assert_uint_eq(got.wall_ns, 50000000);
    ck_assert_uint_eq(got.nativemem_bytes, 65536);
    ck_assert_uint_eq(got.live, 1);
    ck_assert_uint_eq(got.absent, ATTACH_AP_LIVE);
    ck_assert_str_eq(got.absent_reason, "live: it was refused");
}
END_TEST

START_TEST(dropped_events_are_what_the_metrics_say)
{
    ck_assert_uint_eq(attach__skipped_samples(span("mem_classmap_kb 4\nsamples_total 386154\n"
                                                   "samples_skipped_total 385610\n")),
                      385610);
    ck_assert_uint_eq(attach__skipped_samples(span("samples_skipped_total 7")), 7);
    ck_assert_uint_eq(attach__skipped_samples(span("samples_skipped_total -7\n")), 0);
    ck_assert_uint_eq(attach__skipped_samples(span("samples_skipped_total\n")), 0);
    ck_assert_uint_eq(attach__skipped_samples(span("")), 0);
}
END_TEST

START_TEST(settings_of_the_jdk_recorder)
{
    char text[ATTACH__JFR_SETTINGS_MAX];
    attach__marker marker = a_marker();
    size_t n = attach__jfr_settings(text, &marker, 17);
    ck_assert_uint_eq(strlen(text), n);
    ck_assert_ptr_nonnull(strstr(text, "<setting name=\"period\">10 ms</setting>"));
    ck_assert_ptr_nonnull(strstr(text, "jdk.ObjectAllocationSample"));
    ck_assert_ptr_null(strstr(text, "TLAB"));
    ck_assert_ptr_nonnull(strstr(text, "<setting name=\"threshold\">1000000 ns</setting>"));
    ck_assert_str_eq(text + n - strlen("</configuration>\n"), "</configuration>\n");
    marker.cpu_interval_ns = 1000; /* shorter than the recorder supports */
    (void)attach__jfr_settings(text, &marker, 11);
    ck_assert_ptr_nonnull(strstr(text, "<setting name=\"period\">10 ms</setting>"));
    ck_assert_ptr_null(strstr(text, "jdk.ObjectAllocationSample"));
    ck_assert_ptr_nonnull(strstr(text, "jdk.ObjectAllocationOutsideTLAB"));
    marker.cpu_interval_ns = marker.alloc_bytes = marker.lock_ns = 0;
    (void)attach__jfr_settings(text, &marker, 25);
    ck_assert_ptr_null(strstr(text, "Sample"));
    ck_assert_ptr_null(strstr(text, "Monitor"));
}
END_TEST

START_TEST(answers_of_the_jdk_recorder)
{
    static const char name[] = "hotstack-abc1-0123456789abcdef";
    static const struct {
        const char *text;
        bool runs;
    } checks[] = {
        {"Recording 1: name=hotstack-abc1-0123456789abcdef maxsize=250.0MB (running)\n", true},
        {"Recording: recording=1 name=\"hotstack-abc1-0123456789abcdef\" (running)\n", true},
        {"Recording 1: name=other (running)\n"
         "Recording 2: name=hotstack-abc1-0123456789abcdef (stopped)\n",
         false},
        {"Recording 1: name=hotstack-abc1-0123456789abcdef0 (running)\n", false},
        {"No available recordings.\n", false},
        {"name=\"\n", false},
        {"", false},
    };
    for (int i = 0; i < ROWS(checks); i++)
        ck_assert_int_eq(attach__jfr_runs(span(checks[i].text), name), checks[i].runs);
    ck_assert_uint_eq(
        attach__jfr_java_release(span("OpenJDK 64-Bit Server VM version 17.0.9+9\nJDK 17.0.9\n")),
        17);
    ck_assert_uint_eq(attach__jfr_java_release(span("VM\nJDK 8.0_392\n")), 8);
    ck_assert_uint_eq(attach__jfr_java_release(span("JDK x\nJDK \n")), 0);
    ck_assert_uint_eq(attach__jfr_java_release(span("")), 0);
}
END_TEST

#define FIRST "hotstack-session 1\n"

static const char *const bad_markers[] = {
    "",
    "hotstack-session 2\ninstallation a\npid 1\n",
    FIRST,
    FIRST "installation a\n",
    FIRST "installation ../x\npid 1\n",
    FIRST "installation a\npid -1\n",
    FIRST "installation a\npid 1\nengine warp\n",
    FIRST "installation a\npid 1\nrecorder tape\n",
    FIRST "installation a\npid 1\nhanded 99999999999999999999\n",
    FIRST "installation a\npid 1\nstarted_ms 18446744073709551615\n",
    FIRST "installation aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\npid 1\n",
};

START_TEST(marker_refuses)
{
    attach__marker marker;
    ck_assert_int_eq(attach__marker_parse(&marker, span(bad_markers[_i]), NULL), ATTACH_ERR_FORMAT);
}
END_TEST

START_TEST(disk_comes_before_memory_and_root_last)
{
    static const char *const own[] = {"/data/hotstack", "/has,comma", "/has%t"};
    static const char *const wanted[] = {"/data/hotstack", "/var/tmp", "/data",
                                         "/tmp",           "/run",     "/"};
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    attach__candidates found;
    options.dirs = own;
    options.n_dirs = 3;
    attach__candidates_from(
        &found,
        span("1 0 0:1 / / rw - overlay x rw\n2 1 0:2 / /tmp rw - tmpfs x rw\n"
             "3 1 0:3 / /data rw - ext4 x rw\n4 1 0:4 / /proc rw - proc x rw\n"
             "5 1 0:5 / /nfs rw - nfs4 x rw\n6 1 0:6 / /run rw - tmpfs x rw\n"
             "7 1 0:7 / /cfg ro - ext4 x rw\n8 1 0:8 / /a\\040b rw - ext4 x rw\n"),
        &options);
    ck_assert_uint_eq(found.n, (size_t)ROWS(wanted));
    for (int i = 0; i < ROWS(wanted); i++)
        ck_assert_str_eq(found.paths[i], wanted[i]);
}
END_TEST

/* The mountinfo of a process in a chroot, whose root is no mount. */
START_TEST(a_hidden_root_mount_counts_as_disk)
{
    static const char *const wanted[] = {"/tmp", "/var/tmp", "/dev/shm", "/"};
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    attach__candidates found;
    attach__candidates_from(&found,
                            span("1 9 0:1 / /proc rw - proc x rw\n"
                                 "2 9 0:2 / /dev/shm rw - tmpfs x rw\n"),
                            &options);
    ck_assert_uint_eq(found.n, (size_t)ROWS(wanted));
    for (int i = 0; i < ROWS(wanted); i++)
        ck_assert_str_eq(found.paths[i], wanted[i]);
}
END_TEST

START_TEST(many_mounts_are_bounded)
{
    char *text = malloc(1 << 20);
    size_t n = 0;
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    attach__candidates found;
    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, (1 << 20) - n, "1 0 0:1 / /m%d rw - ext4 x rw\n", i);
    attach__candidates_from(&found, attach__span_of(text, n), &options);
    ck_assert_uint_eq(found.n, ATTACH__CANDIDATES_MAX);
    free(text);
}
END_TEST

/* Returns an unlinked recording file. */
static int recording_of(const uint8_t *bytes, size_t n)
{
    char path[] = "/tmp/libattach-recording-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
    return fd;
}

static void put_header(uint8_t *at, uint64_t size)
{
    memcpy(at, "FLR\0\0\2\0\0", 8);
    for (int i = 0; i < 8; i++)
        at[8 + i] = (uint8_t)(size >> (8 * (7 - i)));
}

static int sum_sizes(void *ctx, const uint8_t *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)ctx += n;
    return 0;
}

static int refuse(void *ctx, const uint8_t *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return 1;
}

START_TEST(finished_chunks_end_at_the_open_one)
{
    uint8_t bytes[100 + 80 + 70] = {0};
    uint64_t end_at = 0;
    size_t taken = 0;
    attach_error err;
    put_header(bytes, 100);
    put_header(bytes + 100, 80);
    put_header(bytes + 180, 0x40000000);
    int fd = recording_of(bytes, sizeof(bytes));
    ck_assert_int_eq(attach__recording_finished(&end_at, fd, 0, NULL), ATTACH_OK);
    ck_assert_uint_eq(end_at, 180);
    ck_assert_int_eq(attach__recording_finished(&end_at, fd, 180, NULL), ATTACH_OK);
    ck_assert_uint_eq(end_at, 180);
    ck_assert_int_eq(attach__recording_finished(&end_at, fd, 50, &err), ATTACH_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 50);
    ck_assert_int_eq(attach__recording_finished(&end_at, fd, 251, NULL), ATTACH_ERR_USAGE);
    uint64_t soon = attach_deadline_in(60000);
    ck_assert_int_eq(attach__recording_hand_over(fd, 100, 180, sum_sizes, &taken, soon, NULL),
                     ATTACH_OK);
    ck_assert_uint_eq(taken, 80);
    ck_assert_int_eq(attach__recording_hand_over(fd, 100, 180, refuse, NULL, soon, NULL),
                     ATTACH_ERR_IO);
    ck_assert_int_eq(attach__recording_hand_over(fd, 100, 180, sum_sizes, &taken, 0, &err),
                     ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_ATTACH_TIMEOUT);
    ck_assert_int_eq(attach__recording_hand_over(fd, 200, 300, sum_sizes, &taken, soon, NULL),
                     ATTACH_ERR_IO); /* the file was cut */
    (void)close(fd);
}
END_TEST

static const uint64_t lying_sizes[] = {0, 1, 67, UINT64_MAX, (uint64_t)1 << 63, 251};

START_TEST(lying_chunk_sizes_end_the_walk)
{
    uint8_t bytes[250] = {0};
    uint64_t end_at = 0;
    put_header(bytes, lying_sizes[_i]);
    int fd = recording_of(bytes, sizeof(bytes));
    int rc = attach__recording_finished(&end_at, fd, 0, NULL);
    ck_assert_int_eq(rc, lying_sizes[_i] < 68 ? ATTACH_ERR_FORMAT : ATTACH_OK);
    ck_assert_uint_eq(end_at, 0);
    (void)close(fd);
}
END_TEST

START_TEST(engine_is_what_the_settings_say)
{
    static const char head[] = "....\3\6engine\3\6ctimer....";
    static const char cut[] = "....\3\6engine\3\xff"
                              "ctimer";
    int fd = recording_of((const uint8_t *)head, sizeof(head));
    ck_assert_int_eq(attach__recording_engine(fd), ATTACH_AP_ENGINE_CTIMER);
    (void)close(fd);
    fd = recording_of((const uint8_t *)cut, sizeof(cut));
    ck_assert_int_eq(attach__recording_engine(fd), ATTACH_AP_ENGINE_OFF);
    (void)close(fd);
    fd = recording_of((const uint8_t *)"", 0);
    ck_assert_int_eq(attach__recording_engine(fd), ATTACH_AP_ENGINE_OFF);
    (void)close(fd);
}
END_TEST

START_TEST(consumed_bytes_go_back_to_the_file_system)
{
    uint8_t *bytes = calloc(1, 1 << 20);
    struct stat before, after;
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 1, 1 << 20);
    int fd = recording_of(bytes, 1 << 20);
    ck_assert_int_eq(fsync(fd), 0);
    ck_assert_int_eq(fstat(fd, &before), 0);
    attach__recording_punch(fd, (1 << 20) - 10);
    ck_assert_int_eq(fstat(fd, &after), 0);
    ck_assert_int_eq(after.st_size, before.st_size);
    ck_assert_int_lt(after.st_blocks, before.st_blocks);
    (void)close(fd);
    free(bytes);
}
END_TEST

/* Calls that must be refused before the target is touched. */
START_TEST(options_are_checked)
{
    fake_proc proc;
    attach_target *target = NULL;
    attach_ap_info info;
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    uint64_t soon = attach_deadline_in(1000);
    fake_proc_make(&proc);
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(attach_ap_start(&info, target, &options, soon, NULL), ATTACH_ERR_USAGE);
    options.installation_id = "../..";
    ck_assert_int_eq(attach_ap_start(&info, target, &options, soon, NULL), ATTACH_ERR_USAGE);
    ck_assert_int_eq(attach_ap_start(&info, target, NULL, soon, NULL), ATTACH_ERR_USAGE);
    options.installation_id = "abc1";
    options.engine = ATTACH_AP_ENGINE_OFF;
    ck_assert_int_eq(attach_ap_start(&info, target, &options, soon, NULL), ATTACH_ERR_USAGE);
    options.wall_ns = 10000000;
    options.live = true; /* live objects without an allocation profile */
    ck_assert_int_eq(attach_ap_start(&info, target, &options, soon, NULL), ATTACH_ERR_USAGE);
    ck_assert_int_eq(attach_ap_window(&info, target, &options, 0, NULL, NULL, soon, NULL),
                     ATTACH_ERR_USAGE);
    attach_target_close(target);
    fake_proc_remove(&proc);
}
END_TEST

START_TEST(external_is_refused_before_anything_is_written)
{
    fake_proc proc;
    attach_target *target = NULL;
    attach_ap_info info;
    attach_error err = {0};
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    char path[160];
    fake_proc_make(&proc);
    fake_proc_map(&proc, "/opt/dd/libjavaProfiler7.so");
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    options.installation_id = "abc1";
    ck_assert_int_eq(attach_ap_start(&info, target, &options, attach_deadline_in(1000), &err),
                     ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_int_eq(attach_ap_status(&info, target, &options, attach_deadline_in(1000), &err),
                     ATTACH_OK);
    ck_assert_int_eq(info.state, ATTACH_AP_EXTERNAL);
    (void)snprintf(path, sizeof(path), "%s/tmp", proc.boot);
    ck_assert_int_eq(rmdir(path), 0); /* empty */
    attach_target_close(target);
    fake_proc_remove(&proc);
}
END_TEST

/* Writes a finished chunk and an open one to the directory of a session. */
static void make_session(const fake_proc *proc, char path[200])
{
    uint8_t bytes[170] = {0};
    char file[240];
    put_header(bytes, 100);
    put_header(bytes + 100, 0x40000000);
    (void)snprintf(path, 200, "%s/tmp/hotstack-abc1-0123456789abcdef", proc->boot);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    (void)snprintf(file, sizeof(file), "%s/recording.jfr", path);
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_eq(write(fd, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
    (void)close(fd);
}

START_TEST(a_held_recording_outlives_its_jvm)
{
    static const char directory[] = "/tmp/hotstack-abc1-0123456789abcdef";
    fake_proc proc;
    attach_target *target = NULL;
    attach_ap_held *held = NULL;
    size_t taken = 0;
    char path[200];
    uint64_t soon = attach_deadline_in(60000);
    fake_proc_make(&proc);
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(attach_ap_hold(&held, target, directory, NULL), ATTACH_ERR_IO);
    ck_assert_ptr_null(held);
    make_session(&proc, path);
    ck_assert_int_eq(attach_ap_hold(&held, target, directory, NULL), ATTACH_OK);
    fake_proc_set_state(&proc, 'Z');
    ck_assert_int_eq(attach_ap_held_take(held, 0, refuse, NULL, soon, NULL), ATTACH_ERR_IO);
    ck_assert_int_eq(access(path, F_OK), 0); /* kept, because the call can be repeated */
    ck_assert_int_eq(attach_ap_held_take(held, 0, sum_sizes, &taken, soon, NULL), ATTACH_OK);
    ck_assert_uint_eq(taken, 100);
    ck_assert_int_ne(access(path, F_OK), 0);
    attach_ap_held_close(held);
    attach_ap_held_close(NULL);
    attach_target_close(target);
    fake_proc_remove(&proc);
}
END_TEST

static void write_process(const fake_proc *proc, int pid, int start_ticks)
{
    char name[40], text[128], path[160];
    (void)snprintf(path, sizeof(path), "%s/%d", proc->path, pid);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    (void)snprintf(name, sizeof(name), "../%d/stat", pid);
    (void)snprintf(text, sizeof(text), "%d (x) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 0\n", pid,
                   start_ticks);
    fake_proc_write(proc, name, text);
}

/* An installation knows its own leftovers; those of others only in the same pid namespace. */
START_TEST(only_a_jvm_that_is_gone_for_sure_is_outlived)
{
    fake_proc proc;
    attach_target *target = NULL;
    attach__marker marker = a_marker();
    fake_proc_make(&proc);
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    ck_assert_uint_eq(attach__namespace_id(target), 0);
    ck_assert(attach__marker_is_outlived(&marker, target, "abc1"));
    ck_assert(!attach__marker_is_outlived(&marker, target, "other"));
    write_process(&proc, 1, 23);
    ck_assert_uint_eq(attach__namespace_id(target), 24);
    ck_assert(attach__marker_is_outlived(&marker, target, "other"));
    marker.namespace_id = 25;
    ck_assert(attach__marker_is_outlived(&marker, target, "abc1"));
    ck_assert(!attach__marker_is_outlived(&marker, target, "other"));
    marker.namespace_id = 24;
    write_process(&proc, marker.identity.pid, (int)marker.identity.start_ticks);
    ck_assert(!attach__marker_is_outlived(&marker, target, "abc1"));
    ck_assert(!attach__marker_is_outlived(&marker, target, "other"));
    marker.identity.start_ticks++;
    ck_assert(attach__marker_is_outlived(&marker, target, "other"));
    attach_target_close(target);
    fake_proc_remove(&proc);
}
END_TEST

/* On a mount that maps users, or with a default ACL, a new file may belong to another user. */
START_TEST(a_place_that_is_not_the_jvms_own_is_taken_back)
{
    fake_proc proc;
    attach_target *target = NULL;
    attach__place place = {.fd = -1};
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    const char *dirs[] = {"/odd"};
    char path[160];
    attach_error err = {0};
    fake_proc_make(&proc);
    (void)snprintf(path, sizeof(path), "%s/odd", proc.boot);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    options.installation_id = "abc1";
    options.dirs = dirs;
    options.n_dirs = 1;
    ck_assert_int_eq(attach_target_open(&target, &proc.identity, &proc.options, NULL), ATTACH_OK);
    target->ids.uid = geteuid() + 1;
    ck_assert_int_eq(attach__place_create(&place, target, &options, NULL,
                                          "hotstack-abc1-0123456789abcdef", false, &err),
                     ATTACH_ERR_TARGET);
    ck_assert_ptr_nonnull(strstr(err.message, "/odd: gives"));
    ck_assert_int_eq(rmdir(path), 0);
    attach_target_close(target);
    fake_proc_remove(&proc);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("session");
    tcase_add_test(tc, a_place_that_is_not_the_jvms_own_is_taken_back);
    tcase_add_test(tc, settings_of_the_jdk_recorder);
    tcase_add_test(tc, answers_of_the_jdk_recorder);
    tcase_add_test(tc, dropped_events_are_what_the_metrics_say);
    tcase_add_test(tc, marker_survives_writing_and_reading);
    tcase_add_loop_test(tc, marker_refuses, 0, ROWS(bad_markers));
    tcase_add_test(tc, disk_comes_before_memory_and_root_last);
    tcase_add_test(tc, a_hidden_root_mount_counts_as_disk);
    tcase_add_test(tc, many_mounts_are_bounded);
    tcase_add_test(tc, finished_chunks_end_at_the_open_one);
    tcase_add_loop_test(tc, lying_chunk_sizes_end_the_walk, 0, ROWS(lying_sizes));
    tcase_add_test(tc, engine_is_what_the_settings_say);
    tcase_add_test(tc, consumed_bytes_go_back_to_the_file_system);
    tcase_add_test(tc, a_held_recording_outlives_its_jvm);
    tcase_add_test(tc, only_a_jvm_that_is_gone_for_sure_is_outlived);
    tcase_add_test(tc, options_are_checked);
    tcase_add_test(tc, external_is_refused_before_anything_is_written);
    Suite *suite = suite_create("session");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
