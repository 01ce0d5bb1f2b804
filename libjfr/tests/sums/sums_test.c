/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sums as a caller uses them: they are the same for any number of threads, and reported as
 * missing where they cannot be made. */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 5, ROOM = 64 };

static jfr_sums *sums;
static jfr_sums_options with;

/* Runs the work items of jfr_parallel_for, the last one first. */
static void backwards(void *ctx, uint32_t count, jfr_work *work, void *work_ctx)
{
    *(uint32_t *)ctx += count;
    while (count-- > 0)
        work(work_ctx, count);
}

static uint32_t shared; /* number of work items */

static void setup(void)
{
    fixture_setup();
    sums = NULL;
    shared = 0;
    with = (jfr_sums_options)JFR_SUMS_OPTIONS_INIT;
    with.parallel_for = backwards;
    with.parallel_ctx = &shared;
}

static void teardown(void)
{
    jfr_sums_close(sums);
    fixture_teardown();
}

/* Writes chunks of async-profiler and of the JDK; some state settings, others inherit them. */
static void put_chunks(void)
{
    static const char *const periods[CHUNKS] = {"5000000", "20 ms", NULL, NULL, "7000000"};
    for (uint64_t i = 0; i < CHUNKS; i++) {
        params.async = i % 2 == 0;
        params.start_ns = (int64_t)(1000000000 + i);
        begin_chunk(&w, &params);
        if (periods[i] != NULL && params.async) {
            put_setting(&w, T_RECORDING, "event", "ctimer");
            put_setting(&w, T_RECORDING, "engine", i == 0 ? "ctimer" : "perf_events");
            put_setting(&w, T_EXECUTION, "interval", periods[i]);
        } else if (periods[i] != NULL) {
            put_setting(&w, T_EXECUTION, "period", periods[i]);
        }
        for (unsigned k = 0; k < 10; k++)
            put_execution(&w, 600 + i, 70 + k % 3, k % 2 ? 7 : 9, 1);
        put_standard_pools(&w);
        end_chunk(&w, &params);
    }
}

static void open_sums(uint32_t threads)
{
    jfr_sums_close(sums);
    jfr_close(file);
    with.threads = threads;
    ck_assert_int_eq(jfr_open_mem(&file, w.data, w.len, &options, &err), 0);
    ck_assert_int_eq(jfr_sums_open(&sums, file, &with, &err), 0);
}

/* The result of reading a chunk. */
typedef struct told {
    jfr_chunk_info info;
    jfr_intervals intervals;
    jfr_chunk_stats stats;
    size_t engine;
    uint32_t rows;
    uint64_t sum; /* a hash of its rows, in their order */
} told;

static uint64_t mix(uint64_t sum, uint64_t number)
{
    return (sum ^ number) * UINT64_C(0x9E3779B97F4A7C15);
}

static void take_rows(told *out)
{
    jfr_sums_row rows[3];
    const jfr_sums_info *info = jfr_sums_get_info(sums);
    for (uint32_t at = 0; info != NULL && at < info->row_count;) {
        size_t count = jfr_sums_read(sums, at, rows, 3);
        ck_assert_uint_gt(count, 0);
        for (size_t i = 0; i < count; i++) {
            const jfr_sums_lane *lane = &info->lanes[rows[i].lane];
            out->sum = mix(mix(mix(out->sum, rows[i].stack), lane->thread), rows[i].samples);
            for (int k = 0; k < lane->value_count; k++)
                out->sum = mix(mix(out->sum, lane->types[k]), rows[i].value[k]);
        }
        at += (uint32_t)count;
    }
}

static told listen(void)
{
    told out = {.intervals = JFR_INTERVALS_INIT};
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 1);
    out.info = *jfr_chunk_get_info(chunk);
    ck_assert_int_eq(jfr_chunk_intervals(chunk, &out.intervals, &err), 0);
    out.engine = jfr_chunk_recording(chunk)->engine.len;
    jfr_chunk_get_stats(chunk, &out.stats);
    if (jfr_sums_get_info(sums) != NULL)
        out.rows = jfr_sums_get_info(sums)->row_count;
    take_rows(&out);
    return out;
}

