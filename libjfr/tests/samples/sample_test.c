/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

#include <math.h>
#include <string.h>

static void begin_recording(bool async)
{
    params.async = async;
    begin_chunk(&w, &params);
}

static void end_recording(void)
{
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
}

static void assert_value(const jfr_sample *s, int i, jfr_profile_type type, uint64_t raw,
                         uint64_t value)
{
    ck_assert_int_gt(s->value_count, i);
    ck_assert_int_eq(s->values[i].type, type);
    ck_assert_uint_eq(s->values[i].raw, raw);
    ck_assert_uint_eq(s->values[i].value, value);
}

START_TEST(cpu_by_the_recordings_own_interval)
{
    begin_recording(true);
    put_setting(&w, T_RECORDING, "event", "ctimer");
    put_setting(&w, T_EXECUTION, "interval", "5000000");
    put_execution(&w, 1500, 71, 7, 1);
    end_recording();
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.source, JFR_SOURCE_EXECUTION);
    ck_assert_int_eq(s.value_count, 1);
    assert_value(&s, 0, JFR_CPU, 5000000, 5000000);
    ck_assert_int_eq(s.time_ns, 1000001000);
    ck_assert_int_eq(s.state, JFR_STATE_RUNNABLE);
    ck_assert_uint_eq(s.stack, 0);
    ck_assert_uint_eq(s.thread, 1);
    ck_assert_uint_eq(s.klass, JFR_NONE);
    expect_no_sample();
}
END_TEST

/* This holds for every meaning of the recording's state 0. */
START_TEST(an_event_without_a_state_has_none)
{
    begin_chunk(&w, &params);
    put_in_tlab(&w, 2, 16, 1000);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STATE, 1);
    put_long(&w, 0);
    put_text(&w, "STATE_SLEEPING");
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.source, JFR_SOURCE_ALLOC_IN_TLAB);
    ck_assert_int_eq(s.state, JFR_STATE_UNKNOWN);
}
END_TEST

/* async-profiler writes interval 0 for "my default". */
static const struct {
    const char *event;
    const char *interval;
    const char *wall; /* NULL = off */
    unsigned state;
    jfr_profile_type type;
    uint64_t value;
} main_events[] = {
    {"cpu", "0", NULL, 0, JFR_CPU, 10000000},
    {"itimer", "1000000", NULL, 1, JFR_CPU, 1000000},
    {"wall", "0", NULL, 2, JFR_WALL, 50000000},
    {"wall", "20000000", NULL, 1, JFR_WALL, 20000000},
    /* both on, wall samples written one by one (nobatch): the state distinguishes them */
    {"cpu", "0", "30000000", 0, JFR_CPU, 10000000},
    {"cpu", "0", "30000000", 1, JFR_WALL, 30000000},
    {"cpu", "0", "0", 2, JFR_WALL, 50000000},
};

START_TEST(async_main_event)
{
    begin_recording(true);
    put_setting(&w, T_RECORDING, "event", main_events[_i].event);
    put_setting(&w, T_EXECUTION, "interval", main_events[_i].interval);
    if (main_events[_i].wall != NULL)
        put_setting(&w, T_EXECUTION, "wall", main_events[_i].wall);
    put_execution(&w, 600, 70, 7, main_events[_i].state);
    end_recording();
    jfr_sample s = next_sample();
    assert_value(&s, 0, main_events[_i].type, main_events[_i].value, main_events[_i].value);
}
END_TEST

START_TEST(unknown_interval_is_never_assumed)
{
    begin_recording(false);
    put_execution(&w, 600, 70, 7, 1);
    end_recording();
    expect_no_sample();
    ck_assert_uint_eq(stats().unmeasured_events[JFR_SOURCE_EXECUTION], 1);
}
END_TEST

START_TEST(wall_counts_do_not_leak)
{
    begin_recording(true);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "10000000");
    put_setting(&w, T_EXECUTION, "wall", "20000000");
    put_wall(&w, 17);
    put_execution(&w, 600, 70, 7, 0);
    put_wall(&w, 1);
    end_recording();
    jfr_sample s = next_sample();
    assert_value(&s, 0, JFR_WALL, 340000000, 340000000);
    ck_assert_int_eq(s.state, JFR_STATE_SLEEPING);
    s = next_sample();
    assert_value(&s, 0, JFR_CPU, 10000000, 10000000);
    s = next_sample();
    assert_value(&s, 0, JFR_WALL, 20000000, 20000000);
}
END_TEST

