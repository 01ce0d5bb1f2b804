/* SPDX-License-Identifier: Apache-2.0 */
/* The collector with a fake attachd, a fake reader and a clock that the test turns. */
#include "../adapters/file_queue.h"
#include "collector_tests.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPANS_MAX = 64, WINDOW = 10000 };

static struct {
    uint64_t now;
    local_jvm jvms[4];
    size_t jvm_count;
    bool unreachable;
    unsigned lost_answers; /* so many calls are done, but their answer does not come */
    uint32_t start_reason, window_reason;
    uint32_t session;
    uint8_t ids[SPANS_MAX]; /* of WINDOW requests, first byte; a repeated one is done once */
    size_t id_count;
    unsigned starts, windows, stops, reads_done;
    local_request last_start;
    bool parse_fails;
    uint64_t dropped; /* events, as attachd tells of each window */
    uint64_t queued_lost;
    uint32_t absent;        /* events that the profiler refuses, as attachd tells of a start */
    event_intervals parsed; /* of the last window */
    uint64_t recording_start;
    uint64_t covered;
    window_span spans[SPANS_MAX]; /* as given to the reader */
    size_t span_count;
    unsigned status_changes;
    uint64_t queued_windows, queued_raw;
    uint32_t days[SPANS_MAX];
    size_t batches;
    unsigned forgotten;
    bool in_pod; /* the pod decides */
    policy_decision decision;
    unsigned snapshots, snapshots_forgotten;
    uint32_t lease_ms, snapshot_reason;
    bool contention;
    batch_snapshot queued_snapshots[SPANS_MAX];
    size_t queued_snapshot_count;
    uint64_t threads_ms;          /* of the next rule */
    batch_window lost[SPANS_MAX]; /* windows of which nothing was recorded */
    size_t lost_count;
} host;

static queue *queued;
static rule_set *rules;
static collector *core;

static uint64_t now_ms(void *context)
{
    (void)context;
    return host.now;
}

static uint64_t random_number(void *context)
{
    static uint64_t state = 7;
    (void)context;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 16;
}

