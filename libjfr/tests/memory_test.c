/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a failure of each allocation: the library reports it and frees everything. */
#include "failing_memory.h"
#include "read/input_impl.h"
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const recordings[] = {"async-profiler-4.5-jdk17", "jdk25-all"};

static void *bytes, *twice, *packed;
static size_t len, packed_len;

/* A hash of the values that a run read. */
static uint64_t seen;

static void note(uint64_t number)
{
    seen = (seen ^ number) * UINT64_C(0x9E3779B97F4A7C15);
}

static void note_text(jfr_str text)
{
    for (size_t i = 0; i < text.len; i++)
        note((uint8_t)text.data[i]);
}

static void load(int which)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s.jfr.gz", DATA_DIR, recordings[which]);
    ck_assert_int_eq(jfr__map_file(&packed, &packed_len, path, &err), 0);
    bytes = unpack_file(path, &len);
    twice = malloc(2 * len);
    ck_assert_ptr_nonnull(twice);
    memcpy(twice, bytes, len);
    memcpy((char *)twice + len, bytes, len);
}

static void teardown(void)
{
    free(bytes);
    free(twice);
    jfr__unmap_file(packed, packed_len);
}

/* ---- tests: they return 0 or more, or an error code ---- */

/* Calls `work` for each chunk of the recording. */
static int each_chunk(const uint8_t *data, size_t size, int (*work)(jfr_chunk *of))
{
    jfr_file *in = NULL;
    jfr_chunk *of = NULL;
    int rc = jfr_open_mem(&in, data, size, NULL, &err);
    while (rc >= 0 && (rc = jfr_next_chunk(in, &of, &err)) == 1)
        rc = work(of);
    jfr_close(in);
    return rc;
}

static int note_stack(jfr_chunk *of, uint32_t index)
{
    jfr_stack stack;
    if (index == JFR_NONE)
        return 0;
    int rc = jfr_chunk_stack(of, index, &stack, &err);
    for (uint32_t i = 0; rc == 0 && i < stack.frame_count; i++)
        note_text(stack.frames[i].method->name);
    return rc;
}

static int note_thread(jfr_chunk *of, uint32_t index)
{
    jfr_thread thread;
    if (index == JFR_NONE)
        return 0;
    int rc = jfr_chunk_thread(of, index, &thread, &err);
    if (rc == 0)
        note_text(thread.java_name);
    return rc;
}

static int note_class(jfr_chunk *of, uint32_t index)
{
    jfr_class klass;
    if (index == JFR_NONE)
        return 0;
    int rc = jfr_chunk_class(of, index, &klass, &err);
    if (rc == 0)
        note_text(klass.name);
    return rc;
}

static int note_settings(jfr_chunk *of)
{
    jfr_setting setting;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < jfr_chunk_setting_count(of); i++) {
        rc = jfr_chunk_setting(of, i, &setting, &err);
        if (rc == 0)
            note_text(setting.value);
    }
    return rc;
}

static int read_samples(jfr_chunk *of)
{
    jfr_sample s;
    int rc = note_settings(of);
    while (rc == 0 && (rc = jfr_samples_next(of, &s, &err)) == 1) {
        rc = note_stack(of, s.stack);
        if (rc == 0)
            rc = note_thread(of, s.thread);
        if (rc == 0)
            rc = note_class(of, s.klass);
    }
    return rc;
}

static int samples(void)
{
    return each_chunk(bytes, len, read_samples);
}

static int unpacked_samples(void)
{
    return each_chunk(packed, packed_len, read_samples);
}

static int on_scalar(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    (void)ctx;
    (void)field;
    (void)index;
    note(value->kind);
    if (value->kind == JFR_VARIANT_STRING)
        note_text(value->text);
    return 0;
}

static int on_begin(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    return on_scalar(ctx, field, index, value);
}

static int on_end(void *ctx, const jfr_field *field, const jfr_variant *value)
{
    return on_scalar(ctx, field, 0, value);
}

static int visit(jfr_chunk *of, const jfr_variant *value)
{
    jfr_visitor visitor = JFR_VISITOR_INIT;
    visitor.begin = on_begin;
    visitor.end = on_end;
    visitor.scalar = on_scalar;
    return jfr_variant_visit(of, value, &visitor, &err);
}

static int read_row(jfr_chunk *of, const jfr_variant *value)
{
    static const char *const paths[] = {"startTime", "eventThread.javaName", "duration"};
    enum { PATHS = sizeof(paths) / sizeof(paths[0]) };
    jfr_columns *columns = NULL;
    jfr_variant row[PATHS] = {{0}}, followed = {0};
    int rc = jfr_columns_open(&columns, of, value->type, paths, PATHS, &err);
    if (rc == 0)
        rc = jfr_columns_read(columns, value, row, &err);
    jfr_columns_close(columns);
    if (rc < 0)
        return rc;
    note(row[0].kind);
    rc = jfr_variant_path(of, value, paths[1], &followed, &err);
    return rc < 0 ? rc : 0;
}

/* One of this many events is read completely. */
enum { EVENTS_APART = 40 };