static void must_be_same(const told *a, const told *b)
{
    ck_assert_uint_eq(a->info.offset, b->info.offset);
    ck_assert_uint_eq(a->info.size, b->info.size);
    ck_assert_int_eq(a->info.start_ns, b->info.start_ns);
    ck_assert_mem_eq(&a->intervals, &b->intervals, sizeof(a->intervals));
    ck_assert_mem_eq(&a->stats, &b->stats, sizeof(a->stats));
    ck_assert_uint_eq(a->engine, b->engine);
    ck_assert_uint_eq(a->rows, b->rows);
    ck_assert_uint_eq(a->sum, b->sum);
}

START_TEST(chunks_read_side_by_side_are_what_they_are_in_a_row)
{
    told in_a_row[CHUNKS];
    jfr_loss lost;
    put_chunks();
    open_sums(1);
    for (int i = 0; i < CHUNKS; i++)
        in_a_row[i] = listen();
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 0);
    ck_assert_uint_eq(shared, 0);
    ck_assert_uint_ne(in_a_row[1].intervals.cpu_ns, in_a_row[2].intervals.cpu_ns);
    ck_assert_uint_gt(in_a_row[0].rows, 1);
    for (uint32_t way = 0; way < 6; way++) {
        open_sums(2 + way / 2);
        for (int i = 0; i < CHUNKS; i++) {
            told apart = listen();
            must_be_same(&apart, &in_a_row[i]);
            if (way % 2 == 1) {
                ck_assert_int_eq(jfr_sums_read_ahead(sums, &err), 0);
                told again = {.sum = 0}; /* the current chunk is unchanged */
                take_rows(&again);
                ck_assert_uint_eq(again.sum, apart.sum);
            }
        }
        ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 0);
        jfr_file_loss(file, &lost);
        ck_assert_uint_eq(lost.chunks_whole, CHUNKS);
    }
    ck_assert_uint_gt(shared, 0);
}
END_TEST

/* Writes one chunk of some megabytes, which threads read in parts. */
static void put_large_chunk(void)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_setting(&w, T_RECORDING, "event", "ctimer");
    put_setting(&w, T_EXECUTION, "interval", "5000000");
    for (unsigned i = 0; w.len < (3u << 20); i++) {
        put_execution(&w, 600 + i, 70 + i % 3, i % 2 ? 7 : 9, 1);
        put_in_tlab(&w, 2, 16 + i % 300, 100 + i % 7);
    }
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

START_TEST(parts_of_a_chunk_come_to_the_same_sums)
{
    uint64_t samples[2] = {0}, values[2] = {0};
    put_large_chunk();
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        jfr_sums_row rows[ROOM];
        open_sums(threads);
        ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 1);
        const jfr_sums_info *info = jfr_sums_get_info(sums);
        ck_assert_uint_eq(info->thread_count, threads);
        uint32_t stacks = jfr_chunk_get_info(chunk)->stack_count;
        for (uint32_t i = 0; i <= stacks; i++) {
            uint32_t wanted = info->begins[i + 1] - info->begins[i];
            ck_assert_uint_le(wanted, ROOM);
            ck_assert_uint_eq(jfr_sums_read(sums, info->begins[i], rows, wanted), wanted);
            for (uint32_t k = 0; k < wanted; k++) {
                ck_assert_uint_eq(rows[k].stack, i < stacks ? i : JFR_NONE);
                samples[threads > 1] += rows[k].samples;
                values[threads > 1] += rows[k].value[0];
            }
        }
        ck_assert_uint_eq(info->begins[stacks + 1], info->row_count);
    }
    ck_assert_uint_gt(shared, 0);
    ck_assert_uint_gt(samples[0], 100000);
    ck_assert_uint_eq(samples[0], samples[1]);
    ck_assert_uint_eq(values[0], values[1]);
}
END_TEST

