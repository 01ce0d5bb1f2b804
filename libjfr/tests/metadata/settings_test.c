/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

#include <string.h>

static void put_jvm(void)
{
    size_t event = begin_event(&w, T_JVM);
    put_long(&w, 0);
    put_text(&w, "OpenJDK 64-Bit Server VM");
    put_text(&w, "21.0.8");
    put_text(&w, "-Xmx64m");
    put_text(&w, "Main a b");
    put_long(&w, 1700000000000);
    put_long(&w, 4711);
    end_event(&w, event);
}

static void put_async_settings(void)
{
    put_setting(&w, T_RECORDING, "version", "4.5");
    put_setting(&w, T_RECORDING, "engine", "ctimer");
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "5000000");
    put_setting(&w, T_EXECUTION, "wall", "0");
    put_setting(&w, T_IN_TLAB, "alloc", "0");
    put_setting(&w, T_MONITOR_ENTER, "lock", "10000");
    put_setting(&w, T_NATIVE_LOCK, "nativelock", "20000");
    put_setting(&w, T_MALLOC, "nativemem", "65536");
}

static jfr_intervals intervals(void)
{
    jfr_intervals out = JFR_INTERVALS_INIT;
    ck_assert_int_eq(jfr_chunk_intervals(chunk, &out, &err), 0);
    return out;
}

START_TEST(what_async_profiler_states)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_async_settings();
    put_jvm();
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_intervals in = intervals();
    ck_assert_uint_eq(in.main_event, JFR_MAIN_CPU);
    ck_assert_uint_eq(in.cpu_ns, 5000000);
    ck_assert_uint_eq(in.wall_ns, 50000000);
    ck_assert_uint_eq(in.alloc_bytes, 524287);
    ck_assert_uint_eq(in.lock_ns, 10000);
    ck_assert_uint_eq(in.native_lock_ns, 20000);
    ck_assert_uint_eq(in.nativemem_bytes, 65536);
    const jfr_recording_info *r = jfr_chunk_recording(chunk);
    ck_assert_int_eq(r->producer, JFR_PRODUCER_ASYNC_PROFILER);
    assert_str(r->profiler_version, "4.5");
    assert_str(r->engine, "ctimer");
    assert_str(r->event, "cpu");
    assert_str(r->jvm_name, "OpenJDK 64-Bit Server VM");
    assert_str(r->jvm_version, "21.0.8");
    assert_str(r->jvm_args, "-Xmx64m");
    assert_str(r->java_args, "Main a b");
    ck_assert_ptr_null(r->jvm_flags.data);
    ck_assert_int_eq(r->jvm_start_ms, 1700000000000);
    ck_assert_int_eq(r->pid, 4711);
}
END_TEST

START_TEST(all_settings_are_listed)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_async_settings();
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_setting_count(chunk), 9);
    jfr_setting s;
    ck_assert_int_eq(jfr_chunk_setting(chunk, 3, &s, &err), 0);
    assert_str(s.event, "jdk.ExecutionSample");
    assert_str(s.name, "interval");
    assert_str(s.value, "5000000");
}
END_TEST

/* async-profiler states its settings in the first chunk only. */
START_TEST(settings_carry_over)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_async_settings();
    put_jvm();
    put_standard_pools(&w);
    end_chunk(&w, &params);
    size_t second = w.len;
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 0);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_intervals in = intervals();
    next_chunk();
    ck_assert_uint_eq(next_sample().values[0].value, 5000000);
    assert_str(jfr_chunk_recording(chunk)->jvm_version, "21.0.8");
    jfr_close(file);

    /* a reader that starts at the second chunk passes the known intervals */
    options.inherit = &in;
    ck_assert_int_eq(jfr_open_mem(&file, w.data + second, w.len - second, &options, &err), 0);
    next_chunk();
    ck_assert_uint_eq(next_sample().values[0].value, 5000000);
}
END_TEST