static void log_line(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static void submit(void *context, void (*job)(void *argument), void *argument)
{
    (void)context;
    job(argument);
}

static void nothing(void *context)
{
    (void)context;
}

static void answer_window(const local_request *request, local_answer *answer)
{
    for (size_t i = 0; i < host.id_count; i++)
        ck_assert_msg(host.ids[i] != request->id[0] || host.lost_answers == 0, "id used twice");
    host.windows += request->op == LOCAL_WINDOW;
    host.stops += request->op == LOCAL_STOP;
    answer->reason = host.window_reason;
    answer->session = host.session;
    answer->has_handle = host.window_reason == 0;
    answer->size = 5;
    answer->dropped_events = host.dropped;
}

static int call(void *context, const local_request *request, local_answer *answer, char *message,
                size_t size)
{
    (void)context;
    (void)snprintf(message, size, "nobody listens");
    if (host.unreachable)
        return CALL_UNREACHABLE;
    switch (request->op) {
    case LOCAL_LIST:
        answer->jvms = calloc(host.jvm_count + 1, sizeof(*answer->jvms));
        memcpy(answer->jvms, host.jvms, host.jvm_count * sizeof(*answer->jvms));
        answer->jvm_count = host.jvm_count;
        answer->workers_unreaped = 2;
        (void)snprintf(answer->lacks, sizeof(answer->lacks), "one\ntwo\n");
        break;
    case LOCAL_START:
        host.starts++;
        host.last_start = *request;
        answer->absent = host.absent;
        (void)snprintf(answer->absent_reason, sizeof(answer->absent_reason), "%s",
                       host.absent != 0 ? "alloc: no such thing" : "");
        answer->reason = host.start_reason;
        answer->session = host.session;
        (void)snprintf(answer->detail, sizeof(answer->detail), "%s",
                       host.start_reason ? "why" : "");
        break;
    case LOCAL_WINDOW:
    case LOCAL_STOP:
        if (host.lost_answers > 0) {
            host.lost_answers--;
            host.ids[host.id_count++] = request->id[0];
            return CALL_TIMED_OUT;
        }
        answer_window(request, answer);
        break;
    case LOCAL_READ:
        host.reads_done += request->done;
        answer->data = calloc(1, 5);
        answer->length = request->done ? 0 : 5;
        break;
    case LOCAL_SESSION:
        break;
    case LOCAL_THREADS:
        host.snapshots++;
        host.lease_ms = request->lease_ms;
        host.contention = request->contention;
        answer->reason = host.snapshot_reason;
        answer->has_handle = host.snapshot_reason == 0;
        answer->size = 5;
        (void)snprintf(answer->detail, sizeof(answer->detail), "%s",
                       host.snapshot_reason ? "why" : "");
        break;
    }
    return CALL_DONE;
}

static int new_file(void *context)
{
    (void)context;
    return memfd_create("test", MFD_CLOEXEC);
}

static int append(void *context, int file, const uint8_t *bytes, size_t length)
{
    (void)context;
    return write(file, bytes, length) == (ssize_t)length ? 0 : -1;
}

static void close_file(void *context, int file)
{
    (void)context;
    close(file);
}

static uint64_t recording_start_ms(void *context, int fd)
{
    (void)context;
    (void)fd;
    return host.recording_start;
}

static int parse(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size)
{
    (void)context;
    (void)fd;
    ck_assert_uint_eq(size, 5);
    ck_assert_uint_gt(events->of[EVENT_CPU], 0);
    host.parsed = *events;
    if (*memory == NULL)
        *memory = malloc(1);
    host.spans[host.span_count++] = *span;
    (void)snprintf(message, message_size, "byte 7: no chunk");
    if (host.parse_fails)
        return -1;
    sample_profile(out, 2, 3);
    out->covered_ms = host.covered;
    return 0;
}

static void forget(void *context, void *memory)
{
    (void)context;
    host.forgotten++;
    free(memory);
}

static int read_snapshot(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size)
{
    (void)context;
    (void)fd;
    (void)message;
    (void)message_size;
    ck_assert_uint_eq(size, 5);
    uint32_t interval_ms = *memory == NULL ? 0 : 4000;
    if (*memory == NULL)
        *memory = malloc(1);
    *out = (thread_snapshot){.meta = {.taken_ms = host.now, .interval_ms = interval_ms}};
    return 0;
}

static void forget_snapshot(void *context, void *memory)
{
    (void)context;
    host.snapshots_forgotten++;
    free(memory);
}

static void user_name(void *context, uint32_t uid, char *out, size_t size)
{
    (void)context;
    (void)snprintf(out, size, "user%u", uid);
}

static bool decide(void *context, const local_jvm *jvm, target_labels *labels, policy_decision *out)
{
    (void)context;
    (void)jvm;
    *labels = (target_labels){.workload = "web", .pod = "web-1"};
    *out = host.decision;
    return host.in_pod;
}

static int encode(void *context, const batch *one, uint8_t **out, size_t *length)
{
    (void)context;
    for (size_t i = 0; i < one->window_count; i++)
        host.queued_raw += one->windows[i].part.total.raw_amount;
    for (size_t i = 0; i < one->window_count; i++)
        host.queued_lost += one->windows[i].part.lost_events;
    for (size_t i = 0; i < one->window_count; i++) {
        if (one->windows[i].reason != 0)
            host.lost[host.lost_count++] = one->windows[i];
    }
    host.queued_windows += one->window_count;
    for (size_t i = 0; i < one->snapshot_count; i++)
        host.queued_snapshots[host.queued_snapshot_count++] = one->snapshots[i];
    host.days[host.batches++] = one->day;
    *out = calloc(1, 1);
    *length = 1;
    return 0;
}

static void status_changed(void *context)
{
    (void)context;
    host.status_changes++;
}

static void add_rule(const char *main_class, bool off, uint64_t delay_ms)
{
    const rule_text text = {.main_class = main_class,
                            .command_line = "",
                            .user = "",
                            .namespace_name = "",
                            .workload = "",
                            .events = "cpu=10ms,alloc=2m",
                            .off = off,
                            .startup_delay_ms = delay_ms,
                            .threads_ms = host.threads_ms};
    char message[256];
    ck_assert_int_eq(rule_set_add(rules, &text, message, sizeof(message)), 0);
}

static void set_up(void)
{
    memset(&host, 0, sizeof(host));
    host.now = NOON + 3000;
    host.session = SESSION_STATE_OWNED;
    host.covered = WINDOW;
    host.jvms[0] = sample_jvm(1);
    host.jvm_count = 1;
    rules = rule_set_new();
    char message[256] = "";
    ck_assert_int_eq(
        file_queue_open(&queued, make_directory(), 100000, 100, message, sizeof(message)), 0);
    const collector_ports ports = {
        .now_ms = now_ms,
        .random = random_number,
        .log = log_line,
        .submit = submit,
        .wake = nothing,
        .call = call,
        .new_file = new_file,
        .append = append,
        .close_file = close_file,
        .recording_start_ms = recording_start_ms,
        .parse = parse,
        .forget = forget,
        .read_snapshot = read_snapshot,
        .forget_snapshot = forget_snapshot,
        .user_name = user_name,
        .decide = decide,
        .encode = encode,
        .queued = nothing,
        .status_changed = status_changed,
    };
    const collector_options options = {.window_ms = WINDOW,
                                       .discovery_ms = 5000,
                                       .flush_ms = 1000,
                                       .cooldown_min_ms = 10000,
                                       .cooldown_max_ms = 80000,
                                       .call_ms = 1000,
                                       .max_targets = 2,
                                       .rate_limit = 500,
                                       .max_rows_per_part = 1000,
                                       .limits = {.rows = 100000}};
    core = collector_new(&ports, &options, rules, queued);
}

static void tear_down(void)
{
    collector_free(core);
    file_queue_close(queued);
    rule_set_free(rules);
    remove_directory();
}

/* Turns the clock to `until`, ticking at each time that the collector asks for. */
static void run_to(uint64_t until)
{
    unsigned steps = 0;
    for (;;) {
        uint64_t next = collector_tick(core);
        ck_assert_uint_lt(++steps, 100000);
        if (next <= host.now)
            continue;
        if (next > until)
            break;
        host.now = next;
    }
    host.now = until;
}

static target_status status_of(uint32_t pid)
{
    status_report report;
    target_status found = {0};
    collector_snapshot(core, &report);
    for (size_t i = 0; i < report.count; i++) {
        if (report.targets[i].jvm.id.host_pid == pid)
            found = report.targets[i];
    }
    status_report_clear(&report);
    return found;
}

START_TEST(a_chosen_jvm_gives_aligned_windows)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_CPU], 10000000);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_LOCK], 0);
    ck_assert_uint_eq(host.span_count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(host.spans[i].start_ms, NOON + WINDOW * i);
        ck_assert_uint_eq(host.spans[i].length_ms, WINDOW);
    }
    ck_assert_uint_eq(host.reads_done, 4);
    ck_assert_uint_eq(host.queued_windows, 8);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 4);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status.reason, REASON_NONE);
    ck_assert_uint_eq(status.mode, TARGET_MODE_CONTINUOUS);
    ck_assert_uint_eq(status.until_ms, 0);
    ck_assert_uint_eq(status.last_window_ms, NOON + 30000);
    ck_assert_uint_eq(status.last_length_ms, WINDOW);
    ck_assert_uint_eq(status.last_covered_ms, WINDOW);
}
END_TEST

