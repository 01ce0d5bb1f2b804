/* SPDX-License-Identifier: Apache-2.0 */
/* Tests each of the checks (docs/formats/ingest.md, section Order of checks) with one violation. */
#include <check.h>
#include <string.h>

#include "run_suite.h"
#include "sample_batch.h"

static sample_batch s;
static const ingest_limits limits = LIMITS_INIT;

static void break_batch_id(void)
{
    s.batch.batch_id.length = 15;
}
static void break_digest(void)
{
    s.body[0] = 'x';
}
static void break_contract(void)
{
    s.batch.contract = 2;
}
static void break_cluster(void)
{
    s.batch.collector.cluster.length = 0;
}
static void break_node(void)
{
    s.batch.collector.node = text_of("\xff");
}
static void break_entry_0(void)
{
    s.lengths[0] = 1;
}
static void break_lengths_over(void)
{
    s.lengths[4] = 5;
}
static void break_lengths_under(void)
{
    s.lengths[4] = 3;
}
static void break_lengths_huge(void)
{
    s.lengths[1] = UINT32_MAX;
}
static void break_utf8(void)
{
    memcpy(s.strings, "\xed\xa0\x80x", 4);
}
static void break_nul(void)
{
    s.strings[1] = '\0';
}
static void break_frame_utf8(void)
{
    s.frame_strings[0] = (char)0xff;
}
static void break_target_columns(void)
{
    s.batch.targets.host_pid.count = 1;
}
static void break_target_index(void)
{
    s.workload[1] = 5;
}
static void break_workload(void)
{
    s.workload[1] = 0;
}
static void break_boot_id(void)
{
    s.boot_id[1] = 1;
}
static void break_window_columns(void)
{
    s.batch.windows.lost_events.count = 1;
}
static void break_sample_columns(void)
{
    s.batch.samples.facet.count = 3;
}
static void break_window_index(void)
{
    s.row_window[3] = 2;
}
static void break_stack_index(void)
{
    s.row_stack[3] = 3;
}
static void break_facet(void)
{
    s.facet[0] = 256;
}
static void break_stack_ids_size(void)
{
    s.batch.stack_ids.length--;
}
static void break_row_twice(void)
{
    s.row_pool[2] = 4;
}
static void break_stack_twice(void)
{
    memcpy(s.stack_ids + 16, s.stack_ids, 16);
}
static void break_window_twice(void)
{
    s.window_target[1] = 0;
    s.source[1] = 1;
}
static void break_source(void)
{
    s.source[0] = 99;
}
static void break_covered(void)
{
    s.covered_ms[0] = 10001;
}
static void break_reason(void)
{
    s.reason[1] = 5;
}
static void break_length(void)
{
    s.length_ms[0] = 0;
}
static void break_second(void)
{
    s.second[0] = 10;
}
static void break_day(void)
{
    s.start_ms[1] -= DAY_MS;
}
static void break_midnight(void)
{
    s.start_ms[1] = (uint64_t)(SAMPLE_DAY + 1) * DAY_MS - 9999;
}
static void break_future(void)
{
    s.start_ms[1] = SAMPLE_NOW_MS + 300001;
}
static void break_created_ahead(void)
{
    s.batch.created_ms = SAMPLE_NOW_MS + 300001;
}
static void break_created_old(void)
{
    s.batch.created_ms = SAMPLE_NOW_MS - 8ull * DAY_MS;
}
static void break_raw_amount_total(void)
{
    s.raw_amount_total[0]++;
}
static void break_amount_total(void)
{
    s.amount_total[1]--;
}
static void break_raw_count_total(void)
{
    s.raw_count_total[0] = 0;
}
static void break_count_total(void)
{
    s.count_total[1]++;
}
static void break_overflow(void)
{
    s.amount[0] = UINT64_MAX;
}
static void break_snapshot_columns(void)
{
    s.batch.states.cpu_ns.count = 1;
}
static void break_snapshot_target(void)
{
    s.snapshot_target[0] = 2;
}
static void break_state_snapshot(void)
{
    s.state_snapshot[1] = 1;
}
static void break_state(void)
{
    s.state[1] = 7;
}
static void break_state_stack(void)
{
    s.state_stack[1] = SAMPLE_STACKS + 1;
}
static void break_state_lock(void)
{
    s.state_lock[0] = 3;
}
static void break_held_thread(void)
{
    s.held_thread[1] = 2;
}
static void break_held_kind(void)
{
    s.held_kind[0] = 3;
}
static void break_held_depth(void)
{
    s.held_depth[0] = 2048;
}
static void break_deadlock_thread(void)
{
    s.deadlock_thread[0] = 2;
}
static void break_deadlock_inferred(void)
{
    s.deadlock_inferred[0] = 2;
}
static void break_thread_twice(void)
{
    s.java_tid[1] = s.java_tid[0];
}
static void break_held_order(void)
{
    s.held_thread[0] = 1;
    s.held_thread[1] = 0;
}
static void break_snapshot_day(void)
{
    s.taken_ms[0] += DAY_MS;
}
static void break_snapshot_future(void)
{
    s.taken_ms[0] = SAMPLE_NOW_MS + 300001;
}
static void break_frame_columns(void)
{
    s.batch.stacks.frame_line.count = 1;
}
static void break_depths(void)
{
    s.depth[0] = 2;
}
static void break_frame_index(void)
{
    s.frames[3] = 2;
}
static void break_kind(void)
{
    s.kinds[0] = 5;
}
static void break_normaliser(void)
{
    s.versions[0] = 2;
}
static void break_line(void)
{
    s.frame_line[1]++;
}
static void break_version(void)
{
    s.versions[2] = 0;
}