static void put_cpu_time(uint64_t stack, unsigned failed)
{
    size_t event = begin_event(&w, T_CPU_TIME);
    put_long(&w, 600);
    put_long(&w, stack);
    put_long(&w, 70);
    put_u8(&w, failed);
    put_long(&w, 11000000);
    end_event(&w, event);
}

START_TEST(cpu_time_samples_win)
{
    begin_recording(false);
    put_setting(&w, T_EXECUTION, "period", "20 ms");
    put_execution(&w, 600, 70, 7, 1);
    put_cpu_time(7, 0);
    put_cpu_time(0, 1);
    end_recording();
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.source, JFR_SOURCE_CPU_TIME);
    assert_value(&s, 0, JFR_CPU, 11000000, 11000000);
    s = next_sample();
    ck_assert_uint_eq(s.stack, JFR_NONE);
    expect_no_sample();
    ck_assert_uint_eq(stats().rival_events[JFR_SOURCE_EXECUTION], 1);
    ck_assert_uint_eq(stats().failed_samples, 1);
    ck_assert_uint_eq(stats().stackless_samples, 1);
    ck_assert_uint_eq(stats().samples, 2);
}
END_TEST

START_TEST(native_samples_only_when_asked)
{
    options.flags = _i ? JFR_KEEP_NATIVE_SAMPLES : 0;
    begin_recording(false);
    put_setting(&w, T_NATIVE_METHOD, "period", "20 ms");
    size_t event = begin_event(&w, T_NATIVE_METHOD);
    for (int i = 0; i < 4; i++)
        put_long(&w, 0);
    end_event(&w, event);
    end_recording();
    if (_i) {
        jfr_sample s = next_sample();
        assert_value(&s, 0, JFR_CPU, 20000000, 20000000);
    }
    expect_no_sample();
    ck_assert_uint_eq(stats().native_samples, !_i);
}
END_TEST

/* Which allocation events are on, and the bytes of the samples that are not left out, in order. */
static const struct {
    bool in_tlab, outside, sample;
    uint64_t bytes[2];
    uint64_t rivals;
} allocations[] = {
    {true, true, false, {1000, 300}, 0}, {false, false, true, {700}, 0},
    {true, true, true, {1000, 300}, 1},  {false, true, true, {700}, 1},
    {false, true, false, {300}, 0},
};

START_TEST(allocations_count_once)
{
    begin_recording(false);
    if (allocations[_i].sample)
        put_alloc_sample(&w, 2, 700);
    if (allocations[_i].in_tlab)
        put_in_tlab(&w, 2, 16, 1000);
    if (allocations[_i].outside)
        put_outside(&w, 3, 300);
    end_recording();
    for (int i = 0; i < 2 && allocations[_i].bytes[i] != 0; i++) {
        jfr_sample s = next_sample();
        assert_value(&s, 0, JFR_ALLOC_BYTES, allocations[_i].bytes[i], allocations[_i].bytes[i]);
    }
    expect_no_sample();
    ck_assert_uint_eq(stats().rival_events[JFR_SOURCE_ALLOC_SAMPLE] +
                          stats().rival_events[JFR_SOURCE_ALLOC_OUTSIDE],
                      allocations[_i].rivals);
}
END_TEST

START_TEST(objects_are_weight_by_size)
{
    begin_recording(true);
    put_in_tlab(&w, 2, 16, 1000);
    put_in_tlab(&w, 2, 5000, 1000); /* larger than its weight: counts as one */
    put_in_tlab(&w, 2, 0, 1000);
    put_outside(&w, 3, 300);
    end_recording();
    static const uint64_t objects[] = {63, 1, 1, 1};
    for (int i = 0; i < 4; i++) {
        jfr_sample s = next_sample();
        assert_value(&s, 1, JFR_ALLOC_OBJECTS, 1, objects[i]);
        ck_assert_uint_eq(s.klass, i < 3 ? 1 : 2);
    }
}
END_TEST

START_TEST(sampled_allocations_have_no_object_count)
{
    begin_recording(false);
    put_alloc_sample(&w, 2, 700);
    end_recording();
    ck_assert_int_eq(next_sample().value_count, 1);
}
END_TEST

