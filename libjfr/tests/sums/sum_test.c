/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/sum_add_impl.h"

#include "../../fuzz/twin.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

static const jfr_sums_options plain_options = {.size = sizeof(plain_options),
                                               .allocator = &jfr__malloc};

static jfr__tally *new_tally(const jfr_sums_options *with)
{
    jfr__tally *tally;
    ck_assert_int_eq(jfr__tally_new(&tally, with, &err), 0);
    return tally;
}

/* Rewrites the event at `at`, the last one, with a size of one byte, as async-profiler does. */
static void shorten(size_t at)
{
    size_t size = w.len - at - 3;
    if (w.plain || size >= 0x80)
        return;
    memmove(w.data + at + 1, w.data + at + 4, size - 1);
    w.data[at] = (uint8_t)size;
    w.len -= 3;
}

/* Writes many events of all kinds, so that parts begin among them; sizes and ids of all lengths. */
static void put_many(unsigned count, bool async)
{
    params.async = async;
    begin_chunk(&w, &params);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "0");
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_setting(&w, T_EXECUTION, "wall", "50000000");
    put_setting(&w, T_MONITOR_ENTER, "lock", "10000");
    for (unsigned i = 0; i < count; i++) {
        unsigned bits = i % 29;
        put_execution(&w, 600 + i, 70 + i % 3, i % 2 ? 7 : 9, i % 4);
        put_monitor_enter(&w, 600, (uint64_t)1 << bits, 4);
        put_park(&w, 1000, 4 + i % 2);
        put_in_tlab(&w, 2, 16 + i % 300, (uint64_t)1 << bits);
        size_t at = w.len;
        put_in_tlab(&w, 2, i % 7 * 20, (uint64_t)3 << bits);
        shorten(at);
        at = w.len; /* fields that are close together and far apart */
        put_in_tlab(&w, (uint64_t)2 << i % 8 * 7, (uint64_t)i << i % 3 * 9, 1000 + i);
        shorten(at);
        put_outside(&w, 3, i % 5 == 0 ? (uint64_t)1 << 60 : 300);
        at = w.len;
        put_outside(&w, 3, (uint64_t)i << bits);
        shorten(at);
        put_alloc_sample(&w, 2, 700);
    }
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

START_TEST(sums_equal_the_samples)
{
    params.plain = (_i & 1) != 0;
    put_many(300, (_i & 2) != 0);
    put_many(3, (_i & 2) != 0);
    params.base = 200; /* type ids of two bytes */
    put_many(50, (_i & 2) != 0);
    uint32_t flags = (_i & 4) != 0 ? JFR_KEEP_IDLE_WAITS | JFR_KEEP_NATIVE_SAMPLES : 0;
    ck_assert_uint_gt(twin_recording(w.data, w.len, flags, TWIN_ALL), 353);
}
END_TEST

/* Sizes with weights, which are floating-point numbers, take the slow path. */
START_TEST(weighted_samples_are_summed_alike)
{
    w.others = true;
    params.plain = (_i & 1) != 0;
    begin_chunk(&w, &params);
    put_setting(&w, T_DATADOG_CPU, "interval", "10000000");
    for (unsigned i = 0; i < 100; i++) {
        put_datadog_time(&w, i % 3 ? T_DATADOG_CPU : T_DATADOG_WALL, i);
        put_datadog_object(&w, T_DATADOG_ALLOC, 16 + i, (float)i / 4);
        put_datadog_object(&w, T_DATADOG_LIVE, 16 + i, 1e18F * (float)i);
        put_method_trace(&w, (uint64_t)1 << i % 60);
    }
    put_standard_pools(&w);
    end_chunk(&w, &params);
    ck_assert_uint_gt(twin_recording(w.data, w.len, 0, TWIN_ALL), 200);
}
END_TEST

START_TEST(damaged_events_are_counted_alike)
{
    put_many(12, (_i & 1) != 0);
    for (size_t i = 68 + (size_t)_i; i < w.len; i += 11) {
        uint8_t old = w.data[i];
        w.data[i] ^= (uint8_t)(_i & 2 ? 0x80 : 1 << i % 7);
        (void)twin_recording(w.data, w.len, 0, TWIN_ALL);
        w.data[i] = old;
    }
}
END_TEST

START_TEST(a_cut_recording_is_read_alike)
{
    put_many(4, true);
    for (size_t len = 68; len < w.len; len++) {
        uint8_t *copy = malloc(len);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, w.data, len);
        (void)twin_recording(copy, len, JFR_WALK_UNFINISHED, TWIN_ALL);
        free(copy);
    }
}
END_TEST