/* The profiler counts for all types together, so each of the two types tells it. */
START_TEST(what_attachd_lacks_and_workers_that_hang_are_counted)
{
    run_to(NOON + 5000);
    ck_assert_uint_eq(collector_get_stats(core).workers_unreaped, 2);
    ck_assert_uint_eq(collector_get_stats(core).attachd_lacks, 2);
}
END_TEST

START_TEST(events_that_the_profiler_dropped_are_told)
{
    add_rule("Shop", false, 0);
    host.dropped = 7;
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.last_start.rate_limit, 500);
    ck_assert_uint_eq(host.queued_windows, 8);
    ck_assert_uint_eq(host.queued_lost, 8 * 7);
    ck_assert_uint_eq(collector_get_stats(core).dropped_events, 4 * 7);
}
END_TEST

START_TEST(an_event_that_the_profiler_refuses_has_no_data_and_a_reason)
{
    add_rule("Shop", false, 0);
    host.absent = 1 << EVENT_ALLOC;
    run_to(NOON + 5001); /* before the first window, and after it */
    for (int i = 0; i < 2; i++) {
        target_status status = status_of(1);
        ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
        ck_assert_uint_eq(status.reason, REASON_EVENT_REFUSED);
        ck_assert_str_eq(status.detail, "alloc: no such thing");
        run_to(NOON + 11500);
    }
    ck_assert_uint_eq(host.last_start.events.of[EVENT_ALLOC], 2097152); /* asked for */
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(host.parsed.of[EVENT_ALLOC], 0);
    ck_assert_uint_eq(host.parsed.of[EVENT_CPU], 10000000);
}
END_TEST

