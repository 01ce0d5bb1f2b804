/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how written recordings are aggregated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recording/meta.h>
#include <recording/recording.h>

#include "fixture.h"
#include "run_suite.h"

START_TEST(cpu_samples_weigh_the_recordings_interval)
{
    put_cpu_chunk("5000000");
    const sagg *agg = read_all();
    sagg_totals totals = sagg_type_totals(agg, PROFILE_TYPE_CPU);
    ck_assert_uint_eq(totals.value, 15000000);
    ck_assert_uint_eq(totals.raw_value, 15000000);
    ck_assert_uint_eq(totals.samples, 3);
    ck_assert_uint_eq(info.interval[PROFILE_TYPE_CPU], 5000000);
    ck_assert_int_eq(info.start_ns, 1000000000);
    ck_assert_uint_eq(info.counts.samples, 3);
    ck_assert(recording_is_whole(rec));
}
END_TEST

START_TEST(frames_come_leaf_first_with_their_kinds)
{
    put_cpu_chunk("5000000");
    const sagg *agg = read_all();
    bool seen = false;
    for (uint32_t i = 0; i < sagg_stack_count(agg); i++) {
        sagg_stack stack;
        sagg_frame leaf, root;
        ck_assert(sagg_stack_at(agg, i, &stack));
        if (stack.count != 2)
            continue;
        seen = true;
        ck_assert(sagg_frame_at(agg, sagg_stack_frame(&stack, 0), &leaf));
        ck_assert(sagg_frame_at(agg, sagg_stack_frame(&stack, 1), &root));
        ck_assert_uint_eq(leaf.line, 42);
        ck_assert_uint_eq(root.line, 7);
        ck_assert_uint_eq(leaf.kind, SAGG_JAVA);
        ck_assert_mem_eq(leaf.class_name.data, "java.util.HashMap", leaf.class_name.size);
    }
    ck_assert(seen);
}
END_TEST

START_TEST(threads_have_names_and_pools)
{
    put_cpu_chunk("5000000");
    const sagg *agg = read_all();
    sagg_thread row;
    bool java = false;
    bool gc = false;
    for (uint32_t i = 0; i < sagg_thread_count(agg); i++) {
        ck_assert(sagg_thread_at(agg, i, &row));
        if (row.os_tid == 1234) {
            java = true;
            ck_assert_mem_eq(row.name.data, "main", row.name.size);
            ck_assert_uint_eq(sagg_thread_totals(agg, i, PROFILE_TYPE_CPU).samples, 2);
        }
        if (row.os_tid == 1240) {
            gc = true;
            ck_assert_mem_eq(row.pool.data, "GC Thread#", row.pool.size);
        }
    }
    ck_assert(java && gc);
}
END_TEST

START_TEST(settings_hold_for_later_inputs)
{
    put_cpu_chunk("5000000");
    (void)read_all();
    writer_free(&w);
    w = (writer){0};
    put_cpu_chunk(NULL);
    const sagg *agg = read_all();
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_CPU).value, 30000000);
    /* and, given by the caller, for another recording */
    jfr_intervals inherited = info.intervals;
    recording_free(rec);
    rec = NULL;
    options.inherit = &inherited;
    agg = read_all();
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_CPU).value, 15000000);
}
END_TEST

START_TEST(locks_and_allocations_carry_facet_and_class)
{
    begin(false);
    put_monitor_enter(&w, 1500, 4000000, 1);
    put_park(&w, 3000000, 4);
    put_in_tlab(&w, 1, 16, 4096);
    put_outside(&w, 1, 100000);
    end();
    options.facets = true;
    options.objects = true;
    const sagg *agg = read_all();
    uint64_t by_facet[8] = {0};
    size_t cursor = 0;
    sagg_entry entry;
    while (sagg_next(agg, &cursor, &entry)) {
        uint32_t facet = 0;
        sagg_str text;
        ck_assert(sagg_label_at(agg, entry.label, &facet, &text));
        ck_assert_uint_lt(facet, 8);
        ck_assert_uint_gt(text.size, 0);
        if (entry.type == PROFILE_TYPE_LOCK_DELAY || entry.type == PROFILE_TYPE_ALLOC_BYTES)
            by_facet[facet] += entry.totals.value;
    }
    ck_assert_uint_eq(by_facet[RECORDING_FACET_LOCK_MONITOR], 4000000);
    ck_assert_uint_eq(by_facet[RECORDING_FACET_LOCK_PARK], 3000000);
    ck_assert_uint_eq(by_facet[RECORDING_FACET_ALLOC_IN_TLAB], 4096);
    ck_assert_uint_eq(by_facet[RECORDING_FACET_ALLOC_OUTSIDE_TLAB], 100000);
    ck_assert_str_eq(info.engine, "jfr");
}
END_TEST