START_TEST(lock_ticks_by_each_chunks_own_clock)
{
    params.ticks_per_second = 1000000000;
    begin_chunk(&w, &params);
    put_monitor_enter(&w, 600, 1000000, 4);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    params.ticks_per_second = 2500000000;
    params.start_ns = 5000000000;
    begin_chunk(&w, &params);
    put_monitor_enter(&w, 500 + 2500, 1000000, 4);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_sample s = next_sample();
    assert_value(&s, 0, JFR_LOCK_COUNT, 1, 1);
    assert_value(&s, 1, JFR_LOCK_DELAY, 1000000, 1000000);
    next_chunk();
    s = next_sample();
    assert_value(&s, 1, JFR_LOCK_DELAY, 400000, 400000);
    ck_assert_int_eq(s.time_ns, 5000001000);
    ck_assert_int_eq(s.lock_kind, JFR_LOCK_MONITOR);
    ck_assert_uint_eq(s.klass, 3);
}
END_TEST

/* async-profiler samples accumulated wait: an event counts for the interval. */
static const struct {
    uint64_t duration, delay, count;
} unbiased[] = {
    {1000, 10000, 10}, {3000, 10000, 3}, {10000, 10000, 1}, {50000, 50000, 1}, {0, 10000, 1}};

START_TEST(lock_estimate_is_unbiased)
{
    begin_recording(true);
    put_setting(&w, T_MONITOR_ENTER, "lock", "10000");
    put_monitor_enter(&w, 600, unbiased[_i].duration, 4);
    end_recording();
    jfr_sample s = next_sample();
    assert_value(&s, 0, JFR_LOCK_COUNT, 1, unbiased[_i].count);
    assert_value(&s, 1, JFR_LOCK_DELAY, unbiased[_i].duration, unbiased[_i].delay);
}
END_TEST

START_TEST(jdk_thresholds_do_not_scale)
{
    begin_recording(false);
    put_setting(&w, T_MONITOR_ENTER, "threshold", "20 ms");
    put_monitor_enter(&w, 600, 1000, 4);
    end_recording();
    jfr_sample s = next_sample();
    assert_value(&s, 0, JFR_LOCK_COUNT, 1, 1);
    assert_value(&s, 1, JFR_LOCK_DELAY, 1000, 1000);
}
END_TEST

static void put_monitor_wait(void)
{
    size_t event = begin_event(&w, T_MONITOR_WAIT);
    put_long(&w, 600);
    put_long(&w, 900);
    put_long(&w, 70);
    put_long(&w, 7);
    put_long(&w, 1);
    end_event(&w, event);
}

START_TEST(idle_waits_are_no_contention)
{
    options.flags = _i ? JFR_KEEP_IDLE_WAITS : 0;
    begin_recording(false);
    put_park(&w, 100, 4); /* ReentrantLock */
    put_park(&w, 200, 5); /* FutureTask */
    put_park(&w, 300, 0); /* no blocker */
    put_monitor_wait();
    end_recording();
    static const jfr_lock_kind kinds[] = {JFR_LOCK_PARK, JFR_LOCK_IDLE_PARK, JFR_LOCK_IDLE_PARK,
                                          JFR_LOCK_MONITOR_WAIT};
    for (int i = 0; i < (_i ? 4 : 1); i++)
        ck_assert_int_eq(next_sample().lock_kind, kinds[i]);
    expect_no_sample();
    ck_assert_uint_eq(stats().idle_waits, _i ? 0 : 3);
}
END_TEST

START_TEST(native_locks_live_and_malloc)
{
    begin_recording(true);
    put_setting(&w, T_NATIVE_LOCK, "nativelock", "500");
    put_setting(&w, T_MALLOC, "nativemem", "4096");
    put_setting(&w, T_IN_TLAB, "alloc", "2048");
    size_t event = begin_event(&w, T_NATIVE_LOCK);
    put_long(&w, 600);
    put_long(&w, 200);
    put_long(&w, 70);
    put_long(&w, 7);
    end_event(&w, event);
    event = begin_event(&w, T_LIVE);
    for (int i = 0; i < 4; i++)
        put_long(&w, 2);
    put_long(&w, 640);
    end_event(&w, event);
    event = begin_event(&w, T_MALLOC);
    for (int i = 0; i < 3; i++)
        put_long(&w, 0);
    put_long(&w, 100);
    end_event(&w, event);
    end_recording();
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.lock_kind, JFR_LOCK_NATIVE);
    assert_value(&s, 1, JFR_LOCK_DELAY, 200, 500);
    s = next_sample();
    assert_value(&s, 0, JFR_LIVE_BYTES, 640, 2048);
    s = next_sample();
    assert_value(&s, 0, JFR_NATIVEMEM_BYTES, 100, 4096);
}
END_TEST