START_TEST(windows_of_several_jvms_share_a_batch)
{
    add_rule("Shop", false, 0);
    host.jvms[1] = sample_jvm(2);
    host.jvm_count = 2;
    run_to(NOON + 11500);
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.batches, 1);
    ck_assert_uint_eq(host.queued_windows, 4);
}
END_TEST

START_TEST(windows_end_at_midnight_and_days_do_not_mix)
{
    uint64_t midnight = (NOON / MS_PER_DAY + 1) * MS_PER_DAY;
    add_rule("Shop", false, 0);
    host.now = midnight - 14000;
    run_to(midnight + 12000);
    ck_assert_uint_eq(host.span_count, 3);
    ck_assert_uint_eq(host.spans[1].start_ms + host.spans[1].length_ms, midnight);
    ck_assert_uint_eq(host.spans[2].start_ms, midnight);
    ck_assert_uint_eq(host.batches, 3);
    ck_assert_uint_eq(host.days[1] + 1, host.days[2]);
}
END_TEST

START_TEST(snapshots_are_taken_beside_windows)
{
    host.threads_ms = 4000;
    add_rule("Shop", false, 0);
    run_to(NOON + 13000);
    ck_assert_uint_eq(host.snapshots, 4); /* at once, then at 4, 8 and 12 s */
    ck_assert_uint_eq(host.lease_ms, 12000);
    ck_assert_uint_eq(host.windows, 1);
    ck_assert_uint_eq(host.queued_snapshot_count, 4);
    ck_assert_uint_eq(host.queued_snapshots[0].taken_ms, NOON + 3000);
    ck_assert_uint_eq(host.queued_snapshots[0].interval_ms, 0);
    ck_assert_uint_eq(host.queued_snapshots[1].taken_ms, NOON + 4000);
    ck_assert_uint_eq(host.queued_snapshots[1].interval_ms, 4000);
    host.jvm_count = 0;
    run_to(NOON + 30000);
    ck_assert_uint_eq(host.snapshots_forgotten, 1);
}
END_TEST

/* Profiles go on, and the store learns why a source is missing. */
START_TEST(a_snapshot_that_fails_is_queued_with_its_reason)
{
    host.threads_ms = 4000;
    host.snapshot_reason = REASON_NO_EXEC_DIR;
    add_rule("Shop", false, 0);
    run_to(NOON + 11500);
    ck_assert_uint_eq(host.windows, 1);
    ck_assert_uint_eq(collector_get_stats(core).snapshot_failures, host.snapshots);
    ck_assert_uint_ge(host.queued_snapshot_count, 2);
    ck_assert_uint_eq(host.queued_snapshots[0].reason, REASON_NO_EXEC_DIR);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
}
END_TEST

/* A session stops, or begins, by the next tick after the rules have changed. */
START_TEST(other_rules_are_in_force_at_once)
{
    rule_set *none = rule_set_new();
    add_rule("Shop", false, 0);
    run_to(NOON + 5000);
    ck_assert_uint_eq(host.starts, 1);
    collector_set_rules(core, none);
    run_to(NOON + 6000);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(status_of(1).reason, REASON_DISABLED);
    collector_set_rules(core, rules);
    run_to(NOON + 7000);
    ck_assert_uint_eq(host.starts, 2);
    rule_set_free(none);
}
END_TEST

START_TEST(nobody_is_profiled_without_being_asked)
{
    add_rule("Other", false, 0);
    run_to(NOON + 30000);
    ck_assert_uint_eq(host.starts, 0);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_OFF);
    ck_assert_uint_eq(status.reason, REASON_DISABLED);
    ck_assert_str_eq(status.labels.workload, "Shop");
}
END_TEST

