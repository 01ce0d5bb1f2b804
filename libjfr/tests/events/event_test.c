/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

static jfr_events *events;
static jfr_events_options choice;

static void setup(void)
{
    fixture_setup();
    w.rich = true;
    events = NULL;
    choice = (jfr_events_options)JFR_EVENTS_OPTIONS_INIT;
}

static void teardown(void)
{
    jfr_events_close(events);
    fixture_teardown();
}

/* Writes events from 600 ticks on, 100 ticks apart; the chunk starts at 500 ticks = 1 s, a tick is
 * 1 ns. */
static void write_events(void)
{
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    put_anything(&w, 700, 250);
    put_execution(&w, 800, 70, 7, 1);
    put_standard_pools(&w);
    put_anything_pool(&w);
    end_chunk(&w, &params);
}

static void begin(void)
{
    ck_assert_int_eq(jfr_events_open(&events, chunk, &choice, &err), 0);
}

static jfr_event next_event(void)
{
    jfr_event e;
    int rc = jfr_events_next(events, &e, &err);
    ck_assert_msg(rc == 1, "next event: %d %s", rc, err.message);
    return e;
}

static void expect_no_event(void)
{
    jfr_event e;
    ck_assert_int_eq(jfr_events_next(events, &e, &err), 0);
}

START_TEST(all_events_in_the_files_order)
{
    write_events();
    open_first_chunk();
    begin();
    jfr_event e = next_event();
    assert_str(e.type->name, "jdk.ExecutionSample");
    ck_assert_int_eq(e.time_ns, 1000000100);
    ck_assert_int_eq(e.duration_ns, 0);
    ck_assert_uint_eq(e.end_ticks, 600);
    e = next_event();
    assert_str(e.type->name, "test.Anything");
    ck_assert_uint_eq(e.start_ticks, 700);
    ck_assert_uint_eq(e.end_ticks, 950);
    ck_assert_int_eq(e.duration_ns, 250);
    ck_assert_int_eq(e.value.kind, JFR_VARIANT_STRUCT);
    e = next_event();
    ck_assert_uint_eq(e.start_ticks, 800);
    expect_no_event();
    expect_no_event();
    ck_assert_uint_eq(jfr_events_bad(events), 0);
}
END_TEST

START_TEST(chosen_types_only)
{
    write_events();
    open_first_chunk();
    choice.events = "Any*";
    begin();
    assert_str(next_event().type->name, "test.Anything");
    expect_no_event();
}
END_TEST

/* An event is chosen when it ends at `from` or later and starts before `to`. */
static const struct {
    int64_t from_ticks;
    int64_t to_ticks;
    int count;
} windows[] = {
    {600, 601, 1},  {601, 700, 0}, {601, 701, 1}, {950, 2000, 1},
    {951, 2000, 0}, {800, 801, 2}, {0, 2000, 3},  {700, 600, 0},
};

START_TEST(time_window)
{
    write_events();
    open_first_chunk();
    choice.from_ns = 1000000000 - 500 + windows[_i].from_ticks;
    choice.to_ns = 1000000000 - 500 + windows[_i].to_ticks;
    begin();
    for (int i = 0; i < windows[_i].count; i++)
        (void)next_event();
    expect_no_event();
}
END_TEST

START_TEST(raw_walk_shows_what_is_no_event)
{
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    end_event(&w, begin_event(&w, (enum type)(T_RICH_COUNT + 5))); /* an undefined type */
    end_event(&w, begin_event(&w, T_THREAD));                      /* not an event type */
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    choice.flags = JFR_EVENTS_RAW;
    begin();
    jfr_event e = next_event(); /* the writer puts the metadata first */
    ck_assert_ptr_null(e.type);
    ck_assert_uint_eq(e.type_id, 0);
    ck_assert_ptr_nonnull(next_event().type);
    ck_assert_uint_eq(next_event().type_id, params.base + T_RICH_COUNT + 5);
    ck_assert_uint_eq(next_event().type_id, params.base + T_THREAD);
    ck_assert_uint_eq(next_event().type_id, 1);
    expect_no_event();
    jfr_events_close(events);
    choice.flags = 0;
    begin();
    (void)next_event();
    expect_no_event();
}
END_TEST