START_TEST(new_settings_replace_old_ones)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_async_settings();
    put_standard_pools(&w);
    end_chunk(&w, &params);
    begin_chunk(&w, &params);
    put_setting(&w, T_RECORDING, "event", "wall");
    put_setting(&w, T_EXECUTION, "interval", "7000000");
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    next_chunk();
    jfr_intervals in = intervals();
    ck_assert_uint_eq(in.main_event, JFR_MAIN_WALL);
    ck_assert_uint_eq(in.wall_ns, 7000000);
    ck_assert_uint_eq(in.cpu_ns, 0);
    ck_assert_uint_eq(in.lock_ns, 0);
}
END_TEST

static const struct {
    const char *text;
    uint64_t ns;
} periods[] = {{"20 ms", 20000000},
               {"1 s", 1000000000},
               {"500 us", 500000},
               {"7 ns", 7},
               {"2 m", 120000000000},
               {"everyChunk", 0},
               {"", 0},
               {"99999999999999999999999 d", 0},
               {"5 parsecs", 0}};

START_TEST(jdk_periods)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", periods[_i].text);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(intervals().cpu_ns, periods[_i].ns);
    ck_assert_int_eq(jfr_chunk_recording(chunk)->producer, JFR_PRODUCER_JDK);
}
END_TEST

START_TEST(settings_behind_the_samples_count)
{
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    put_setting(&w, T_EXECUTION, "period", "20 ms");
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(next_sample().values[0].value, 20000000);
}
END_TEST

/*
 * Writes the head of a small event as recorders do, with a size of one byte. `body` bytes follow.
 */
static void put_small_head(enum type type, unsigned type_bytes, size_t body)
{
    put_varint(&w, 1 + type_bytes + body);
    put_padded(&w, w.base + (uint64_t)type, type_bytes);
}

/* Writes small events that the reader skips. */
static void put_many(unsigned type_bytes)
{
    for (int i = 0; i < 400; i++) {
        put_small_head(i % 100 == 99 ? T_CLASS : T_THREAD, type_bytes, 3);
        put_bytes(&w, "\x01\x02\x03", 3);
    }
}

/* Writes T_EXECUTION's period as put_setting does, but as a small event. */
static void put_small_period(unsigned type_bytes, const char *value)
{
    put_small_head(T_SETTING, type_bytes, 2 + 2 + strlen("period") + 2 + strlen(value));
    put_long(&w, 0);
    put_long(&w, w.base + (uint64_t)T_EXECUTION);
    put_text(&w, "period");
    put_text(&w, value);
}

/* Settings in both halves of a chunk, among events that are skipped: the last one counts. */
START_TEST(no_setting_is_lost_among_many_events)
{
    static const char *const values[] = {"10 ms", "20 ms", "30 ms", "40 ms"};
    unsigned type_bytes = 1 + (unsigned)_i / 5;
    int pools = _i % 5;
    begin_chunk(&w, &params);
    for (int i = 0; i < 4; i++) {
        put_many(type_bytes);
        if (i == pools)
            put_standard_pools(&w);
        put_small_period(type_bytes, values[i]);
    }
    put_many(type_bytes);
    if (pools == 4)
        put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_setting_count(chunk), 4);
    for (uint32_t i = 0; i < 4; i++) {
        jfr_setting s;
        ck_assert_int_eq(jfr_chunk_setting(chunk, i, &s, &err), 0);
        assert_str(s.value, values[i]);
    }
    ck_assert_uint_eq(intervals().cpu_ns, 40000000);
    ck_assert_uint_eq(loss().bytes_lost, 0);
}
END_TEST

/* Begins an event in the second half of the chunk; a checkpoint is inside it. */
static size_t begin_holder(void)
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    for (int i = 0; i < 8; i++)
        put_many(2);
    size_t holder = begin_event(&w, T_THREAD);
    size_t inside = begin_checkpoint(&w);
    end_checkpoint(&w, inside);
    return holder;
}

/* Ends that event. The only setting of the chunk follows it, and the small event at `reaches_on`, 0
 * = none, is extended over the setting. */
