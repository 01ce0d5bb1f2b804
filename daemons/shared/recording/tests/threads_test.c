/* SPDX-License-Identifier: Apache-2.0 */
/* Tests recordings that several threads read: they must find the same as one thread, sample by
 * sample. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <recording/recording.h>

#include "../internal.h"
#include "fixture.h"
#include "run_suite.h"

/* Writes two chunks of a few MiB, with allocation events of two threads with two stacks and
 * none. */
static void put_large_chunks(void)
{
    for (int chunk = 0; chunk < 2; chunk++) {
        begin(true);
        put_setting(&w, T_RECORDING, "event", "cpu");
        put_setting(&w, T_EXECUTION, "interval", "0");
        for (uint64_t i = 0; i < 90000; i++) {
            if (i % 10 == 0)
                put_execution(&w, i, 70 + i % 3, i % 4 == 0 ? 7 : 9, i % 3);
            put_in_tlab(&w, 2 + i % 2, 16 + i % 100, 1 + i * 7 % 5000);
        }
        end();
    }
}

static bool same_stack(const sagg *a, uint32_t one, const sagg *b, uint32_t other)
{
    sagg_stack_id s, t;
    ck_assert(sagg_stack_id_at(a, one, &s) && sagg_stack_id_at(b, other, &t));
    return memcmp(&s, &t, sizeof(s)) == 0;
}

static void must_equal(const sagg *a, const sagg *b)
{
    size_t at_a = 0, at_b = 0;
    sagg_entry x, y;
    while (sagg_next(a, &at_a, &x)) {
        ck_assert(sagg_next(b, &at_b, &y));
        ck_assert(same_stack(a, x.stack, b, y.stack));
        ck_assert(x.type == y.type && x.thread == y.thread && x.label == y.label);
        ck_assert_uint_eq(x.totals.samples, y.totals.samples);
        ck_assert_uint_eq(x.totals.raw_value, y.totals.raw_value);
        ck_assert_uint_eq(x.totals.value, y.totals.value);
    }
    ck_assert_uint_gt(at_a, 0);
    ck_assert(!sagg_next(b, &at_b, &y));
}

static bool same_key(const sagg *a, const sagg_entry *x, const sagg *b, const sagg_entry *y)
{
    return x->type == y->type && x->thread == y->thread && x->label == y->label &&
           same_stack(a, x->stack, b, y->stack);
}

/* Checks for equality in any order. */
static void must_match(const sagg *a, const sagg *b)
{
    size_t at_a = 0, at_b, count = 0;
    sagg_entry x, y;
    while (sagg_next(a, &at_a, &x)) {
        bool found = false;
        for (at_b = 0; !found && sagg_next(b, &at_b, &y);)
            found = same_key(a, &x, b, &y);
        ck_assert(found);
        ck_assert_mem_eq(&x.totals, &y.totals, sizeof(x.totals));
        count++;
    }
    for (at_b = 0; sagg_next(b, &at_b, &y);)
        count--;
    ck_assert_uint_eq(count, 0);
}

/* Per-second totals need each sample's time, so that one thread reads the samples one by one. */
START_TEST(sums_by_any_number_of_threads_equal_single_samples)
{
    static const uint32_t threads[] = {1, 2, 3, 7};
    recording_info one;
    options.facets = true;
    options.objects = (_i & 1) != 0;
    options.seconds = 1;
    put_large_chunks();
    const sagg *plain = read_all();
    recording *first = rec;
    one = info;
    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
        options.seconds = 0;
        options.threads = threads[i];
        rec = NULL;
        must_match(plain, read_all());
        ck_assert_mem_eq(&one.counts, &info.counts, sizeof(info.counts));
        ck_assert_mem_eq(one.truncated_raw, info.truncated_raw, sizeof(info.truncated_raw));
        recording_free(rec);
    }
    rec = first;
}
END_TEST

/* Writes stacks that differ by their line, from `line` on; the first `deep` have more frames. */
static void put_stacks(uint64_t line, uint64_t deep, uint64_t stacks)
{
    begin_pool(&w, T_STACK, stacks);
    for (uint64_t i = 0; i < stacks; i++) {
        uint64_t depth = i < deep ? 5 : 2;
        put_long(&w, 100 + i);
        put_u8(&w, i % 50 == 0); /* truncated */
        put_int(&w, depth);
        for (uint64_t k = 0; k < depth; k++) {
            put_long(&w, 1 + (i + k) % 3);
            put_int(&w, k == 0 ? line + i : 7);
            put_int(&w, 0);
            put_long(&w, (i + k) % 6);
        }
    }
}