static const struct {
    void (*break_it)(void);
    const char *code;
} rows[] = {
    {break_batch_id, "malformed"},
    {break_digest, "digest_mismatch"},
    {break_contract, "contract_unknown"},
    {break_cluster, "bad_identity"},
    {break_node, "bad_identity"},
    {break_entry_0, "bad_strings"},
    {break_lengths_over, "bad_strings"},
    {break_lengths_under, "bad_strings"},
    {break_lengths_huge, "bad_strings"},
    {break_utf8, "bad_strings"},
    {break_nul, "bad_strings"},
    {break_frame_utf8, "bad_strings"},
    {break_target_columns, "bad_columns"},
    {break_target_index, "bad_index"},
    {break_workload, "bad_identity"},
    {break_boot_id, "bad_identity"},
    {break_window_columns, "bad_columns"},
    {break_sample_columns, "bad_columns"},
    {break_window_index, "bad_index"},
    {break_stack_index, "bad_index"},
    {break_facet, "bad_index"},
    {break_stack_ids_size, "bad_columns"},
    {break_row_twice, "duplicate_row"},
    {break_stack_twice, "duplicate_row"},
    {break_window_twice, "duplicate_row"},
    {break_snapshot_columns, "bad_columns"},
    {break_snapshot_target, "bad_index"},
    {break_state_snapshot, "bad_index"},
    {break_state, "bad_index"},
    {break_state_stack, "bad_index"},
    {break_state_lock, "bad_index"},
    {break_held_thread, "bad_index"},
    {break_held_kind, "bad_index"},
    {break_held_depth, "bad_index"},
    {break_deadlock_thread, "bad_index"},
    {break_deadlock_inferred, "bad_index"},
    {break_thread_twice, "duplicate_row"},
    {break_held_order, "bad_columns"},
    {break_snapshot_day, "wrong_day"},
    {break_snapshot_future, "window_in_future"},
    {break_source, "unknown_source"},
    {break_covered, "bad_window"},
    {break_reason, "bad_window"},
    {break_length, "bad_window"},
    {break_second, "bad_window"},
    {break_day, "wrong_day"},
    {break_midnight, "wrong_day"},
    {break_future, "window_in_future"},
    {break_created_ahead, "clock_ahead"},
    {break_created_old, "batch_too_old"},
    {break_raw_amount_total, "totals_mismatch"},
    {break_amount_total, "totals_mismatch"},
    {break_raw_count_total, "totals_mismatch"},
    {break_count_total, "totals_mismatch"},
    {break_overflow, "overflow"},
    {break_frame_columns, "bad_stacks"},
    {break_depths, "bad_stacks"},
    {break_frame_index, "bad_stacks"},
    {break_kind, "bad_stacks"},
    {break_normaliser, "bad_stacks"},
    {break_line, "stack_id_mismatch"},
    {break_version, "stack_id_mismatch"},
};