/* A wrong condition would send every event to the slow path, and no sum would show it. */
START_TEST(few_events_are_read_slowly)
{
    params.async = true;
    begin_chunk(&w, &params);
    for (unsigned i = 0; i < 2000; i++) {
        size_t at = w.len;
        put_in_tlab(&w, 2 + i % 2, 16 + i % 90, 100);
        if (_i & 2)
            shorten(at);
        put_execution(&w, 600, 70 + i % 2, 7, i % 3);
    }
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_sums_options with = plain_options;
    with.seconds = _i & 4 ? 10 : 0;
    jfr__tally *sums = new_tally(&with);
    if (_i & 1)
        sums->loop = jfr__sums_loop_plain;
    ck_assert_int_eq(jfr__tally_fill(sums, chunk, &err), 0);
    ck_assert_uint_gt(sums->stats.events, 4000);
    ck_assert_uint_le(sums->stats.slow_events, 4);
    ck_assert_uint_gt(sums->row_count, 0);
    jfr__tally_free(sums);
}
END_TEST

/* Many successive events are summed before their row is looked up. */
START_TEST(sums_that_are_too_large_stay_at_the_most)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_setting(&w, T_MALLOC, "nativemem", _i == 0 ? "9000000000000000000" : "4096");
    const unsigned count = _i == 0 ? 5 : 700;
    for (unsigned i = 0; i < count; i++) {
        size_t at = begin_event(&w, T_MALLOC);
        put_long(&w, 600);
        put_long(&w, 0);
        put_long(&w, 70);
        put_long(&w, _i == 1 && i % 3 > 0 ? (UINT64_C(1) << 56) - 1 : 1);
        end_event(&w, at);
        shorten(at);
    }
    put_standard_pools(&w);
    end_chunk(&w, &params);
    ck_assert_uint_ge(twin_recording(w.data, w.len, 0, TWIN_ALL), count);
}
END_TEST

/* An event without bytes and type must not match any known event. */
START_TEST(zeros_are_no_events)
{
    params.async = true;
    params.base = (_i & 1) != 0 ? 200 : 20;
    begin_chunk(&w, &params);
    for (unsigned i = 0; i < 40; i++) {
        size_t at = w.len;
        put_in_tlab(&w, 2, 16, 100 + i);
        shorten(at);
    }
    for (unsigned i = 0; i < 80; i++)
        put_be(&w, 0, 8);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    ck_assert_uint_ge(twin_recording(w.data, w.len, 0, TWIN_ALL), 40);
}
END_TEST

static void read_in_turn(jfr__tally **sums, uint32_t count, uint32_t parts)
{
    for (uint32_t i = 0; i < count; i++) {
        parts_turn t = {i, count};
        sums[i] = new_tally(&plain_options);
        jfr__tally_parts(sums[i], chunk, parts, take_turn, &t);
    }
}

/* Looks up rows with threads, and without threads, where there are more rows than guesses. */
START_TEST(each_row_is_found_again)
{
    enum { LANES = 8, STACKS = 300, ROUNDS = 3 };
    jfr_sums_options with = plain_options;
    put_many(1, true);
    open_first_chunk();
    with.flags = _i == 0 ? JFR_SUMS_NO_THREADS : 0;
    jfr__tally *sums = new_tally(&with);
    jfr__sums_prepare(sums, chunk);
    ck_assert_int_eq(sums->guesses != NULL, _i == 0);
    for (uint64_t i = 0; i < (uint64_t)LANES * STACKS * ROUNDS; i++) {
        const uint64_t key = i % LANES << 32 | i / LANES % STACKS;
        jfr__row *row = jfr__sums_row(sums, key);
        ck_assert_ptr_nonnull(row);
        ck_assert_uint_eq(row->key, key);
        ck_assert_uint_eq(row->count++, i / (LANES * STACKS));
    }
    ck_assert_uint_eq(sums->row_count, LANES * STACKS);
    jfr__tally_free(sums);
}
END_TEST

/* Counts samples, each as often as it has values. */
static uint64_t count_samples(const jfr__tally *sums)
{
    uint64_t samples = 0;
    for (uint32_t i = 1; i <= sums->row_count; i++) {
        jfr_sums_lane lane;
        jfr__tally_lane(sums, (uint32_t)(sums->rows[i].key >> 32), &lane);
        samples += sums->rows[i].count * lane.value_count;
    }
    return samples;
}