/* Writes events in which several threads have each of the stacks, which begin at `first`. */
static void put_wide_events(uint64_t first, uint64_t stacks)
{
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "0");
    for (uint64_t i = 0; i < stacks * 9; i++) {
        put_execution(&w, 600, 70 + i / stacks % 2, 100 + first + i * 7 % stacks, 1);
        if (i % 3 == 0)
            put_in_tlab(&w, 2 + i % 2, 16 + i % 100, 1 + i * 7 % 5000);
    }
}

static void put_wide_chunk(uint64_t line, uint64_t stacks)
{
    begin(true);
    size_t checkpoint = begin_checkpoint(&w);
    put_stacks(line, 0, stacks);
    end_checkpoint(&w, checkpoint);
    put_wide_events(0, stacks);
    end();
}

/* Checks that two aggregates filled in the same order have the same numbers. */
static void must_be_one(const sagg *a, const sagg *b)
{
    ck_assert_uint_eq(sagg_stack_count(a), sagg_stack_count(b));
    ck_assert_uint_eq(sagg_frame_count(a), sagg_frame_count(b));
    ck_assert_uint_eq(sagg_thread_count(a), sagg_thread_count(b));
    for (uint32_t i = 0; i < sagg_stack_count(a); i++) {
        sagg_stack s, t;
        ck_assert(sagg_stack_at(a, i, &s) && sagg_stack_at(b, i, &t));
        ck_assert(same_stack(a, i, b, i));
        ck_assert_uint_eq(s.count, t.count);
        ck_assert_uint_eq(s.width, t.width);
        if (s.count > 0)
            ck_assert_mem_eq(s.frames, t.frames, (size_t)s.count * s.width);
    }
    must_equal(a, b);
}

/* way 0: no cap is near; 1: the stacks exceed their cap; 2: memory does */
static void must_be_one_by_any_threads(int way, bool whole)
{
    options.facets = true;
    options.max_stacks = way == 1 ? 3000 : 0;
    options.max_bytes = way == 2 ? UINT64_C(1) << 20 : 0;
    const sagg *one = read_all();
    recording *first = rec;
    recording_info told = info;
    ck_assert_uint_gt(sagg_stack_count(one), 1000);
    ck_assert_uint_gt(info.truncated_raw[PROFILE_TYPE_CPU], 0);
    ck_assert(recording_is_whole(rec) == whole);
    for (options.threads = 2; options.threads <= 4; options.threads++) {
        rec = NULL;
        must_be_one(one, read_all());
        ck_assert_mem_eq(&told, &info, sizeof(info));
        recording_free(rec);
    }
    rec = first;
}

START_TEST(stacks_shared_out_add_up_as_by_one_thread)
{
    /* More stacks than these exceed the cap without frames. */
    const uint64_t stacks = _i == 5 ? 6000 : 7500;
    put_wide_chunk(0, stacks);
    put_wide_chunk(0, stacks + 1000);
    must_be_one_by_any_threads(_i, _i % 3 == 0 || _i == 5);
}
END_TEST

/* Each thread has several chunks, and finishes some before the one that precedes them is read. */
START_TEST(chunks_shared_out_add_up_as_by_one_thread)
{
    for (uint64_t i = 0; i < 10; i++)
        put_wide_chunk(i * 700, 1000 + i % 3 * 100);
    must_be_one_by_any_threads(_i, _i % 3 == 0);
}
END_TEST

/* Writes a chunk with its stacks at the end, after so many states. Returns where the stacks begin;
 * a pool of one symbol, which claims to have `count`, follows them. */
static size_t put_late_stacks(uint64_t stacks, uint64_t states, uint64_t count)
{
    static const char *const names[] = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING",
                                        "STATE_PARKED_TIMED"};
    begin(true);
    put_wide_events(0, stacks);
    put_standard_pools(&w);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STATE, states);
    for (uint64_t i = 0; i < states; i++) {
        put_long(&w, i);
        put_text(&w, names[i]);
    }
    size_t at = w.len;
    put_stacks(0, 0, stacks);
    begin_pool(&w, T_SYMBOL, count);
    put_long(&w, 700);
    put_text(&w, "last");
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    return at;
}