START_TEST(bad_event_is_skipped_and_counted)
{
    begin_recording(false);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    size_t event = begin_event(&w, T_EXECUTION);
    put_long(&w, 600); /* its other fields are missing */
    end_event(&w, event);
    put_execution(&w, 700, 70, 7, 1);
    end_recording();
    ck_assert_int_eq(next_sample().time_ns, 1000000200);
    expect_no_sample();
    ck_assert_uint_eq(stats().bad_events, 1);
}
END_TEST

START_TEST(extra_fields_are_no_error)
{
    begin_recording(false);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    size_t event = begin_event(&w, T_EXECUTION);
    for (int i = 0; i < 9; i++)
        put_long(&w, 7);
    end_event(&w, event);
    end_recording();
    ck_assert_uint_eq(next_sample().stack, 0);
    ck_assert_uint_eq(stats().bad_events, 0);
}
END_TEST

START_TEST(types_have_names_and_units)
{
    ck_assert_str_eq(jfr_profile_type_name(JFR_ALLOC_BYTES), "alloc_bytes");
    ck_assert_str_eq(jfr_profile_type_unit(JFR_LOCK_DELAY), "ns");
    for (int type = 0; type < JFR_PROFILE_TYPE_COUNT; type++)
        ck_assert_ptr_nonnull(jfr_profile_type_name((jfr_profile_type)type));
    ck_assert_ptr_null(jfr_profile_type_name((jfr_profile_type)JFR_PROFILE_TYPE_COUNT));
    ck_assert_ptr_null(jfr_profile_type_unit((jfr_profile_type)JFR_PROFILE_TYPE_COUNT));
}
END_TEST

/* Counted events have their own type; the stated interval, or the event's default, gives the
 * values. */
static const struct {
    const char *event;
    const char *interval;
    uint64_t count;
} counters[] = {{"Calls.target", "1", 1},  {"Calls.target", "0", 1}, {"page-faults", "0", 1},
                {"page-faults", "50", 50}, {"cycles", "0", 1000000}, {"cache-misses", "0", 1000}};

START_TEST(counted_events_are_no_time)
{
    begin_recording(true);
    put_setting(&w, T_RECORDING, "event", counters[_i].event);
    put_setting(&w, T_EXECUTION, "interval", counters[_i].interval);
    put_execution(&w, 600, 70, 7, 1);
    end_recording();
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.value_count, 1);
    assert_value(&s, 0, JFR_EVENTS, counters[_i].count, counters[_i].count);
    expect_no_sample();
    ck_assert_uint_eq(stats().unmeasured_events[JFR_SOURCE_EXECUTION], 0);
}
END_TEST

START_TEST(traced_calls_have_a_count_and_their_time)
{
    params.ticks_per_second = 2000000000;
    w.others = true;
    begin_recording(true);
    put_setting(&w, T_RECORDING, "trace", "Calls.often");
    put_method_trace(&w, 3000);
    end_recording();
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.source, JFR_SOURCE_METHOD_TRACE);
    assert_value(&s, 0, JFR_TRACE_COUNT, 1, 1);
    assert_value(&s, 1, JFR_TRACE_TIME, 1500, 1500);
    expect_no_sample();
}
END_TEST

/* The values come from the events' own fields: weight times interval, and size times weight. */
START_TEST(datadogs_samples_have_weights)
{
    static const struct {
        uint8_t source;
        jfr_profile_type type;
        uint64_t first, second; /* values of the first chunk and of the second one */
        uint64_t objects;
    } rows[] = {{JFR_SOURCE_DATADOG_CPU, JFR_CPU, 10000000, 20000000, 0},
                {JFR_SOURCE_DATADOG_CPU, JFR_CPU, 30000000, 60000000, 0},
                {JFR_SOURCE_DATADOG_WALL, JFR_WALL, 100000000, 200000000, 0},
                {JFR_SOURCE_DATADOG_ALLOC, JFR_ALLOC_BYTES, 20500, 20500, 21},
                {JFR_SOURCE_DATADOG_LIVE, JFR_LIVE_BYTES, 125, 125, 0}};
    write_datadog(&w, &params);
    for (int part = 0; part < 2; part++) {
        if (part == 0)
            open_first_chunk();
        else
            next_chunk();
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            uint64_t value = part == 0 ? rows[i].first : rows[i].second;
            jfr_sample s = next_sample();
            ck_assert_int_eq(s.source, rows[i].source);
            ck_assert_int_eq(s.value_count, rows[i].objects > 0 ? 2 : 1);
            assert_value(&s, 0, rows[i].type, value, value);
            if (rows[i].objects > 0)
                assert_value(&s, 1, JFR_ALLOC_OBJECTS, 1, rows[i].objects);
            ck_assert_uint_eq(s.stack, 0);
        }
        expect_no_sample();
    }
    expect_end();
}
END_TEST

