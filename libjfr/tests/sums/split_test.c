/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

#include <string.h>

enum { CHUNKS = 5 };

static jfr_place places[CHUNKS + 1];
static jfr_file *readers[2];

/* Chunks of async-profiler and of the JDK; some state settings, others take them over. */
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
        put_execution(&w, 600 + i, 70, 7, 1);
        put_standard_pools(&w);
        end_chunk(&w, &params);
    }
}

static void setup(void)
{
    fixture_setup();
    readers[0] = readers[1] = NULL;
}

static void teardown(void)
{
    jfr_close(readers[0]);
    jfr_close(readers[1]);
    fixture_teardown();
}

static void open_readers(void)
{
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(jfr_split_reader(&readers[i], file, &err), 0);
}

/* What a chunk says, by whoever reads it. */
typedef struct told {
    jfr_chunk_info info;
    jfr_intervals intervals;
    jfr_recording_info recording;
    jfr_sample sample;
} told;

static told listen(jfr_chunk *of)
{
    told out = {.info = *jfr_chunk_get_info(of), .intervals = JFR_INTERVALS_INIT};
    ck_assert_int_eq(jfr_chunk_intervals(of, &out.intervals, &err), 0);
    out.recording = *jfr_chunk_recording(of);
    ck_assert_int_eq(jfr_samples_next(of, &out.sample, &err), 1);
    return out;
}

static void must_be_same(const told *a, const told *b)
{
    ck_assert_uint_eq(a->info.offset, b->info.offset);
    ck_assert_uint_eq(a->info.size, b->info.size);
    ck_assert_int_eq(a->info.start_ns, b->info.start_ns);
    ck_assert_mem_eq(&a->intervals, &b->intervals, sizeof(a->intervals));
    ck_assert_int_eq(a->recording.producer, b->recording.producer);
    ck_assert_uint_eq(a->recording.engine.len, b->recording.engine.len);
    ck_assert_int_eq(a->sample.time_ns, b->sample.time_ns);
    ck_assert_uint_eq(a->sample.values[0].value, b->sample.values[0].value);
}

START_TEST(chunks_out_of_order_are_what_they_are_in_a_row)
{
    told in_a_row[CHUNKS];
    put_chunks();
    open_written();
    for (int i = 0; i < CHUNKS; i++) {
        next_chunk();
        in_a_row[i] = listen(chunk);
    }
    ck_assert_uint_ne(in_a_row[1].intervals.cpu_ns, in_a_row[2].intervals.cpu_ns);
    jfr_file *first = file;
    open_written();
    open_readers();
    ck_assert_uint_eq(jfr_split_places(file, places, CHUNKS), CHUNKS);
    for (int i = 0; i < CHUNKS; i += 2) { /* each pair is opened in the wrong order */
        jfr_chunk *chunks[2];
        int pair = i + 1 < CHUNKS ? 2 : 1;
        for (int k = pair - 1; k >= 0; k--) {
            ck_assert_int_eq(jfr_split_go(readers[k], &places[i + k], &err), 0);
            ck_assert_int_eq(jfr_next_chunk(readers[k], &chunks[k], &err), 1);
        }
        for (int k = 0; k < pair; k++) {
            ck_assert_int_eq(jfr_split_settle(file, chunks[k], &err), 0);
            told apart = listen(chunks[k]);
            must_be_same(&apart, &in_a_row[i + k]);
            ck_assert_int_eq(jfr_next_chunk(readers[k], &chunks[k], &err), 0);
        }
    }
    jfr_close(first);
}
END_TEST

START_TEST(places_are_listed_up_to_the_room)
{
    put_chunks();
    open_written();
    memset(places, 0xFF, sizeof(places));
    ck_assert_uint_eq(jfr_split_places(file, places, 2), CHUNKS);
    ck_assert_uint_eq(places[0].offset, 0);
    ck_assert_uint_eq(places[1].offset, places[0].size);
    ck_assert_uint_eq(places[2].offset, UINT64_MAX);
    ck_assert_uint_eq(jfr_split_places(file, NULL, 0), CHUNKS);
}
END_TEST

/* 0: bytes behind the last chunk; 1: the last is cut; 2: a broken magic; 3: one is open; 4: too
 * many */
START_TEST(what_can_only_be_read_in_a_row_has_no_places)
{
    put_chunks();
    size_t whole = w.len;
    if (_i == 0)
        put_u8(&w, 0);
    else if (_i == 1)
        w.len--;
    else if (_i == 2)
        w.data[whole / CHUNKS - whole / CHUNKS % 4] ^= 0xFF;
    if (_i == 3) {
        params.open = true;
        begin_chunk(&w, &params);
        end_chunk(&w, &params);
    }
    if (_i == 4)
        options.max_chunks = CHUNKS - 1;
    open_written();
    if (_i == 2) { /* wherever that byte was, each chunk must still be named rightly */
        size_t count = jfr_split_places(file, places, CHUNKS);
        ck_assert(count == 0 || count == CHUNKS);
        return;
    }
    ck_assert_uint_eq(jfr_split_places(file, places, CHUNKS), 0);
}
END_TEST

START_TEST(losses_are_those_of_the_readers_chunk)
{
    put_chunks();
    open_written();
    open_readers();
    ck_assert_uint_eq(jfr_split_places(file, places, CHUNKS), CHUNKS);
    /* the second event of chunk 3 gets a size of 0 */
    size_t event = (size_t)places[3].offset + 68;
    w.data[event + 0] = 0x80;
    w.data[event + 1] = 0x80;
    w.data[event + 2] = 0x80;
    w.data[event + 3] = 0;
    jfr_loss lost;
    for (int i = 3; i >= 2; i--) {
        jfr_sample sample;
        ck_assert_int_eq(jfr_split_go(readers[0], &places[i], &err), 0);
        int rc = jfr_next_chunk(readers[0], &chunk, &err);
        while (rc == 1 && jfr_samples_next(chunk, &sample, &err) == 1)
            continue;
        ck_assert_int_eq(rc == 1 ? jfr_next_chunk(readers[0], &chunk, &err) : rc, 0);
        jfr_file_loss(readers[0], &lost);
        ck_assert_uint_eq(lost.chunks_whole, i == 2);
        ck_assert_uint_eq(lost.chunks_partial + lost.chunks_lost, i == 3);
        ck_assert_uint_eq(lost.record_count, i == 3);
        if (i == 3)
            ck_assert_uint_eq(lost.records[0].chunk, places[3].offset);
    }
}
END_TEST

START_TEST(mistakes_are_refused)
{
    put_chunks();
    open_written();
    open_readers();
    ck_assert_uint_eq(jfr_split_places(file, places, CHUNKS), CHUNKS);
    ck_assert_int_eq(jfr_split_go(file, &places[0], &err), JFR_ERR_USAGE);
    jfr_place outside = {places[CHUNKS - 1].offset, places[CHUNKS - 1].size + 1};
    ck_assert_int_eq(jfr_split_go(readers[0], &outside, &err), JFR_ERR_USAGE);
    outside = (jfr_place){UINT64_MAX, 2};
    ck_assert_int_eq(jfr_split_go(readers[0], &outside, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_next_chunk(readers[0], &chunk, &err), 0); /* it has gone nowhere */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *t = tcase_create("split");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, chunks_out_of_order_are_what_they_are_in_a_row);
    tcase_add_test(t, places_are_listed_up_to_the_room);
    tcase_add_loop_test(t, what_can_only_be_read_in_a_row_has_no_places, 0, 5);
    tcase_add_test(t, losses_are_those_of_the_readers_chunk);
    tcase_add_test(t, mistakes_are_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