START_TEST(test_the_sample_is_right)
{
    verdict v = {0};

    sample_batch_make(&s);
    ck_assert_msg(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v) == 0, "%s: %s", v.code,
                  v.message);
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_broken)
{
    verdict v = {0};

    sample_batch_make(&s);
    rows[_i].break_it();
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, rows[_i].code);
    ck_assert_uint_gt(strlen(v.message), 15);
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_the_first_failure_decides)
{
    verdict v = {0};

    /* All checks fail at once: the first one is reported. */
    sample_batch_make(&s);
    for (size_t i = sizeof(rows) / sizeof(rows[0]); i-- > 2;)
        rows[i].break_it();
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, "contract_unknown");
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_a_day_is_kept_until_the_store_drops_it)
{
    /* A row of day D is deleted when D + 7 begins: it is accepted a moment before, and too old
     * afterwards. */
    uint64_t gone = (uint64_t)(SAMPLE_DAY + 7) * DAY_MS;
    verdict v = {0};

    sample_batch_make(&s);
    s.batch.created_ms = gone - 1000;
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, gone - 1, &v), 0);
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, gone, &v), -1);
    ck_assert_str_eq(v.code, "window_too_old");
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_limits_on_counts)
{
    ingest_limits small = LIMITS_INIT;
    verdict v = {0};

    small.rows_per_batch = SAMPLE_ROWS - 1;
    sample_batch_make(&s);
    ck_assert_int_eq(check_profile_batch(&s.batch, &small, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, "too_many_rows");
    profile_batch_clear(&s.batch);
}
END_TEST

/* One long string that `count` entries refer to: small on the wire, large once the references are
 * resolved. */
enum { LONG_TEXT = 60000, LONG_COUNT = 1200 };
static char long_text[LONG_TEXT];
static uint32_t long_lengths[2] = {0, LONG_TEXT}, ones[LONG_COUNT], none[LONG_COUNT];
static uint64_t none64[LONG_COUNT];

static string_columns make_long(void)
{
    memset(long_text, 'a', sizeof(long_text));
    for (size_t i = 0; i < LONG_COUNT; i++)
        ones[i] = 1;
    return (string_columns){{long_text, sizeof(long_text)}, {long_lengths, 2}, NULL};
}

START_TEST(test_frames_may_not_name_long_texts_over_and_over)
{
    static char kinds[LONG_COUNT];
    verdict v = {0};
    u32s zeros = {none, LONG_COUNT};

    sample_batch_make(&s);
    s.batch.stacks.strings = make_long();
    s.batch.stacks.frame_class = s.batch.stacks.frame_method = (u32s){ones, LONG_COUNT};
    s.batch.stacks.frame_file = s.batch.stacks.frame_line = zeros;
    s.batch.stacks.frame_kind = (text){kinds, LONG_COUNT};
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, "payload_too_large");
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_threads_may_not_name_long_texts_over_and_over)
{
    uint32_t lengths[6] = {0, 4, 4, 36, 4, LONG_TEXT}, names[LONG_COUNT];
    char data[48 + LONG_TEXT];
    verdict v = {0};
    u32s zeros = {none, LONG_COUNT};
    u64s zeros64 = {none64, LONG_COUNT};

    sample_batch_make(&s);
    memcpy(data, s.strings, 48);
    memset(data + 48, 'a', LONG_TEXT);
    for (size_t i = 0; i < LONG_COUNT; i++)
        names[i] = 5;
    s.batch.strings = (string_columns){{data, sizeof(data)}, {lengths, 6}, NULL};
    s.batch.threads = (thread_columns){
        zeros, zeros64, zeros64, {names, LONG_COUNT}, zeros, {zeros64, zeros64, zeros64, zeros64}};
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, "payload_too_large");
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_details_may_not_name_long_texts_over_and_over)
{
    string_columns strings = make_long();
    uint32_t offsets[2] = {0, 0};
    verdict v = {0};

    strings.offset = offsets;
    ck_assert_int_eq(check_texts("status.detail_str", &strings, (u32s){ones, 279}, &limits, &v), 0);
    ck_assert_int_eq(check_texts("status.detail_str", &strings, (u32s){ones, 280}, &limits, &v),
                     -1);
    ck_assert_str_eq(v.code, "payload_too_large");
}
END_TEST

/* A report about the two targets of the sample; a row changes one of its columns. */
static uint64_t observed[2], until[2];
static uint32_t no_numbers[2], modes[2], last_length[2], last_covered[2];

static status_batch make_report(void)
{
    sample_batch_make(&s);
    for (size_t i = 0; i < 2; i++) {
        observed[i] = SAMPLE_NOW_MS;
        until[i] = SAMPLE_NOW_MS + 600000;
        modes[i] = 3;
        last_length[i] = 10000;
        last_covered[i] = 10000;
    }
    return (status_batch){.contract = s.batch.contract,
                          .collector = s.batch.collector,
                          .strings = s.batch.strings,
                          .targets = s.batch.targets,
                          .status = {.observed_ms = {observed, 2},
                                     .state = {no_numbers, 2},
                                     .reason = {no_numbers, 2},
                                     .detail = {no_numbers, 2},
                                     .last_window_ms = {observed, 2},
                                     .session = {no_numbers, 2},
                                     .mode = {modes, 2},
                                     .until_ms = {until, 2},
                                     .last_length_ms = {last_length, 2},
                                     .last_covered_ms = {last_covered, 2},
                                     .collector_ns = {until, 2}}};
}

