/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the committed recordings of real JVMs (tests/data/jfr), whole and damaged. */
#include "../fuzz/twin.h"
#include "../fuzz/walk.h"
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"async-profiler-4.5-jdk17", "jdk11-all", "jdk25-all"};
enum { ASYNC, JDK11, JDK25 };

static void *bytes;
static size_t len;

static void load(int which)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.jfr.gz", DATA_DIR, names[which]);
    bytes = unpack_file(path, &len);
}

static void teardown(void)
{
    fixture_teardown();
    free(bytes);
    bytes = NULL;
}

static bool stack_has(const jfr_stack *stack, const char *klass, const char *method)
{
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const jfr_method *m = stack->frames[i].method;
        if (m->class_name.len == strlen(klass) && m->name.len == strlen(method) &&
            memcmp(m->class_name.data, klass, m->class_name.len) == 0 &&
            memcmp(m->name.data, method, m->name.len) == 0)
            return true;
    }
    return false;
}

/* Returns whether a sample of that type is of that thread and has that method of Workload. */
static bool saw(jfr_profile_type type, const char *thread_name, const char *method)
{
    bool found = false;
    ck_assert_int_eq(jfr_open_mem(&file, bytes, len, NULL, &err), 0);
    while (jfr_next_chunk(file, &chunk, &err) == 1) {
        jfr_sample s;
        while (jfr_samples_next(chunk, &s, &err) == 1) {
            jfr_stack stack;
            jfr_thread thread;
            if (s.values[0].type != type || s.stack == JFR_NONE || s.thread == JFR_NONE)
                continue;
            ck_assert_int_eq(jfr_chunk_stack(chunk, s.stack, &stack, &err), 0);
            ck_assert_int_eq(jfr_chunk_thread(chunk, s.thread, &thread, &err), 0);
            found =
                found || (stack_has(&stack, "Workload", method) &&
                          thread.java_name.len == strlen(thread_name) &&
                          memcmp(thread.java_name.data, thread_name, thread.java_name.len) == 0);
        }
    }
    jfr_close(file);
    file = NULL;
    return found;
}

START_TEST(known_methods_are_seen)
{
    load(_i);
    ck_assert(saw(JFR_CPU, "burner-1", "burnCpu"));
    ck_assert(saw(JFR_ALLOC_BYTES, "allocator-1", "allocate"));
    ck_assert(saw(JFR_LOCK_COUNT, "monitor-1", "enterMonitor"));
    ck_assert(saw(JFR_LOCK_COUNT, "locker-2", "takeLock"));
}
END_TEST

START_TEST(async_profilers_surrogates_are_joined)
{
    load(ASYNC);
    ck_assert(saw(JFR_WALL, "idle-\xC3\xA4\xF0\x9F\x98\x80", "loop"));
}
END_TEST

START_TEST(virtual_threads_show_as_themselves_in_the_jdk)
{
    load(JDK25);
    ck_assert_int_eq(jfr_open_mem(&file, bytes, len, NULL, &err), 0);
    next_chunk();
    uint32_t virtual_threads = 0;
    for (uint32_t i = 0; i < jfr_chunk_get_info(chunk)->thread_count; i++) {
        jfr_thread thread;
        ck_assert_int_eq(jfr_chunk_thread(chunk, i, &thread, &err), 0);
        virtual_threads += thread.is_virtual;
    }
    ck_assert_uint_gt(virtual_threads, 0);
}
END_TEST

START_TEST(idle_parks_are_set_aside)
{
    load(JDK11);
    ck_assert_int_eq(jfr_open_mem(&file, bytes, len, NULL, &err), 0);
    next_chunk();
    jfr_sample s;
    while (jfr_samples_next(chunk, &s, &err) == 1)
        ck_assert(s.lock_kind != JFR_LOCK_IDLE_PARK && s.lock_kind != JFR_LOCK_MONITOR_WAIT);
    ck_assert_uint_gt(stats().idle_waits, 0);
    ck_assert_uint_gt(stats().unknown_pools, 0);
    ck_assert_uint_eq(stats().undefined_pools, 0);
    ck_assert_uint_eq(stats().bad_events, 0);
}
END_TEST

START_TEST(walks_whole)
{
    load(_i);
    walk_result r = walk_recording(bytes, len, 0);
    ck_assert_uint_eq(twin_recording(bytes, len, 0, TWIN_ALL), r.samples);
    ck_assert_uint_gt(r.samples, 0);
    ck_assert_uint_gt(r.frames, 0);
    ck_assert_uint_eq(r.losses, 0);
}
END_TEST

/* Overwrites single bytes across the recording: the library must keep its promises. */
START_TEST(damage_is_survived)
{
    load(_i);
    uint8_t *copy = bytes;
    for (size_t at = 7; at < len; at += len / 150) {
        uint8_t before = copy[at];
        copy[at] = (uint8_t)(before ^ 0xFF);
        walk_recording(copy, len, JFR_WALK_UNFINISHED);
        (void)twin_recording(copy, len, JFR_WALK_UNFINISHED, TWIN_ALL);
        copy[at] = before;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording");
    TCase *t = tcase_create("recording");
    tcase_add_checked_fixture(t, fixture_setup, teardown);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, known_methods_are_seen, 0, 3);
    tcase_add_test(t, async_profilers_surrogates_are_joined);
    tcase_add_test(t, virtual_threads_show_as_themselves_in_the_jdk);
    tcase_add_test(t, idle_parks_are_set_aside);
    tcase_add_loop_test(t, walks_whole, 0, 3);
    tcase_add_loop_test(t, damage_is_survived, 0, 3);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