START_TEST(seconds_hold_what_their_samples_are_worth)
{
    enum { SECONDS = 3 };
    static uint64_t wanted[JFR_PROFILE_TYPE_COUNT][SECONDS + 2];
    static uint64_t found[JFR_PROFILE_TYPE_COUNT][SECONDS + 2];
    jfr_sample sample;
    jfr_sums_row row;
    put_large_chunk();
    open_first_chunk();
    const jfr_chunk_info *clock = jfr_chunk_get_info(chunk);
    with.seconds = SECONDS;
    with.origin_ns = clock->start_ns + (_i - 2) * INT64_C(700000000);
    while (jfr_samples_next(chunk, &sample, &err) == 1) {
        int64_t second = (sample.time_ns - with.origin_ns) / 1000000000;
        uint32_t at = sample.time_ns < with.origin_ns ? SECONDS + 1
                      : second < SECONDS              ? (uint32_t)second
                                                      : SECONDS;
        for (int i = 0; i < sample.value_count; i++)
            wanted[sample.values[i].type][at] += sample.values[i].value;
    }
    open_sums(_i % 2 ? 1 : 3);
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 1);
    const jfr_sums_info *info = jfr_sums_get_info(sums);
    ck_assert_uint_gt(info->second_count, 0);
    for (uint32_t i = 0; i < info->second_count; i++) {
        ck_assert_uint_eq(jfr_sums_read(sums, info->row_count + i, &row, 1), 1);
        uint32_t at = row.stack == JFR_NONE ? SECONDS + 1 : row.stack;
        ck_assert_uint_lt(at, SECONDS + 2);
        for (int k = 0; k < info->lanes[row.lane].value_count; k++)
            found[info->lanes[row.lane].types[k]][at] += row.value[k];
    }
    ck_assert_uint_eq(jfr_sums_read(sums, info->row_count + info->second_count, &row, 1), 0);
    ck_assert_mem_eq(found, wanted, sizeof(found));
}
END_TEST

/* The second of five chunks ends with an event of no size. */
START_TEST(a_loss_is_told_once_whoever_read_the_chunk)
{
    jfr_loss lost[2];
    put_chunks();
    open_written();
    next_chunk();
    next_chunk();
    memset(w.data + jfr_chunk_get_info(chunk)->offset + 68, 0x80, 3);
    w.data[jfr_chunk_get_info(chunk)->offset + 71] = 0;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        uint32_t chunks = 0;
        open_sums(threads);
        while (jfr_sums_next(sums, &chunk, &err) == 1) {
            jfr_sample sample;
            while (jfr_sums_get_info(sums) == NULL && jfr_samples_next(chunk, &sample, &err) == 1)
                continue;
            chunks++;
        }
        jfr_file_loss(file, &lost[threads - 1]);
        lost[threads - 1].records = NULL;
        ck_assert_uint_ge(chunks, CHUNKS - 1);
    }
    ck_assert_uint_eq(lost[0].record_count, 1);
    ck_assert_uint_eq(lost[0].chunks_whole, CHUNKS - 1);
    ck_assert_mem_eq(&lost[0], &lost[1], sizeof(lost[0]));
}
END_TEST

/* 0: too many rows; 1: unfinished. Both can be read by samples. */
START_TEST(a_chunk_without_sums_can_be_read_by_samples)
{
    jfr_sums_row row;
    options.flags = JFR_WALK_UNFINISHED;
    with.max_rows = _i == 0 ? 2 : 0;
    params.open = _i == 1;
    put_chunks();
    open_sums(1);
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 1);
    ck_assert_ptr_null(jfr_sums_get_info(sums));
    ck_assert_uint_eq(jfr_sums_read(sums, 0, &row, 1), 0);
    ck_assert_uint_gt(next_sample().value_count, 0);
}
END_TEST

/* max_chunks ends a recording at the same chunk as with one reader. */
START_TEST(the_limit_of_chunks_holds)
{
    put_chunks();
    options.max_chunks = CHUNKS - 2;
    open_sums(4);
    for (int i = 0; i < CHUNKS - 2; i++)
        ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 1);
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), JFR_ERR_LIMIT);
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 0);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    write_simple_chunk();
    open_written();
    with.flags = 1u << 31;
    ck_assert_int_eq(jfr_sums_open(&sums, file, &with, &err), JFR_ERR_USAGE);
    with.flags = 0;
    with.threads = JFR_SUMS_MAX_THREADS + 1;
    ck_assert_int_eq(jfr_sums_open(&sums, file, &with, &err), JFR_ERR_USAGE);
    with.threads = 0;
    with.seconds = 86401;
    ck_assert_int_eq(jfr_sums_open(&sums, file, &with, &err), JFR_ERR_USAGE);
    ck_assert_ptr_null(sums);
    jfr_sums_close(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sums");
    TCase *t = tcase_create("sums");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, chunks_read_side_by_side_are_what_they_are_in_a_row);
    tcase_add_test(t, parts_of_a_chunk_come_to_the_same_sums);
    tcase_add_loop_test(t, seconds_hold_what_their_samples_are_worth, 0, 4);
    tcase_add_test(t, a_loss_is_told_once_whoever_read_the_chunk);
    tcase_add_loop_test(t, a_chunk_without_sums_can_be_read_by_samples, 0, 2);
    tcase_add_test(t, the_limit_of_chunks_holds);
    tcase_add_test(t, wrong_options_are_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