START_TEST(a_jvm_that_tells_its_class_late_is_chosen_then)
{
    add_rule("Shop", false, 0);
    host.jvms[0].main_class[0] = '\0';
    run_to(NOON + 9000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_OFF);
    host.jvms[0] = sample_jvm(1);
    run_to(NOON + 32000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
    ck_assert_str_eq(status.labels.workload, "Shop");
}
END_TEST

START_TEST(a_young_jvm_warms_up_first)
{
    add_rule("Shop", false, 60000);
    host.jvms[0].start_ms = NOON;
    run_to(NOON + 59000);
    ck_assert_uint_eq(host.starts, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_WAITING);
    ck_assert_uint_eq(status_of(1).reason, REASON_WARMING_UP);
    run_to(NOON + 61000);
    ck_assert_uint_eq(host.starts, 1);
}
END_TEST

START_TEST(a_failed_start_cools_down_longer_and_longer_and_keeps_its_reason)
{
    add_rule("Shop", false, 0);
    host.start_reason = REASON_NO_EXEC_DIR;
    run_to(NOON + 400000);
    ck_assert_uint_ge(host.starts, 5);
    ck_assert_uint_le(host.starts, 10);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_FAILED);
    ck_assert_uint_eq(status.reason, REASON_NO_EXEC_DIR);
    ck_assert_str_eq(status.detail, "why");
    host.start_reason = REASON_NONE;
    run_to(NOON + 500000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
}
END_TEST

START_TEST(a_failed_parse_costs_one_window_and_says_so)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.parse_fails = true;
    run_to(NOON + 22000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(status.reason, REASON_PARSE_FAILED);
    ck_assert_ptr_nonnull(strstr(status.detail, "byte 7"));
    host.parse_fails = false;
    run_to(NOON + 32000);
    ck_assert_uint_eq(status_of(1).reason, REASON_NONE);
    ck_assert_str_eq(status_of(1).detail, "");
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(host.queued_windows, 6);
    ck_assert_uint_eq(host.lost_count, 2);
    ck_assert_uint_eq(host.lost[0].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.lost[0].reason, REASON_PARSE_FAILED);
    ck_assert_uint_eq(collector_get_stats(core).parse_failures, 1);
}
END_TEST

START_TEST(a_lost_answer_is_asked_for_again_under_the_same_id)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 8000);
    host.lost_answers = 1;
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.windows, 1);
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
}
END_TEST

START_TEST(a_window_that_failed_is_made_up_for_when_the_session_is_adopted)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.window_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 21000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_FAILED);
    ck_assert_uint_eq(status_of(1).reason, REASON_ATTACH_TIMEOUT);
    host.window_reason = REASON_NONE;
    host.session = SESSION_STATE_ADOPTED;
    host.covered = 30000;
    run_to(NOON + 41500);
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.spans[1].length_ms, 30000);
    ck_assert_uint_eq(collector_get_stats(core).covered_ms, 40000);
}
END_TEST

START_TEST(an_adopted_session_brings_what_was_recorded_before)
{
    add_rule("Shop", false, 0);
    host.session = SESSION_STATE_ADOPTED;
    host.recording_start = NOON - 25000;
    host.covered = 35000;
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(host.spans[0].start_ms, NOON - 30000);
    ck_assert_uint_eq(host.spans[0].length_ms, 40000);
}
END_TEST

/* The lost windows that were queued: one for each event of the rule, cpu and alloc. */
static void assert_lost(size_t index, uint64_t start_ms, uint64_t end_ms, uint32_t reason)
{
    ck_assert_uint_lt(2 * index + 1, host.lost_count);
    for (size_t i = 2 * index; i < 2 * index + 2; i++) {
        const batch_window *one = &host.lost[i];
        ck_assert_uint_eq(one->start_ms, start_ms);
        ck_assert_uint_eq(one->start_ms + one->length_ms, end_ms);
        ck_assert_uint_eq(one->covered_ms, 0);
        ck_assert_uint_eq(one->reason, reason);
        ck_assert_uint_eq(one->part.source, i % 2 == 0 ? PROFILE_SOURCE_CPU : PROFILE_SOURCE_ALLOC);
    }
}

START_TEST(what_a_lost_session_had_not_handed_over_is_told)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.window_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 21000);
    host.window_reason = REASON_NONE; /* and the session is a new one */
    run_to(NOON + 62000);
    assert_lost(0, NOON + 10000, NOON + 30000, REASON_ATTACH_TIMEOUT);
    ck_assert_uint_eq(host.lost_count, 2);
    ck_assert_uint_eq(collector_get_stats(core).windows_lost, 1);
}
END_TEST