static void append_lines(char *text, size_t room)
{
    char line[256];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; recording_loss_line(rec, i, line, sizeof(line)); i++)
        used += (size_t)snprintf(text + used, room - used, "%s\n", line);
    ck_assert_uint_lt(used, room);
}

/* 0: valid; 1: a stack is damaged, and so is all that follows; 2: states are missing */
START_TEST(chunks_with_late_stacks_add_up_as_by_one_thread)
{
    char lines[4096], other[4096];
    put_late_stacks(7000, 4, 1);
    size_t at = put_late_stacks(8000, _i == 2 ? 1 : 4, 1);
    if (_i == 1)
        memset(w.data + at + 40000, 0xFF, 8);
    const sagg *one = read_all();
    recording *first = rec;
    recording_info told = info;
    append_lines(lines, sizeof(lines));
    ck_assert((strlen(lines) > 0) == (_i == 1));
    for (options.threads = 2; options.threads <= 4; options.threads++) {
        rec = NULL;
        must_be_one(one, read_all());
        ck_assert_mem_eq(&told, &info, sizeof(info));
        append_lines(other, sizeof(other));
        ck_assert_str_eq(lines, other);
        recording_free(rec);
    }
    rec = first;
}
END_TEST

START_TEST(a_chunk_that_is_refused_is_so_by_any_threads)
{
    recording_error told = {.code = 0};
    char lines[4096] = "", other[4096] = "";
    put_late_stacks(7000, 4, 1);
    put_late_stacks(8000, 4, INT32_MAX);
    for (options.threads = 1; options.threads <= 3; options.threads++) {
        ck_assert_int_eq(recording_new(&rec, &options, &err), 0);
        ck_assert_int_eq(recording_add_mem(rec, w.data, w.len, &err), RECORDING_E_LIMIT);
        append_lines(options.threads == 1 ? lines : other, sizeof(lines));
        recording_get_info(rec, &info);
        ck_assert_uint_eq(info.chunks_lost, 1);
        ck_assert_uint_eq(info.chunks_whole, 1);
        if (options.threads == 1)
            told = err;
        ck_assert_str_eq(told.message, err.message);
        ck_assert_uint_eq(told.offset, err.offset);
        ck_assert(options.threads == 1 || strcmp(lines, other) == 0);
        recording_free(rec);
        rec = NULL;
    }
}
END_TEST

/* Writes chunks that inherit settings from each other, and that lack some data. */
static void put_odd_chunks(void)
{
    static const char *const intervals[] = {"5000000", NULL, "7000000", NULL, NULL, NULL};
    for (int i = 0; i < 6; i++) {
        size_t begin = w.len;
        put_cpu_chunk(intervals[i]);
        if (i == 3)
            w.data[begin + 68 + 3] = 0x7F; /* the metadata's size: its chunk is lost */
        if (i == 4)
            w.data[w.len - 20] ^= 0x55; /* in the pools */
    }
}

START_TEST(chunks_by_several_threads_add_up_as_in_a_row)
{
    char lines[4096], other[4096];
    put_odd_chunks();
    const sagg *plain = read_all();
    recording *first = rec;
    recording_info one = info;
    append_lines(lines, sizeof(lines));
    ck_assert_uint_gt(strlen(lines), 0);
    for (options.threads = 2; options.threads <= 6; options.threads++) {
        rec = NULL;
        must_equal(plain, read_all());
        append_lines(other, sizeof(other));
        ck_assert_str_eq(lines, other);
        ck_assert_mem_eq(&one, &info, sizeof(info));
        recording_free(rec);
    }
    rec = first;
}
END_TEST

START_TEST(too_many_threads_are_refused)
{
    options.threads = RECORDING_MAX_THREADS + 1;
    ck_assert_int_eq(recording_new(&rec, &options, &err), RECORDING_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "threads"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording-threads");
    TCase *tcase = tcase_create("threads");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, sums_by_any_number_of_threads_equal_single_samples, 0, 2);
    tcase_add_loop_test(tcase, stacks_shared_out_add_up_as_by_one_thread, 0, 3);
    tcase_add_loop_test(tcase, chunks_shared_out_add_up_as_by_one_thread, 0, 3);
    tcase_add_loop_test(tcase, chunks_with_late_stacks_add_up_as_by_one_thread, 0, 3);
    tcase_add_test(tcase, a_chunk_that_is_refused_is_so_by_any_threads);
    tcase_add_test(tcase, chunks_by_several_threads_add_up_as_in_a_row);
    tcase_add_test(tcase, too_many_threads_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