static bool keep_all(void *ctx, const sagg *agg, const recording_moment *moment)
{
    (void)ctx;
    (void)agg;
    (void)moment;
    return true;
}

/* Returns the wall time below that root frame; NULL = of all stacks that have neither. */
static uint64_t wall_below(const sagg *agg, const char *name)
{
    uint64_t sum = 0;
    size_t cursor = 0;
    sagg_entry entry;
    while (sagg_next(agg, &cursor, &entry)) {
        sagg_stack stack;
        sagg_frame root;
        ck_assert(sagg_stack_at(agg, entry.stack, &stack));
        ck_assert(sagg_frame_at(agg, sagg_stack_frame(&stack, stack.count - 1), &root));
        bool is_state = root.kind == SAGG_UNKNOWN && root.method.data[0] == '[';
        bool is_it = name != NULL && is_state && root.method.size == strlen(name) &&
                     memcmp(root.method.data, name, root.method.size) == 0;
        if (entry.type == PROFILE_TYPE_WALL && (name == NULL ? !is_state : is_it))
            sum += entry.totals.value;
    }
    return sum;
}

/* As sums, and (with a tap) sample by sample. */
START_TEST(wall_time_is_told_apart_by_state)
{
    begin(true);
    put_setting(&w, T_RECORDING, "event", "ctimer");
    put_setting(&w, T_EXECUTION, "wall", "1000");
    put_wall_in(&w, 3, 1);
    put_wall_in(&w, 40, 2);
    put_wall_in(&w, 500, 2);
    put_wall_in(&w, 6000, 0);          /* the recorder does not say */
    put_execution(&w, 1500, 70, 7, 0); /* no wall time */
    end();
    options.wall_states = true;
    if (_i == 1)
        options.tap.keep = keep_all;
    const sagg *agg = read_all();
    ck_assert_uint_eq(wall_below(agg, "[running]"), 3000);
    ck_assert_uint_eq(wall_below(agg, "[waiting]"), 540000);
    ck_assert_uint_eq(wall_below(agg, NULL), 6000000);
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_WALL).value, 6543000);
    ck_assert(recording_is_whole(rec));
}
END_TEST

START_TEST(seconds_follow_the_samples_times)
{
    put_cpu_chunk("5000000");
    options.seconds = 2;
    options.origin_ns = 1000000000;
    const sagg *agg = read_all();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sagg_thread_count(agg); i++) {
        const uint64_t *seconds = sagg_seconds(agg, PROFILE_TYPE_CPU, i);
        sum += seconds != NULL ? seconds[0] : 0;
    }
    ck_assert_uint_eq(sum, 15000000);
    ck_assert_uint_eq(sagg_losses(agg).outside_seconds, 0);
}
END_TEST

START_TEST(what_a_cut_costs_is_named)
{
    char line[256];
    put_cpu_chunk("5000000");
    size_t first = w.len;
    put_cpu_chunk("5000000");
    w.len -= 5;
    const sagg *agg = read_all();
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_CPU).samples, 3);
    ck_assert(!recording_is_whole(rec));
    ck_assert_uint_eq(info.chunks_whole, 1);
    ck_assert_uint_eq(info.chunks_lost, 1);
    ck_assert(recording_loss_line(rec, 0, line, sizeof(line)));
    ck_assert_msg(strstr(line, "truncated at byte") != NULL, "%s", line);
    char where[64];
    (void)snprintf(where, sizeof(where), "of the chunk at byte %zu", first);
    ck_assert_msg(strstr(line, where) != NULL, "%s", line);
    ck_assert(!recording_loss_line(rec, 1, line, sizeof(line)));
}
END_TEST

/* The meta of a document is valid JSON, whatever the name of a file is. */
START_TEST(meta_is_json_with_any_title)
{
    put_cpu_chunk("5000000");
    ck_assert_ptr_nonnull(read_all());
    char *meta = recording_meta(rec, NULL, "a\"b\\c\n\xff \xc3\xa9.jfr", "lock: no permission");
    ck_assert_ptr_nonnull(meta);
    ck_assert_ptr_nonnull(strstr(meta, "{\"title\":\"a\\\"b\\\\c\\u000a\\ufffd \xc3\xa9.jfr\","));
    ck_assert_ptr_nonnull(strstr(meta, "\"intervals\":{\"cpu\":\"5000000\"}"));
    ck_assert_ptr_nonnull(strstr(meta, "\"not recorded: lock: no permission\"]}"));
    free(meta);
}
END_TEST