static int read_events(jfr_chunk *of)
{
    jfr_events_options asked = JFR_EVENTS_OPTIONS_INIT;
    jfr_events *events = NULL;
    jfr_event event = {0};
    asked.events = "jdk.*,profiler.*";
    int rc = jfr_events_open(&events, of, &asked, &err);
    for (uint64_t i = 0; rc == 0 && (rc = jfr_events_next(events, &event, &err)) == 1; i++) {
        rc = i % EVENTS_APART == 0 ? visit(of, &event.value) : 0;
        if (rc == 0 && i % EVENTS_APART == 0)
            rc = read_row(of, &event.value);
    }
    jfr_events_close(events);
    return rc;
}

static int events(void)
{
    return each_chunk(bytes, len, read_events);
}

static int read_constants(jfr_chunk *of)
{
    const jfr_type *types;
    uint32_t count;
    int rc = jfr_chunk_types(of, &types, &count, &err);
    for (uint32_t type = 0; rc == 0 && type < count; type++) {
        uint32_t constants = 0;
        jfr_variant value = {0};
        rc = jfr_chunk_constant_count(of, type, &constants, &err);
        for (uint32_t i = 0; rc == 0 && i < constants && i < 3; i++) {
            rc = jfr_chunk_constant(of, type, i, &value, &err);
            if (rc == 0)
                rc = visit(of, &value);
        }
    }
    return rc;
}

static int constants(void)
{
    return each_chunk(bytes, len, read_constants);
}

/* Runs the work items of jfr_parallel_for one after another. */
static void in_turn(void *ctx, uint32_t count, jfr_work *work, void *work_ctx)
{
    (void)ctx;
    for (uint32_t i = 0; i < count; i++)
        work(work_ctx, i);
}

/*
 * Reads the recording twice, so that two chunks are read at the same time when that is requested.
 */
static int read_sums(uint32_t threads)
{
    jfr_sums_options asked = JFR_SUMS_OPTIONS_INIT;
    jfr_sums_row rows[64] = {{0}};
    jfr_file *in = NULL;
    jfr_sums *of_file = NULL;
    jfr_chunk *of = NULL;
    asked.flags = JFR_SUMS_CLASSES;
    asked.seconds = 100;
    asked.threads = threads;
    asked.parallel_for = in_turn;
    int rc = jfr_open_mem(&in, twice, 2 * len, NULL, &err);
    if (rc == 0)
        rc = jfr_sums_open(&of_file, in, &asked, &err);
    while (rc == 0 && (rc = jfr_sums_next(of_file, &of, &err)) == 1) {
        uint32_t at = 0;
        for (size_t count; (count = jfr_sums_read(of_file, at, rows, 64)) > 0;
             at += (uint32_t)count)
            for (size_t i = 0; i < count; i++)
                note(rows[i].samples);
        rc = at > 0 ? 0 : JFR_ERR_USAGE;
    }
    jfr_sums_close(of_file);
    jfr_close(in);
    return rc;
}

static int sums(void)
{
    return read_sums(1);
}

static int side_by_side(void)
{
    return read_sums(2);
}

/* The lines of frames that have a number; a frame can be numbered again. */
enum { LEARNED = 1 << 16, ROOM = 2048 };

typedef struct learned {
    uint32_t lines[LEARNED];
    uint32_t count;
} learned;

static int learn(void *ctx, const jfr_frame_ref *frame, uint32_t *value)
{
    learned *l = ctx;
    *value = l->count++ % LEARNED;
    l->lines[*value] = frame->line;
    return 0;
}

static int read_values(jfr_chunk *of)
{
    static learned known;
    uint32_t values[ROOM];
    jfr_stacks *stacks = NULL;
    jfr_stack_ref stack;
    int rc = jfr_stacks_open(&stacks, of, learn, &known, &err);
    for (uint32_t i = 0; rc == 0 && i < jfr_chunk_get_info(of)->stack_count; i++) {
        rc = jfr_stacks_read(stacks, i, values, ROOM, &stack, &err);
        for (uint32_t k = 0; rc == 0 && k < stack.frame_count && k < ROOM; k++)
            note(known.lines[values[k]]);
    }
    jfr_stacks_close(stacks);
    return rc;
}

static int stack_values(void)
{
    return each_chunk(bytes, len, read_values);
}

static int (*const works[])(void) = {
    samples, unpacked_samples, events, constants, sums, side_by_side, stack_values,
};

START_TEST(no_allocation_that_fails_harms_anything)
{
    load(_i % ROWS(recordings));
    int (*const work)(void) = works[_i / ROWS(recordings)];
    seen = 0;
    ck_assert_msg(work() == 0, "%s", err.message);
    const uint64_t wanted = seen;
    int rc = JFR_ERR_NOMEM;
    long failures = 0;
    for (long count = 0; rc != 0; count = memory_next(count), failures++) {
        err = (jfr_error){0};
        seen = 0;
        memory_limit(count);
        rc = work();
        memory_lift();
        ck_assert_int_eq(rc, rc == 0 ? 0 : JFR_ERR_NOMEM);
        ck_assert_int_eq(err.code, rc);
        ck_assert_int_eq(err.message[0] != '\0', rc != 0);
    }
    ck_assert_int_gt(failures, 5);
    ck_assert_uint_eq(seen, wanted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *t = tcase_create("memory");
    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_loop_test(t, no_allocation_that_fails_harms_anything, 0,
                        ROWS(works) * ROWS(recordings));
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