/* Parts must begin at an event from every starting point; otherwise chunks would be read twice. */
START_TEST(parts_begin_where_an_event_does)
{
    put_many(200, _i == 0);
    open_first_chunk();
    uint64_t first = chunk->info.offset + JFR__HEADER_SIZE;
    jfr__cursor c = jfr__chunk_cursor(chunk, first, chunk->end);
    jfr__event_head head;
    bool *is_event = calloc(chunk->end + 1, sizeof(*is_event));
    ck_assert_ptr_nonnull(is_event);
    while (jfr__cursor_left(&c) > 0 && jfr__event_next(&c, &head)) {
        is_event[head.offset] = true;
        c.pos = c.base + head.end;
    }
    is_event[chunk->end] = true;
    for (uint64_t offset = first; offset < chunk->end; offset++) {
        uint64_t at;
        if (jfr__sums_guess(chunk, offset, &at))
            ck_assert(at >= offset && is_event[at]);
    }
    free(is_event);
}
END_TEST

START_TEST(a_chunk_whose_parts_begin_wrong_is_read_again)
{
    jfr__tally *sums[2];
    put_many(200, true);
    open_first_chunk();
    read_in_turn(sums, 2, 4);
    sums[1]->pieces[0].from++; /* like a wrong guess */
    ck_assert_int_eq(jfr__tally_join(sums, 2, chunk, &err), 0);
    ck_assert_uint_eq(sums[0]->stats.reread, 1);
    uint64_t samples = count_samples(sums[0]) + count_samples(sums[1]);
    jfr_sample s;
    jfr_samples_rewind(chunk);
    while (jfr_samples_next(chunk, &s, &err) == 1)
        samples -= s.value_count;
    ck_assert_uint_eq(samples, 0);
    jfr__tally_free(sums[0]);
    jfr__tally_free(sums[1]);
}
END_TEST

/* Bytes in use now, and the most at any time. */
typedef struct meter {
    size_t now, most;
} meter;

static void *meter_realloc(void *ctx, void *block, size_t old_size, size_t size)
{
    meter *m = ctx;
    size_t *grown = realloc(block != NULL ? (size_t *)block - 2 : NULL, size + 16);
    ck_assert_ptr_nonnull(grown);
    *grown = size;
    m->now += size - old_size;
    m->most = m->now > m->most ? m->now : m->most;
    return grown + 2;
}

static void *meter_alloc(void *ctx, size_t size)
{
    return meter_realloc(ctx, NULL, 0, size);
}

static void meter_free(void *ctx, void *block)
{
    size_t *head = (size_t *)block - 2;
    ((meter *)ctx)->now -= *head;
    free(head);
}

START_TEST(tables_of_rows_are_given_back_when_all_are_found)
{
    meter m = {0};
    const jfr_allocator metered = {meter_alloc, meter_realloc, meter_free, &m};
    jfr_sums_options with = plain_options;
    with.allocator = &metered;
    put_many(1, true);
    open_first_chunk();
    jfr__tally *sums = new_tally(&with);
    ck_assert_int_eq(jfr__tally_fill(sums, chunk, &err), 0);
    uint64_t samples = count_samples(sums);
    m.most = m.now;
    ck_assert_int_eq(jfr__tally_fill(sums, chunk, &err), 0);
    ck_assert_uint_lt(m.now, m.most);
    ck_assert_uint_eq(count_samples(sums), samples);
    jfr__tally_free(sums);
    ck_assert_uint_eq(m.now, 0);
}
END_TEST

START_TEST(references_to_what_is_not_there_are_refused)
{
    jfr_frame_ref frame;
    jfr_stack_ref stack;
    jfr_frame named;
    write_simple_chunk();
    open_first_chunk();
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 99, &frame, 1, &stack, &err), JFR_ERR_USAGE);
    frame = (jfr_frame_ref){.method = 99};
    ck_assert_int_eq(jfr_chunk_frame(chunk, &frame, &named, &err), JFR_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sum");
    TCase *t = tcase_create("sum");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_loop_test(t, sums_equal_the_samples, 0, 8);
    tcase_add_loop_test(t, weighted_samples_are_summed_alike, 0, 2);
    tcase_add_loop_test(t, damaged_events_are_counted_alike, 0, 4);
    tcase_add_test(t, a_cut_recording_is_read_alike);
    tcase_add_loop_test(t, few_events_are_read_slowly, 0, 8);
    tcase_add_loop_test(t, sums_that_are_too_large_stay_at_the_most, 0, 2);
    tcase_add_loop_test(t, zeros_are_no_events, 0, 2);
    tcase_add_loop_test(t, each_row_is_found_again, 0, 2);
    tcase_add_loop_test(t, parts_begin_where_an_event_does, 0, 2);
    tcase_add_test(t, a_chunk_whose_parts_begin_wrong_is_read_again);
    tcase_add_test(t, tables_of_rows_are_given_back_when_all_are_found);
    tcase_add_test(t, references_to_what_is_not_there_are_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