START_TEST(time_without_a_session_is_told_up_to_midnight_and_after)
{
    uint64_t midnight = NOON + 12 * 3600000;
    host.now = midnight - 13000;
    add_rule("Shop", false, 0);
    host.start_reason = REASON_NO_EXEC_DIR;
    run_to(midnight + 50000);
    host.start_reason = REASON_NONE;
    run_to(midnight + 200000);
    uint64_t at = host.lost[0].start_ms;
    ck_assert_uint_lt(at, midnight);
    for (size_t i = 0; i < host.lost_count; i += 2) {
        assert_lost(i / 2, at, at + host.lost[i].length_ms, REASON_NO_EXEC_DIR);
        at += host.lost[i].length_ms;
        ck_assert(at == midnight || (host.lost[i].start_ms < midnight) == (at < midnight));
    }
    ck_assert_uint_eq(at % WINDOW, 0); /* where the first window begins */
    ck_assert_uint_gt(at, midnight + 50000);
}
END_TEST

START_TEST(what_a_jvm_did_before_its_end_is_told_as_lost)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.jvm_count = 0;
    run_to(NOON + 18500);
    ck_assert_uint_eq(host.lost_count, 2);
    assert_lost(0, NOON + 10000, host.lost[0].start_ms + host.lost[0].length_ms,
                REASON_PROCESS_EXITED);
}
END_TEST

START_TEST(without_attachd_targets_say_so_and_come_back)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 12000);
    host.unreachable = true;
    run_to(NOON + 32000);
    target_status status = status_of(1);
    ck_assert_uint_eq(status.reason, REASON_ATTACHD_UNREACHABLE);
    ck_assert_str_eq(status.detail, "nobody listens");
    ck_assert(!collector_get_stats(core).attachd_reachable);
    host.unreachable = false;
    host.session = SESSION_STATE_ADOPTED;
    run_to(NOON + 52000);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(host.starts, 2);
}
END_TEST

START_TEST(a_verdict_is_told_and_not_tried)
{
    add_rule("Shop", false, 0);
    host.jvms[0].verdict = REASON_ATTACH_DISABLED;
    host.jvms[1] = sample_jvm(2);
    host.jvms[1].verdict = REASON_NOT_HOTSPOT;
    host.jvm_count = 2;
    run_to(NOON + 20000);
    ck_assert_uint_eq(host.starts, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_FAILED);
    ck_assert_uint_eq(status_of(1).reason, REASON_ATTACH_DISABLED);
    ck_assert_uint_eq(status_of(2).state, TARGET_STATE_UNSUPPORTED);
    host.jvms[0].verdict = REASON_NONE;
    run_to(NOON + 30000);
    ck_assert_uint_eq(host.starts, 1);
}
END_TEST

START_TEST(past_the_limit_jvms_wait_for_room)
{
    add_rule("Shop", false, 0);
    for (uint32_t i = 0; i < 3; i++)
        host.jvms[i] = sample_jvm(i + 1);
    host.jvm_count = 3;
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(status_of(3).reason, REASON_TARGET_LIMIT);
    host.jvms[0] = host.jvms[2];
    host.jvm_count = 2;
    run_to(NOON + 32000);
    ck_assert_uint_eq(status_of(3).state, TARGET_STATE_PROFILING);
    ck_assert_uint_eq(host.forgotten, 1);
    ck_assert_uint_eq(status_of(1).jvm.id.host_pid, 0);
}
END_TEST

START_TEST(the_end_takes_the_last_window_and_stops_the_session)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 14000);
    collector_finish(core, false, nothing, NULL);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(host.span_count, 2);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.queued_windows, 4);
    ck_assert_uint_eq(collector_tick(core), UINT64_MAX);
}
END_TEST

START_TEST(the_end_may_leave_the_session_running)
{
    add_rule("Shop", false, 0);
    run_to(NOON + 14000);
    collector_finish(core, true, nothing, NULL);
    ck_assert_uint_eq(host.stops, 0);
    ck_assert_uint_eq(host.windows, 1); /* the one under way is the next collector's */
    ck_assert_uint_eq(host.span_count, 1);
    ck_assert_uint_eq(host.queued_windows, 2);
}
END_TEST