START_TEST(event_too_short_for_its_times_is_passed_over)
{
    begin_chunk(&w, &params);
    end_event(&w, begin_event(&w, T_ANYTHING));
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    begin();
    assert_str(next_event().type->name, "jdk.ExecutionSample");
    expect_no_event();
    ck_assert_uint_eq(jfr_events_bad(events), 1);
}
END_TEST

START_TEST(impossible_size_ends_the_walk_with_a_loss)
{
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    size_t broken = w.len;
    put_execution(&w, 700, 70, 7, 1);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    w.data[broken] = 0x80; /* four bytes of size, padded: 0 */
    w.data[broken + 1] = 0x80;
    w.data[broken + 2] = 0x80;
    w.data[broken + 3] = 0x00;
    open_first_chunk();
    begin();
    (void)next_event();
    expect_no_event();
    ck_assert_uint_eq(loss().record_count, 1);
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_EVENTS);
    ck_assert_uint_eq(loss().records[0].offset, broken);
    expect_no_event();
    ck_assert_uint_eq(loss().record_count, 1);
}
END_TEST

START_TEST(event_again_at_its_offset)
{
    write_events();
    open_first_chunk();
    begin();
    jfr_event first = next_event();
    jfr_event second = next_event();
    jfr_event again;
    ck_assert_int_eq(jfr_event_at(chunk, second.offset, &again, &err), 0);
    ck_assert_ptr_eq(again.type, second.type);
    ck_assert_uint_eq(again.end_ticks, 950);
    ck_assert_int_eq(jfr_event_at(chunk, first.offset, &again, &err), 0);
    ck_assert_uint_eq(again.start_ticks, 600);
    ck_assert_int_eq(jfr_event_at(chunk, 0, &again, &err), JFR_ERR_FORMAT);
    ck_assert_int_eq(jfr_event_at(chunk, UINT64_MAX, &again, &err), JFR_ERR_FORMAT);
}
END_TEST

START_TEST(walk_ends_with_its_chunk)
{
    write_events();
    params.base = 40;
    write_events();
    open_first_chunk();
    begin();
    (void)next_event();
    next_chunk();
    jfr_event e;
    ck_assert_int_eq(jfr_events_next(events, &e, &err), JFR_ERR_USAGE);
    jfr_events_close(events);
    begin(); /* the other chunk's ids are its own */
    assert_str(next_event().type->name, "jdk.ExecutionSample");
    assert_str(next_event().type->name, "test.Anything");
}
END_TEST

START_TEST(walk_ends_with_the_last_chunk)
{
    write_events();
    open_first_chunk();
    begin();
    (void)next_event();
    expect_end();
    jfr_event e;
    ck_assert_int_eq(jfr_events_next(events, &e, &err), JFR_ERR_USAGE);
}
END_TEST

START_TEST(options_are_checked)
{
    write_events();
    open_first_chunk();
    choice.flags = 1u << 9;
    ck_assert_int_eq(jfr_events_open(&events, chunk, &choice, &err), JFR_ERR_USAGE);
    choice = (jfr_events_options){.size = 3};
    ck_assert_int_eq(jfr_events_open(&events, chunk, &choice, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_events_open(&events, chunk, NULL, &err), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("event");
    TCase *t = tcase_create("event");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, all_events_in_the_files_order);
    tcase_add_test(t, chosen_types_only);
    tcase_add_loop_test(t, time_window, 0, (int)(sizeof(windows) / sizeof(windows[0])));
    tcase_add_test(t, raw_walk_shows_what_is_no_event);
    tcase_add_test(t, event_too_short_for_its_times_is_passed_over);
    tcase_add_test(t, impossible_size_ends_the_walk_with_a_loss);
    tcase_add_test(t, event_again_at_its_offset);
    tcase_add_test(t, walk_ends_with_its_chunk);
    tcase_add_test(t, walk_ends_with_the_last_chunk);
    tcase_add_test(t, options_are_checked);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