static void bend_nothing(status_batch *report)
{
    (void)report;
    until[0] = 0;
    until[1] = UINT64_MAX; /* an end in the far future is no reason to reject the report */
    last_length[0] = last_covered[0] = 0;
}

static void bend_until(status_batch *report)
{
    report->status.until_ms.count = 1;
}

static void bend_mode(status_batch *report)
{
    (void)report;
    modes[1] = 256;
}

static void bend_length(status_batch *report)
{
    (void)report;
    last_length[1] = 86400001;
}

static void bend_coverage(status_batch *report)
{
    (void)report;
    last_covered[1] = 10001;
}

static const struct {
    void (*bend)(status_batch *report);
    const char *code; /* "" = the report is valid */
    const char *names;
} reports[] = {
    {bend_nothing, "", ""},
    {bend_until, "bad_columns", "until_ms"},
    {bend_mode, "bad_index", "status.mode: entry 1"},
    {bend_length, "bad_window", "status.last_length_ms: entry 1"},
    {bend_coverage, "bad_window", "status.last_covered_ms: entry 1"},
};

START_TEST(test_reports)
{
    status_batch report = make_report();
    verdict v = {0};

    reports[_i].bend(&report);
    int rc = check_status_batch(&report, &limits, SAMPLE_NOW_MS, &v);
    ck_assert_int_eq(rc, reports[_i].code[0] == '\0' ? 0 : -1);
    if (rc != 0) {
        ck_assert_str_eq(v.code, reports[_i].code);
        ck_assert_msg(strstr(v.message, reports[_i].names) != NULL, "%s", v.message);
    }
    status_batch_clear(&report);
}
END_TEST

START_TEST(test_names_of_targets_are_short)
{
    char data[48 + 1025];
    uint32_t lengths[6] = {0, 4, 4, 36, 4, 1025}, mains[2] = {0, 5};
    verdict v = {0};

    sample_batch_make(&s);
    memcpy(data, s.strings, 48);
    memset(data + 48, 'a', 1025);
    s.batch.strings = (string_columns){{data, sizeof(data)}, {lengths, 6}, NULL};
    s.batch.targets.main_class = (u32s){mains, 2};
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, "bad_identity");
    lengths[5] = 1024;
    s.batch.strings.data.length--;
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), 0);
    profile_batch_clear(&s.batch);
}
END_TEST

START_TEST(test_an_empty_batch_is_right)
{
    verdict v = {0};

    sample_batch_make(&s);
    s.batch.strings = (string_columns){{NULL, 0}, {NULL, 0}, NULL};
    s.batch.targets = (target_columns){.host_pid = {NULL, 0}};
    s.batch.windows = (window_columns){.target = {NULL, 0}};
    s.batch.samples = (sample_columns){.window = {NULL, 0}};
    s.batch.seconds = (second_columns){.window = {NULL, 0}};
    s.batch.snapshots = (snapshot_columns){.target = {NULL, 0}};
    s.batch.states = (state_columns){.snapshot = {NULL, 0}};
    s.batch.locks = (lock_columns){.class_name = {NULL, 0}};
    s.batch.held = (held_columns){.thread = {NULL, 0}};
    s.batch.deadlocks = (deadlock_columns){.thread = {NULL, 0}};
    s.batch.stacks = (stack_dictionary){.stack_ids = {NULL, 0}};
    s.batch.stack_ids = (text){NULL, 0};
    ck_assert_msg(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v) == 0, "%s", v.message);
    s.batch.day = SAMPLE_DAY + 9;
    ck_assert_int_eq(check_profile_batch(&s.batch, &limits, SAMPLE_NOW_MS, &v), -1);
    ck_assert_str_eq(v.code, "window_in_future");
    profile_batch_clear(&s.batch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-check");
    TCase *tcase = tcase_create("check");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, test_the_sample_is_right);
    tcase_add_loop_test(tcase, test_broken, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, test_the_first_failure_decides);
    tcase_add_test(tcase, test_a_day_is_kept_until_the_store_drops_it);
    tcase_add_test(tcase, test_limits_on_counts);
    tcase_add_test(tcase, test_frames_may_not_name_long_texts_over_and_over);
    tcase_add_test(tcase, test_threads_may_not_name_long_texts_over_and_over);
    tcase_add_test(tcase, test_details_may_not_name_long_texts_over_and_over);
    tcase_add_loop_test(tcase, test_reports, 0, sizeof(reports) / sizeof(reports[0]));
    tcase_add_test(tcase, test_names_of_targets_are_short);
    tcase_add_test(tcase, test_an_empty_batch_is_right);
    return run_suite(suite);
}