START_TEST(weights_that_are_none_count_nothing)
{
    static const struct {
        float weight;
        uint64_t value;
    } rows[] = {{0, 0}, {-1, 0}, {NAN, 0}, {INFINITY, UINT64_MAX}, {1e30F, UINT64_MAX}, {0.5F, 8}};
    w.others = true;
    begin_chunk(&w, &params);
    put_datadog_object(&w, T_DATADOG_LIVE, 16, rows[_i].weight);
    end_recording();
    jfr_sample s = next_sample();
    assert_value(&s, 0, JFR_LIVE_BYTES, rows[_i].value, rows[_i].value);
}
END_TEST

/* Events that look like samples but are not read are reported. */
START_TEST(samples_that_are_not_read_are_counted)
{
    size_t count;
    write_datadog(&w, &params);
    open_first_chunk();
    const jfr_unread *unread = jfr_chunk_unread(chunk, &count);
    ck_assert_uint_eq(count, 1);
    assert_str(unread[0].event, "datadog.StrangeSample");
    ck_assert_uint_eq(unread[0].count, 2);
}
END_TEST

START_TEST(events_of_async_profiler_are_counted_behind_the_first_sample)
{
    size_t count;
    w.others = true;
    begin_recording(true);
    put_execution(&w, 600, 70, 7, 1);
    put_datadog_strange(&w);
    end_recording();
    const jfr_unread *unread = jfr_chunk_unread(chunk, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(unread[0].count, 1);
}
END_TEST

/* The JDK's own events are known: only those called samples can be missing. */
START_TEST(a_recording_without_such_events_has_none)
{
    size_t count;
    w.rich = true;
    begin_recording(false);
    put_park(&w, 1000, 4);
    end_recording();
    const jfr_unread *unread = jfr_chunk_unread(chunk, &count);
    ck_assert_uint_eq(count, 1); /* test.Anything is defined, and has a stack */
    ck_assert_uint_eq(unread[0].count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sample");
    TCase *t = tcase_create("sample");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, cpu_by_the_recordings_own_interval);
    tcase_add_test(t, an_event_without_a_state_has_none);
    tcase_add_loop_test(t, async_main_event, 0, sizeof(main_events) / sizeof(main_events[0]));
    tcase_add_test(t, unknown_interval_is_never_assumed);
    tcase_add_test(t, wall_counts_do_not_leak);
    tcase_add_test(t, cpu_time_samples_win);
    tcase_add_loop_test(t, native_samples_only_when_asked, 0, 2);
    tcase_add_loop_test(t, allocations_count_once, 0, sizeof(allocations) / sizeof(allocations[0]));
    tcase_add_test(t, objects_are_weight_by_size);
    tcase_add_test(t, sampled_allocations_have_no_object_count);
    tcase_add_test(t, lock_ticks_by_each_chunks_own_clock);
    tcase_add_loop_test(t, lock_estimate_is_unbiased, 0, sizeof(unbiased) / sizeof(unbiased[0]));
    tcase_add_test(t, jdk_thresholds_do_not_scale);
    tcase_add_loop_test(t, idle_waits_are_no_contention, 0, 2);
    tcase_add_test(t, native_locks_live_and_malloc);
    tcase_add_test(t, bad_event_is_skipped_and_counted);
    tcase_add_test(t, extra_fields_are_no_error);
    tcase_add_test(t, types_have_names_and_units);
    tcase_add_test(t, datadogs_samples_have_weights);
    tcase_add_loop_test(t, weights_that_are_none_count_nothing, 0, 6);
    tcase_add_test(t, samples_that_are_not_read_are_counted);
    tcase_add_test(t, events_of_async_profiler_are_counted_behind_the_first_sample);
    tcase_add_test(t, a_recording_without_such_events_has_none);
    tcase_add_loop_test(t, counted_events_are_no_time, 0,
                        (int)(sizeof(counters) / sizeof(counters[0])));
    tcase_add_test(t, traced_calls_have_a_count_and_their_time);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
