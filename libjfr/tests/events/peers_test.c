/* SPDX-License-Identifier: Apache-2.0 */
/* One test for each mistake of other readers of JFR, named after the mistake, which the comment
 * describes. "Totals" are the sums that a consumer makes. */
#include "support/fixture.h"

#include <string.h>

struct total {
    uint64_t samples, raw, value;
};

static struct total totals[JFR_PROFILE_TYPE_COUNT];

/* Reads the whole recording; it must have no loss. */
static void add_up(void)
{
    memset(totals, 0, sizeof(totals));
    open_written();
    while (jfr_next_chunk(file, &chunk, &err) == 1) {
        jfr_sample s;
        while (jfr_samples_next(chunk, &s, &err) == 1) {
            for (int i = 0; i < s.value_count; i++) {
                struct total *t = &totals[s.values[i].type];
                t->samples++;
                t->raw += s.values[i].raw;
                t->value += s.values[i].value;
            }
        }
    }
    ck_assert_uint_eq(loss().record_count, 0);
}

static void expect_total(jfr_profile_type type, uint64_t samples, uint64_t raw)
{
    ck_assert_uint_eq(totals[type].samples, samples);
    ck_assert_uint_eq(totals[type].raw, raw);
}

static void begin(bool async)
{
    params.async = async;
    begin_chunk(&w, &params);
}

static void end(void)
{
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

/* The count of a wall sample stays in a parser's field and multiplies the samples after it. */
START_TEST(counts_leak_after_a_wall_sample)
{
    begin(true);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "10000000");
    put_setting(&w, T_EXECUTION, "wall", "20000000");
    put_wall(&w, 17);
    for (int i = 0; i < 3; i++)
        put_execution(&w, 600, 70, 7, 0);
    put_monitor_enter(&w, 600, 100, 4);
    end();
    add_up();
    expect_total(JFR_WALL, 1, 340000000);
    expect_total(JFR_CPU, 3, 30000000);
    expect_total(JFR_LOCK_COUNT, 1, 1);
}
END_TEST

/* Only STATE_DEFAULT counts as cpu. The JDK never writes that state, so nothing is left; exit code
 * 0. */
START_TEST(no_cpu_samples_in_recordings_of_the_jdk)
{
    begin(false);
    put_setting(&w, T_EXECUTION, "period", "20 ms");
    for (unsigned state = 0; state < 4; state++)
        put_execution(&w, 600, 70, 7, state);
    end();
    add_up();
    expect_total(JFR_CPU, 4, 80000000);
}
END_TEST

/* Without a selected type the result is a sum of nanoseconds, bytes and counts. */
START_TEST(types_are_mixed)
{
    begin(true);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "10000000");
    put_setting(&w, T_EXECUTION, "wall", "20000000");
    put_execution(&w, 600, 70, 7, 0);
    put_wall(&w, 2);
    put_in_tlab(&w, 2, 16, 1000);
    put_monitor_enter(&w, 600, 100, 4);
    end();
    add_up();
    expect_total(JFR_CPU, 1, 10000000);
    expect_total(JFR_WALL, 1, 40000000);
    expect_total(JFR_ALLOC_BYTES, 1, 1000);
    expect_total(JFR_ALLOC_OBJECTS, 1, 1);
    expect_total(JFR_LOCK_COUNT, 1, 1);
    expect_total(JFR_LOCK_DELAY, 1, 100);
    expect_total(JFR_LIVE_BYTES, 0, 0);
    expect_total(JFR_NATIVEMEM_BYTES, 0, 0);
}
END_TEST

/* Events with additional fields after the known ones are refused as "invalid event size". */
START_TEST(extra_fields_are_an_invalid_event_size)
{
    begin(false);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    for (unsigned extra = 0; extra < 40; extra++) {
        size_t event = begin_event(&w, T_EXECUTION);
        put_long(&w, 600);
        put_long(&w, 70);
        put_long(&w, 7);
        put_long(&w, 1);
        for (unsigned i = 0; i < extra; i++)
            put_u8(&w, 0xFF);
        end_event(&w, event);
    }
    end();
    add_up();
    expect_total(JFR_CPU, 40, 400000000);
}
END_TEST

/* Chunks are identified by their bytes, so one of two identical chunks is dropped. */
START_TEST(identical_chunks_are_counted_once)
{
    write_simple_chunk();
    write_simple_chunk();
    add_up();
    expect_total(JFR_CPU, 2, 20000000);
    ck_assert_uint_eq(loss().chunks_whole, 2);
}
END_TEST

/*
 * The first chunk's type ids are used for the whole file. In jfrsync files the next chunk gives the
 * same numbers to other types: here a lock's id becomes the cpu sample's.
 */
START_TEST(type_ids_are_taken_for_the_whole_file)
{
    begin(false);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    put_monitor_enter(&w, 600, 100, 4);
    end();
    params.base += T_MONITOR_ENTER - T_EXECUTION;
    begin(true);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "3000000");
    put_execution(&w, 600, 70, 7, 1);
    put_execution(&w, 600, 70, 7, 1);
    put_monitor_enter(&w, 600, 5000, 4);
    end();
    add_up();
    expect_total(JFR_CPU, 3, 10000000 + 2 * 3000000);
    expect_total(JFR_LOCK_DELAY, 2, 5100);
}
END_TEST