static void end_holder(size_t holder, size_t reaches_on)
{
    end_event(&w, holder);
    put_setting(&w, T_EXECUTION, "period", "20 ms");
    if (reaches_on != 0)
        store_padded(w.data + reaches_on, w.len - reaches_on, 1);
    put_many(2);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_setting_count(chunk), 1);
    ck_assert_uint_eq(intervals().cpu_ns, 20000000);
}

/* A checkpoint inside an event is not a place where earlier events end. */
START_TEST(events_are_not_taken_up_inside_of_others)
{
    size_t holder = begin_holder();
    put_setting(&w, T_IN_TLAB, "alloc", "1000");
    end_holder(holder, 0);
}
END_TEST

START_TEST(nothing_inside_of_an_event_reaches_over_those_behind_it)
{
    size_t holder = begin_holder();
    put_many(2);
    size_t last = w.len;
    put_small_head(T_THREAD, 2, 0);
    end_holder(holder, last);
}
END_TEST

/*
 * Writes a chunk in which the JVM reports that it lost 5 + `samples` cpu samples and `bytes` bytes.
 */
static void write_losses(uint64_t samples, uint64_t bytes)
{
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    for (int i = 0; i < 2; i++) {
        size_t event = begin_event(&w, T_SAMPLES_LOST);
        put_long(&w, 600);
        put_int(&w, i == 0 ? 5 : samples);
        put_long(&w, 7);
        end_event(&w, event);
    }
    size_t event = begin_event(&w, T_DATA_LOSS);
    put_long(&w, 600);
    put_long(&w, bytes);
    put_long(&w, 999999);
    end_event(&w, event);
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

START_TEST(what_the_recorder_lost)
{
    w.rich = true;
    write_losses(37, 4096);
    write_losses(8, UINT64_MAX - 5000);
    write_losses(0, 10000);
    open_first_chunk();
    ck_assert_uint_eq(loss().recorder_samples, 42);
    ck_assert_uint_eq(loss().recorder_bytes, 4096);
    next_chunk();
    ck_assert_uint_eq(loss().recorder_samples, 55);
    ck_assert_uint_eq(loss().recorder_bytes, UINT64_MAX - 904);
    next_chunk();
    expect_end();
    ck_assert_uint_eq(loss().recorder_samples, 60);
    ck_assert_uint_eq(loss().recorder_bytes, UINT64_MAX); /* saturated */
    ck_assert_uint_eq(loss().chunks_whole, 3);
    ck_assert_uint_eq(loss().bytes_lost, 0);
}
END_TEST

START_TEST(intervals_of_other_sizes)
{
    write_simple_chunk();
    open_first_chunk();
    struct {
        jfr_intervals known;
        uint64_t more;
    } larger = {.known = {.size = sizeof(larger)}, .more = 9};
    ck_assert_int_eq(jfr_chunk_intervals(chunk, &larger.known, &err), 0);
    ck_assert_uint_eq(larger.known.cpu_ns, 10000000);
    ck_assert_uint_eq(larger.more, 0);
    jfr_intervals none = {.size = 0};
    ck_assert_int_eq(jfr_chunk_intervals(chunk, &none, &err), JFR_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("settings");
    TCase *t = tcase_create("settings");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, what_async_profiler_states);
    tcase_add_test(t, all_settings_are_listed);
    tcase_add_test(t, settings_carry_over);
    tcase_add_test(t, new_settings_replace_old_ones);
    tcase_add_loop_test(t, jdk_periods, 0, sizeof(periods) / sizeof(periods[0]));
    tcase_add_test(t, settings_behind_the_samples_count);
    tcase_add_loop_test(t, no_setting_is_lost_among_many_events, 0, 10);
    tcase_add_test(t, events_are_not_taken_up_inside_of_others);
    tcase_add_test(t, nothing_inside_of_an_event_reaches_over_those_behind_it);
    tcase_add_test(t, what_the_recorder_lost);
    tcase_add_test(t, intervals_of_other_sizes);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