static void set_decision(policy_mode mode, uint32_t reason, const event_intervals *events)
{
    host.in_pod = true;
    host.decision = (policy_decision){.mode = mode, .reason = reason, .events = *events};
    collector_policy_changed(core);
}

static const event_intervals cpu_only = {{[EVENT_CPU] = 10000000}};
static const event_intervals cpu_and_locks = {{[EVENT_CPU] = 10000000, [EVENT_LOCK] = 1000}};

START_TEST(a_pod_switches_sessions_on_and_off)
{
    set_decision(POLICY_OFF, REASON_DISABLED, &cpu_only);
    run_to(NOON + 5000);
    ck_assert_uint_eq(host.starts, 0);
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_OFF);
    ck_assert_str_eq(status_of(1).labels.pod, "web-1");
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 5001); /* at once, not at the next look at the host */
    ck_assert_uint_eq(host.starts, 1);
    run_to(NOON + 12000);
    set_decision(POLICY_OFF, REASON_SWITCHED_OFF, &cpu_only);
    run_to(NOON + 12001);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(host.span_count, 2); /* the last window is taken */
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_OFF);
    ck_assert_uint_eq(status_of(1).reason, REASON_SWITCHED_OFF);
    run_to(NOON + 60000);
    ck_assert_uint_eq(host.starts, 1);
}
END_TEST

START_TEST(other_events_begin_a_session_anew)
{
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 5000);
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 6000);
    ck_assert_uint_eq(host.stops, 0);
    set_decision(POLICY_CONTINUOUS, 0, &cpu_and_locks);
    run_to(NOON + 6001);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(host.starts, 2);
    ck_assert_uint_eq(host.last_start.events.of[EVENT_LOCK], 1000);
}
END_TEST

START_TEST(a_temporary_ends_by_the_clock)
{
    set_decision(POLICY_TEMPORARY, 0, &cpu_only);
    host.decision.until_ms = NOON + 7000;
    run_to(NOON + 6999);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_TEMPORARY);
    ck_assert_uint_eq(status_of(1).until_ms, NOON + 7000);
    ck_assert_uint_eq(status_of(1).last_length_ms, 0);
    host.decision = (policy_decision){.mode = POLICY_OFF, .reason = REASON_EXPIRED};
    run_to(NOON + 7000);
    ck_assert_uint_eq(host.stops, 1);
    ck_assert_uint_eq(status_of(1).reason, REASON_EXPIRED);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_OFF);
    ck_assert_uint_eq(status_of(1).until_ms, 0);
}
END_TEST

START_TEST(another_end_is_told_at_once)
{
    set_decision(POLICY_TEMPORARY, 0, &cpu_only);
    host.decision.until_ms = NOON + 60000;
    run_to(NOON + 5000);
    unsigned changes = host.status_changes;
    collector_policy_changed(core);
    run_to(NOON + 5001);
    ck_assert_uint_eq(host.status_changes, changes);
    host.decision.until_ms = NOON + 90000;
    collector_policy_changed(core);
    run_to(NOON + 5002);
    ck_assert_uint_eq(host.status_changes, changes + 1);
    ck_assert_uint_eq(status_of(1).until_ms, NOON + 90000);
}
END_TEST

START_TEST(a_pod_sets_the_length_of_windows_and_how_often_threads_are_looked_at)
{
    set_decision(POLICY_CONTINUOUS, 0, &cpu_only);
    run_to(NOON + 12000);
    ck_assert_uint_eq(host.spans[0].length_ms, WINDOW);
    ck_assert_uint_eq(host.snapshots, 0);
    host.decision.interval_ms = 2000;
    host.decision.threads_interval_ms = 1000;
    host.decision.contention_monitoring = true;
    collector_policy_changed(core);
    run_to(NOON + 18500);
    ck_assert_uint_eq(host.span_count, 4);
    ck_assert_uint_eq(host.spans[1].start_ms, NOON + 10000);
    ck_assert_uint_eq(host.spans[2].start_ms, NOON + 14000);
    ck_assert_uint_eq(host.spans[3].start_ms, NOON + 16000);
    for (size_t i = 1; i < 4; i++) /* the first is up to a border of the new length */
        ck_assert_uint_eq(host.spans[i].length_ms, i == 1 ? 4000 : 2000);
    ck_assert_uint_ge(host.snapshots, 6);
    ck_assert(host.contention);
    host.decision.interval_ms = WINDOW;
    collector_policy_changed(core);
    run_to(NOON + 30500);
    ck_assert_uint_eq(host.spans[4].start_ms, NOON + 18000);
    ck_assert_uint_eq(host.spans[4].length_ms, 2000);
    ck_assert_uint_eq(host.spans[5].length_ms, WINDOW);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_uint_eq(host.stops, 0);
}
END_TEST