/* In a comparison each loss names its side. */
START_TEST(meta_of_a_comparison_names_the_side)
{
    put_cpu_chunk(NULL);
    ck_assert_ptr_nonnull(read_all());
    char *meta = recording_meta(rec, rec, "", "");
    ck_assert_ptr_nonnull(meta);
    ck_assert_ptr_null(strstr(meta, "title"));
    ck_assert_ptr_nonnull(
        strstr(meta, "\"notes\":[\"before: 3 events of jdk.ExecutionSample were left out"));
    ck_assert_ptr_nonnull(strstr(meta, ",\"after: 3 events of jdk.ExecutionSample were left out"));
    free(meta);
}
END_TEST

START_TEST(caps_keep_totals_and_are_named)
{
    char line[256];
    put_cpu_chunk("5000000");
    options.max_stacks = 1;
    const sagg *agg = read_all();
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_CPU).value, 15000000);
    ck_assert_uint_le(sagg_stack_count(agg), 2);
    ck_assert(!recording_is_whole(rec));
    ck_assert(recording_loss_line(rec, 0, line, sizeof(line)));
    ck_assert_msg(strstr(line, "samples were summed into [dropped]") != NULL, "%s", line);
}
END_TEST

START_TEST(deep_stacks_are_counted_as_truncated)
{
    put_cpu_chunk("5000000");
    options.max_frames = 3;
    (void)read_all();
    /* Only stack 9 is deeper, by one frame of each type. */
    ck_assert_uint_eq(info.truncated_raw[PROFILE_TYPE_CPU], 5000000);
}
END_TEST

START_TEST(what_is_no_recording_is_an_error_with_its_offset)
{
    ck_assert_int_eq(recording_new(&rec, NULL, &err), 0);
    ck_assert_int_eq(recording_add_mem(rec, "garbage, and more of it", 23, &err),
                     RECORDING_E_FORMAT);
    ck_assert_int_eq(err.code, RECORDING_E_FORMAT);
    ck_assert_uint_gt(strlen(err.message), 10);
    ck_assert_int_eq(recording_add_file(rec, "/does/not/exist", &err), RECORDING_E_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "/does/not/exist"));
}
END_TEST

/* Their name becomes part of file names, too. */
static const struct {
    const char *event;
    const char *name;
} counted[] = {
    {"page-faults", "page-faults"}, {"Calls.target", "Calls.target"},
    {"a/../b c*", "a_.._b_c_"},     {"../x", "events"},
    {"cpu_time\x1b", "cpu_time_"},  {"alloc_bytes", "events"},
};

START_TEST(counted_events_are_named_after_their_event)
{
    begin(true);
    put_setting(&w, T_RECORDING, "event", counted[_i].event);
    put_setting(&w, T_EXECUTION, "interval", "7");
    put_execution(&w, 1500, 70, 7, 1);
    end();
    const sagg *agg = read_all();
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_EVENTS).value, 7);
    ck_assert_int_eq(recording_name_events(rec), 0);
    sagg_type row = {0};
    for (size_t i = 0; row.id != PROFILE_TYPE_EVENTS; i++)
        ck_assert(sagg_type_at(agg, i, &row));
    ck_assert_str_eq(row.name, counted[_i].name);
    ck_assert_int_eq(recording_name_events(rec), 0); /* a second call frees the first name */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording");
    TCase *tcase = tcase_create("recording");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, cpu_samples_weigh_the_recordings_interval);
    tcase_add_test(tcase, frames_come_leaf_first_with_their_kinds);
    tcase_add_test(tcase, threads_have_names_and_pools);
    tcase_add_test(tcase, settings_hold_for_later_inputs);
    tcase_add_test(tcase, locks_and_allocations_carry_facet_and_class);
    tcase_add_loop_test(tcase, wall_time_is_told_apart_by_state, 0, 2);
    tcase_add_test(tcase, seconds_follow_the_samples_times);
    tcase_add_test(tcase, what_a_cut_costs_is_named);
    tcase_add_test(tcase, meta_is_json_with_any_title);
    tcase_add_test(tcase, meta_of_a_comparison_names_the_side);
    tcase_add_test(tcase, caps_keep_totals_and_are_named);
    tcase_add_test(tcase, deep_stacks_are_counted_as_truncated);
    tcase_add_test(tcase, what_is_no_recording_is_an_error_with_its_offset);
    tcase_add_loop_test(tcase, counted_events_are_named_after_their_event, 0,
                        (int)(sizeof(counted) / sizeof(counted[0])));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