/* A surrogate pair of modified UTF-8, as async-profiler writes it, rejects the whole chunk. */
START_TEST(surrogate_pair_rejects_a_chunk)
{
    begin(true);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "10000000");
    put_execution(&w, 600, 90, 7, 0);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_THREAD, 1);
    put_long(&w, 90);
    put_text(&w, "idle-\xED\xA0\xBD\xED\xB8\x80");
    put_long(&w, 1);
    put_text(&w, "idle-\xED\xA0\xBD\xED\xB8\x80");
    put_long(&w, 1);
    put_long(&w, 0);
    put_u8(&w, 0);
    end_checkpoint(&w, checkpoint);
    end();
    open_first_chunk();
    jfr_thread thread;
    ck_assert_int_eq(jfr_chunk_thread(chunk, next_sample().thread, &thread, &err), 0);
    assert_str(thread.java_name, "idle-\xF0\x9F\x98\x80");
    expect_no_sample();
    expect_end();
    ck_assert_uint_eq(loss().chunks_whole, 1);
}
END_TEST

/* An allocation that two event kinds report is added twice. */
START_TEST(allocations_are_counted_twice)
{
    begin(false);
    for (int i = 0; i < 5; i++) {
        put_in_tlab(&w, 2, 16, 1000);
        put_alloc_sample(&w, 2, 900);
    }
    put_outside(&w, 3, 300);
    end();
    begin(false); /* the rule applies per chunk; this one has only one kind */
    put_alloc_sample(&w, 2, 900);
    end();
    add_up();
    expect_total(JFR_ALLOC_BYTES, 7, 5 * 1000 + 300 + 900);
    expect_total(JFR_ALLOC_OBJECTS, 6, 6);
}
END_TEST

/* Pool threads that wait for work are reported as the service's worst lock. */
START_TEST(idle_parks_are_contention)
{
    begin(false);
    put_park(&w, 100, 4);        /* on a ReentrantLock */
    put_park(&w, 900000000, 5);  /* on a FutureTask */
    put_park(&w, 3600000000, 0); /* on nothing: parkNanos */
    end();
    add_up();
    expect_total(JFR_LOCK_COUNT, 1, 1);
    expect_total(JFR_LOCK_DELAY, 1, 100);
}
END_TEST

/* Durations are ticks; taken for nanoseconds they are wrong by the chunk's clock. */
START_TEST(lock_ticks_are_taken_for_nanoseconds)
{
    static const uint64_t frequencies[] = {1000000000, 2500000000, 24000000};
    static const uint64_t ns[] = {1000000, 400000, 41666666};
    for (int i = 0; i < 3; i++) {
        params.ticks_per_second = frequencies[i];
        begin(false);
        put_monitor_enter(&w, 600, 1000000, 4);
        put_park(&w, 1000000, 4);
        end();
    }
    open_written();
    for (int i = 0; i < 3; i++) {
        next_chunk();
        ck_assert_uint_eq(next_sample().values[1].raw, ns[i]);
        ck_assert_uint_eq(next_sample().values[1].value, ns[i]);
        expect_no_sample();
    }
}
END_TEST

/*
 * async-profiler's lock interval samples accumulated time; without scaling, short waits are lost.
 */
START_TEST(sampled_waits_are_summed_as_if_all_were_seen)
{
    begin(true);
    put_setting(&w, T_MONITOR_ENTER, "lock", "10000");
    put_monitor_enter(&w, 600, 1000, 4);
    put_monitor_enter(&w, 600, 50000, 4);
    end();
    add_up();
    expect_total(JFR_LOCK_DELAY, 2, 51000);
    ck_assert_uint_eq(totals[JFR_LOCK_DELAY].value, 60000);
    ck_assert_uint_eq(totals[JFR_LOCK_COUNT].value, 11);
}
END_TEST

/* A pool of an unknown type breaks the parser. This library skips it by the chunk's metadata. */
START_TEST(new_pool_type_breaks_the_parser)
{
    begin(false);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_TIMESPAN, 2);
    for (uint64_t i = 0; i < 2; i++) {
        put_long(&w, i);
        put_text(&w, "new");
    }
    end_checkpoint(&w, checkpoint);
    end();
    open_first_chunk();
    ck_assert_uint_ne(next_sample().stack, JFR_NONE);
    ck_assert_uint_eq(stats().unknown_pools, 1);
    expect_no_sample();
    expect_end();
    ck_assert_uint_eq(loss().chunks_whole, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peers");
    TCase *t = tcase_create("peers");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, counts_leak_after_a_wall_sample);
    tcase_add_test(t, no_cpu_samples_in_recordings_of_the_jdk);
    tcase_add_test(t, types_are_mixed);
    tcase_add_test(t, extra_fields_are_an_invalid_event_size);
    tcase_add_test(t, identical_chunks_are_counted_once);
    tcase_add_test(t, type_ids_are_taken_for_the_whole_file);
    tcase_add_test(t, surrogate_pair_rejects_a_chunk);
    tcase_add_test(t, allocations_are_counted_twice);
    tcase_add_test(t, idle_parks_are_contention);
    tcase_add_test(t, lock_ticks_are_taken_for_nanoseconds);
    tcase_add_test(t, sampled_waits_are_summed_as_if_all_were_seen);
    tcase_add_test(t, new_pool_type_breaks_the_parser);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