START_TEST(rules_serve_pods_that_ask_for_nothing)
{
    add_rule("Shop", false, 0);
    set_decision(POLICY_OFF, REASON_POD_UNKNOWN, &cpu_only);
    run_to(NOON + 5000);
    ck_assert_uint_eq(host.starts, 0); /* not a guess where the pod is not known */
    ck_assert_uint_eq(status_of(1).state, TARGET_STATE_UNKNOWN);
    ck_assert_uint_eq(status_of(1).mode, TARGET_MODE_UNKNOWN);
    ck_assert_uint_eq(collector_get_stats(core).unknown_pods, 1);
    set_decision(POLICY_OFF, REASON_DISABLED, &cpu_only);
    run_to(NOON + 5001);
    ck_assert_uint_eq(host.starts, 1);
    ck_assert_str_eq(status_of(1).labels.workload, "web");
    set_decision(POLICY_OFF, REASON_SWITCHED_OFF, &cpu_only);
    run_to(NOON + 5002);
    ck_assert_uint_eq(host.stops, 1);
}
END_TEST

TCase *session_tests(void)
{
    TCase *tests = tcase_create("sessions");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_chosen_jvm_gives_aligned_windows);
    tcase_add_test(tests, events_that_the_profiler_dropped_are_told);
    tcase_add_test(tests, what_attachd_lacks_and_workers_that_hang_are_counted);
    tcase_add_test(tests, an_event_that_the_profiler_refuses_has_no_data_and_a_reason);
    tcase_add_test(tests, windows_of_several_jvms_share_a_batch);
    tcase_add_test(tests, windows_end_at_midnight_and_days_do_not_mix);
    tcase_add_test(tests, snapshots_are_taken_beside_windows);
    tcase_add_test(tests, a_snapshot_that_fails_is_queued_with_its_reason);
    tcase_add_test(tests, other_rules_are_in_force_at_once);
    tcase_add_test(tests, nobody_is_profiled_without_being_asked);
    tcase_add_test(tests, a_jvm_that_tells_its_class_late_is_chosen_then);
    tcase_add_test(tests, a_young_jvm_warms_up_first);
    tcase_add_test(tests, a_failed_start_cools_down_longer_and_longer_and_keeps_its_reason);
    tcase_add_test(tests, a_failed_parse_costs_one_window_and_says_so);
    tcase_add_test(tests, a_lost_answer_is_asked_for_again_under_the_same_id);
    tcase_add_test(tests, a_window_that_failed_is_made_up_for_when_the_session_is_adopted);
    tcase_add_test(tests, an_adopted_session_brings_what_was_recorded_before);
    tcase_add_test(tests, what_a_lost_session_had_not_handed_over_is_told);
    tcase_add_test(tests, time_without_a_session_is_told_up_to_midnight_and_after);
    tcase_add_test(tests, what_a_jvm_did_before_its_end_is_told_as_lost);
    tcase_add_test(tests, without_attachd_targets_say_so_and_come_back);
    tcase_add_test(tests, a_verdict_is_told_and_not_tried);
    tcase_add_test(tests, past_the_limit_jvms_wait_for_room);
    tcase_add_test(tests, the_end_takes_the_last_window_and_stops_the_session);
    tcase_add_test(tests, the_end_may_leave_the_session_running);
    tcase_add_test(tests, a_pod_switches_sessions_on_and_off);
    tcase_add_test(tests, other_events_begin_a_session_anew);
    tcase_add_test(tests, a_temporary_ends_by_the_clock);
    tcase_add_test(tests, another_end_is_told_at_once);
    tcase_add_test(tests, a_pod_sets_the_length_of_windows_and_how_often_threads_are_looked_at);
    tcase_add_test(tests, rules_serve_pods_that_ask_for_nothing);
    return tests;
}
