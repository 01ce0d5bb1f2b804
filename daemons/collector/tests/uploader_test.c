/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the uploader with a fake backend whose answers the test sets. */
#include "../adapters/queue/file_queue.h"
#include "collector_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_MAX = 64 };

static struct {
    uint64_t now;
    int64_t set_ms;                   /* how far the clock that people can set is ahead */
    upload_answer script[SCRIPT_MAX]; /* to profile batches, in order; later ones are accepted */
    size_t scripted, used;
    bool down;            /* no connection at all */
    bool refused;         /* 401 */
    bool reports_put_off; /* status reports are, batches and heartbeats are not */
    uint64_t generation;
    unsigned profiles, statuses, beats;
    bool last_had_all;
    uint32_t last_attempt, first_attempt;
    uint64_t last_waited_ms;
    heartbeat first_beat, last_beat; /* the last one answered; the last one made */
    uint8_t stored[SCRIPT_MAX];      /* first byte of each accepted batch */
    uint8_t windows[SCRIPT_MAX];     /* its windows */
    size_t stored_count;
    char settled_code[64];
    unsigned settled;
    unsigned exits_reported;
    uint64_t report_interval_ms; /* sent with every answer; 0 = none */
} backend;

static const char *directory;
static queue *queued;
static uploader *uploads;

static uint64_t steady_ms(void *context)
{
    (void)context;
    return backend.now;
}

static uint64_t now_ms(void *context)
{
    return (uint64_t)((int64_t)steady_ms(context) + backend.set_ms);
}

static uint64_t random_number(void *context)
{
    static uint64_t state = 1;
    (void)context;
    return state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
}

static void log_line(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static void post(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                 upload_answer *out)
{
    (void)context;
    *out = (upload_answer){.outcome = UPLOAD_ACCEPTED,
                           .has_limits = true,
                           .report_interval_ms = backend.report_interval_ms};
    if (backend.down || backend.refused) {
        *out =
            (upload_answer){.refusal = backend.refused ? UPLOAD_UNAUTHORISED : UPLOAD_NOT_REFUSED};
        return;
    }
    backend.statuses += call == UPLOAD_STATUS;
    if (call == UPLOAD_STATUS && backend.reports_put_off)
        *out = (upload_answer){.outcome = UPLOAD_RETRY, .retry_after_ms = 5000};
    backend.beats += call == UPLOAD_HEARTBEAT;
    if (backend.beats == 1 && call == UPLOAD_HEARTBEAT)
        backend.first_beat = backend.last_beat;
    if (call != UPLOAD_PROFILES)
        return;
    backend.profiles++;
    if (backend.used < backend.scripted)
        *out = backend.script[backend.used++];
    if (out->outcome != UPLOAD_ACCEPTED || length < 2)
        return;
    if (memchr(backend.stored, bytes[0], backend.stored_count) != NULL) {
        out->outcome = UPLOAD_DUPLICATE;
        return;
    }
    backend.windows[backend.stored_count] = bytes[1];
    backend.stored[backend.stored_count++] = bytes[0];
}

static uint64_t token_generation(void *context)
{
    (void)context;
    return backend.generation;
}

/* The entries of these tests are texts: the id of a batch and its number of windows. */
static int encode(void *context, const batch *one, uint8_t **out, size_t *length)
{
    (void)context;
    *out = malloc(2);
    (*out)[0] = one->id[0];
    (*out)[1] = (uint8_t)one->window_count;
    *length = 2;
    return 0;
}

static int decode(void *context, const uint8_t *entry, size_t length, batch *out)
{
    (void)context;
    (void)length;
    sample_batch(out, entry[0], entry[1], 2);
    return 0;
}

static int pack_entry(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                      const entry_tries *tries, uint8_t **out, size_t *out_length)
{
    (void)context;
    backend.last_had_all = all_stacks;
    backend.last_attempt = tries->attempt;
    backend.last_waited_ms = tries->waited_ms;
    if (backend.first_attempt == 0)
        backend.first_attempt = tries->attempt;
    *out = malloc(length + 1);
    memcpy(*out, entry, length);
    *out_length = length;
    return 0;
}

static int note_stored(void *context, const uint8_t *entry, size_t length, entry_sums *sums)
{
    (void)context;
    (void)length;
    sums->id[0] = entry[0];
    sums->rows = 2;
    sums->of[PROFILE_SOURCE_CPU].raw_amount = 3;
    return 0;
}

static int encode_status(void *context, const status_report *report, uint8_t **out, size_t *length)
{
    (void)context;
    (void)report;
    *out = calloc(1, 1);
    *length = 1;
    return 0;
}

static int encode_heartbeat(void *context, const heartbeat *beat, uint8_t **out, size_t *length)
{
    (void)context;
    backend.last_beat = *beat;
    *out = calloc(1, 1);
    *length = 1;
    return 0;
}

static void snapshot(void *context, status_report *out)
{
    (void)context;
    *out = (status_report){.count = 3, .exited = 1};
}

static void reported(void *context, const status_report *report)
{
    (void)context;
    backend.exits_reported += report->exited;
}

static void settled(void *context, const entry_sums *sums, const char *code)
{
    (void)context;
    (void)sums;
    backend.settled++;
    (void)snprintf(backend.settled_code, sizeof(backend.settled_code), "%s",
                   code != NULL ? code : "");
}

static void start_uploads(void)
{
    const uploader_ports ports = {
        .now_ms = now_ms,
        .steady_ms = steady_ms,
        .random = random_number,
        .log = log_line,
        .post = post,
        .token_generation = token_generation,
        .encode = encode,
        .decode = decode,
        .pack_entry = pack_entry,
        .note_stored = note_stored,
        .encode_status = encode_status,
        .encode_heartbeat = encode_heartbeat,
        .snapshot = snapshot,
        .reported = reported,
        .settled = settled,
    };
    const uploader_options options = {.backoff_min_ms = 1000,
                                      .backoff_max_ms = 60000,
                                      .status_interval_ms = 60000,
                                      .status_gap_ms = 1000,
                                      .heartbeat_interval_ms = 30000};
    uploads = uploader_new(&ports, &options, queued);
}

static void start_collector(uint64_t max_bytes, uint64_t max_entries)
{
    char message[256] = "";
    ck_assert_int_eq(
        file_queue_open(&queued, directory, max_bytes, max_entries, message, sizeof(message)), 0);
    start_uploads();
}

static void end_collector(void)
{
    uploader_free(uploads);
    file_queue_close(queued);
}

static void set_up(void)
{
    memset(&backend, 0, sizeof(backend));
    backend.now = NOON;
    directory = make_directory();
    start_collector(100000, 100);
}

static void tear_down(void)
{
    end_collector();
    remove_directory();
}

static void push(uint8_t id, uint8_t windows)
{
    const uint8_t entry[2] = {id, windows};
    ck_assert_int_eq(queue_push(queued, QUEUE_PROFILES, entry, sizeof(entry), NULL), 0);
}

/* Calls steps for that long, each at the time that the one before returned. */
static void run_for(uint64_t ms)
{
    uint64_t until = backend.now + ms;
    unsigned steps = 0;
    for (;;) {
        uint64_t next = uploader_step(uploads);
        ck_assert_uint_lt(++steps, 100000);
        if (next > until)
            break;
        if (next > backend.now)
            backend.now = next;
    }
    backend.now = until;
}

static void script(upload_answer answer)
{
    backend.script[backend.scripted++] = answer;
}

START_TEST(batches_go_oldest_first_with_status_and_heartbeat)
{
    push(1, 1);
    push(2, 1);
    run_for(3000);
    ck_assert_uint_eq(backend.stored_count, 2);
    ck_assert_uint_eq(backend.stored[0], 1);
    ck_assert_uint_eq(backend.statuses, 1);
    ck_assert_uint_eq(backend.beats, 1);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 0);
    uploader_stats stats = uploader_get_stats(uploads);
    ck_assert_uint_eq(stats.accepted, 2);
    ck_assert_uint_eq(stats.sent[PROFILE_SOURCE_CPU].raw_amount, 6);
    run_for(120000);
    ck_assert_uint_ge(backend.beats, 4);
    ck_assert_uint_ge(backend.statuses, 2);
}
END_TEST

START_TEST(batches_go_while_the_backend_takes_no_status)
{
    backend.reports_put_off = true;
    push(1, 1);
    push(2, 1);
    run_for(60000);
    ck_assert_uint_eq(backend.stored_count, 2);
    ck_assert_uint_ge(backend.statuses, 3);
}
END_TEST

START_TEST(a_change_of_status_is_reported_soon_but_not_at_once_again)
{
    run_for(5000);
    unsigned before = backend.statuses;
    uploader_status_changed(uploads);
    run_for(10);
    uploader_status_changed(uploads);
    run_for(10);
    ck_assert_uint_eq(backend.statuses, before + 1);
    run_for(2000);
    ck_assert_uint_eq(backend.statuses, before + 2);
}
END_TEST

static const struct {
    uint64_t told_ms;
    unsigned least, most; /* of each kind, in two minutes */
} paces[] = {{0, 2, 5}, {300000, 2, 5}, {5000, 23, 26}};

START_TEST(reports_come_as_often_as_the_backend_needs_them)
{
    backend.report_interval_ms = paces[_i].told_ms;
    run_for(120000);
    ck_assert_uint_ge(backend.statuses, paces[_i].least);
    ck_assert_uint_le(backend.statuses, paces[_i].most);
    ck_assert_uint_ge(backend.beats, paces[_i].least);
    ck_assert_uint_le(backend.beats, paces[_i].most);
}
END_TEST

START_TEST(the_end_of_a_jvm_is_told_until_a_report_of_it_is_taken)
{
    backend.down = true;
    run_for(5000);
    ck_assert_uint_eq(backend.exits_reported, 0);
    backend.down = false;
    run_for(62000);
    ck_assert_uint_gt(backend.exits_reported, 0);
    ck_assert_uint_eq(backend.exits_reported, backend.statuses);
    ck_assert_uint_eq(backend.last_beat.jvms_seen, 2); /* of three in the report */
}
END_TEST

START_TEST(a_backend_down_for_two_minutes_loses_nothing)
{
    backend.down = true;
    for (uint8_t id = 1; id <= 12; id++) {
        push(id, 1);
        run_for(10000);
    }
    ck_assert_uint_eq(backend.stored_count, 0);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 12);
    uint64_t failed = uploader_get_stats(uploads).failed_calls;
    ck_assert_uint_gt(failed, 3);
    ck_assert_uint_lt(failed, 20);         /* the wait grows */
    ck_assert(uploader_has_work(uploads)); /* at the end, too, it tries for a while */
    backend.down = false;
    run_for(62000);
    ck_assert_uint_eq(backend.stored_count, 12);
    for (uint8_t id = 1; id <= 12; id++)
        ck_assert_uint_eq(backend.stored[id - 1], id);
}
END_TEST

START_TEST(the_same_entry_is_sent_again_after_a_retry_when_the_backend_asked)
{
    run_for(2000); /* the first status and heartbeat have been sent */
    push(5, 1);
    script((upload_answer){.outcome = UPLOAD_RETRY, .code = "store_busy", .retry_after_ms = 20000});
    uint64_t began = backend.now;
    run_for(19000);
    ck_assert_uint_eq(backend.profiles, 1);
    ck_assert(uploader_has_work(uploads));
    while (backend.profiles < 2)
        run_for(10);
    ck_assert_uint_ge(backend.now - began, 20000);
    ck_assert_uint_eq(backend.stored[0], 5);
    ck_assert_uint_eq(backend.last_attempt, 2);
    ck_assert_uint_ge(backend.last_waited_ms, 20000);
    ck_assert_uint_eq(uploader_get_stats(uploads).retried, 1);
    push(6, 1);
    run_for(3000);
    ck_assert_uint_eq(backend.stored[1], 6);
    ck_assert_uint_eq(backend.last_attempt, 1);
    ck_assert_uint_eq(backend.last_waited_ms, 0);
}
END_TEST

START_TEST(a_heartbeat_tells_what_was_lost_until_it_is_answered)
{
    run_for(5000);
    ck_assert_uint_eq(backend.last_beat.last_success_ms, 0);
    push(5, 1);
    push(6, 1);
    script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "window_too_old"});
    run_for(31000);
    ck_assert_uint_eq(backend.stored_count, 1);
    const queue_drops *told = &backend.last_beat.queued.drops[DROP_REJECTED];
    ck_assert_uint_eq(told->entries, 1);
    ck_assert_uint_ne(told->oldest_ms, 0);
    ck_assert_uint_eq(backend.last_beat.started_ms, NOON);
    ck_assert_uint_ge(backend.last_beat.last_success_ms, NOON + 5000);
    ck_assert_uint_eq(backend.last_beat.queued.pushed, 2);
    run_for(31000);
    ck_assert_uint_eq(told->entries, 1);
    ck_assert_uint_eq(told->oldest_ms, 0);
}
END_TEST

START_TEST(what_an_earlier_process_left_may_have_been_sent)
{
    push(5, 1);
    uploader_free(uploads);
    start_uploads();
    push(6, 1);
    run_for(3000);
    ck_assert_uint_eq(backend.stored[0], 5);
    ck_assert_uint_eq(backend.first_attempt, 2);
    ck_assert_uint_eq(backend.stored[1], 6);
    ck_assert_uint_eq(backend.last_attempt, 1);
}
END_TEST

START_TEST(a_duplicate_is_success)
{
    push(5, 1);
    script((upload_answer){.outcome = UPLOAD_DUPLICATE});
    run_for(3000);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 0);
    ck_assert_uint_eq(uploader_get_stats(uploads).duplicate, 1);
    ck_assert_uint_eq(backend.settled, 1);
    ck_assert_str_eq(backend.settled_code, "");
}
END_TEST

START_TEST(need_stacks_is_answered_with_all_of_them)
{
    push(5, 1);
    script((upload_answer){.outcome = UPLOAD_NEED_STACKS});
    run_for(3000);
    ck_assert_uint_eq(backend.profiles, 2);
    ck_assert(backend.last_had_all);
    ck_assert_uint_eq(backend.last_attempt, 1); /* nothing had been stored */
    ck_assert_uint_eq(backend.stored_count, 1);
    push(6, 1);
    run_for(1100);
    ck_assert(!backend.last_had_all);
}
END_TEST

START_TEST(a_backend_that_asks_for_stacks_for_ever_is_not_hammered)
{
    push(5, 1);
    for (int i = 0; i < 40; i++)
        script((upload_answer){.outcome = UPLOAD_NEED_STACKS});
    run_for(10000);
    ck_assert_uint_lt(backend.profiles, 15);
}
END_TEST

START_TEST(a_rejected_batch_is_dropped_and_counted)
{
    push(5, 1);
    push(6, 1);
    script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "window_too_old"});
    run_for(3000);
    ck_assert_uint_eq(uploader_get_stats(uploads).rejected, 1);
    ck_assert_uint_eq(backend.stored_count, 1);
    ck_assert_uint_eq(backend.stored[0], 6);
}
END_TEST

START_TEST(too_large_is_split_into_new_batches)
{
    push(5, 4);
    script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "payload_too_large"});
    script((upload_answer){.refusal = UPLOAD_TOO_LARGE}); /* a proxy's message */
    run_for(3000);
    ck_assert_uint_eq(uploader_get_stats(uploads).split, 2);
    run_for(5000);
    ck_assert_uint_eq(backend.stored_count, 3);
    ck_assert_uint_eq(uploader_get_stats(uploads).rejected, 0);
    push(7, 1); /* one window cannot be split */
    script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "too_many_rows"});
    run_for(3000);
    ck_assert_uint_eq(uploader_get_stats(uploads).rejected, 1);
}
END_TEST

static unsigned stored_windows(void)
{
    unsigned windows = 0;
    for (size_t i = 0; i < backend.stored_count; i++)
        windows += backend.windows[i];
    return windows;
}

START_TEST(a_full_queue_loses_nothing_when_its_batches_are_split)
{
    end_collector();
    start_collector(6, 3);
    for (uint8_t id = 1; id <= 3; id++) {
        push(id, 4);
        script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "payload_too_large"});
        script((upload_answer){.outcome = UPLOAD_ACCEPTED}); /* its first half, which comes next */
    }
    run_for(10000);
    queue_stats stats = queue_get_stats(queued);
    ck_assert_uint_eq(queue_dropped(&stats), 0);
    ck_assert_uint_eq(stats.entries, 0);
    ck_assert_uint_eq(stats.bytes, 0);
    ck_assert_uint_eq(uploader_get_stats(uploads).split, 3);
    ck_assert_uint_eq(stored_windows(), 12);
}
END_TEST

/* Uses the directory that a collector leaves when it is killed between the two files of a split. */
START_TEST(a_split_that_a_kill_interrupts_doubles_nothing)
{
    char whole[128], kept[128];
    (void)snprintf(whole, sizeof(whole), "%s/0000000000000001.profiles", directory);
    (void)snprintf(kept, sizeof(kept), "%s/kept", directory);
    push(5, 4);
    ck_assert_int_eq(link(whole, kept), 0);
    script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "payload_too_large"});
    while (uploader_get_stats(uploads).split == 0)
        (void)uploader_step(uploads);
    ck_assert_uint_eq(backend.stored_count, 0);
    end_collector();
    ck_assert_int_eq(rename(kept, whole), 0);
    start_collector(100000, 100);
    script((upload_answer){.outcome = UPLOAD_REJECTED, .code = "payload_too_large"});
    run_for(10000);
    ck_assert_uint_eq(stored_windows(), 4);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 0);
}
END_TEST

START_TEST(a_refused_token_stops_uploads_until_it_changes)
{
    push(5, 1);
    backend.refused = true;
    run_for(100000);
    uploader_stats stats = uploader_get_stats(uploads);
    ck_assert(stats.blocked);
    ck_assert_uint_eq(stats.failed_calls, 1);
    ck_assert_uint_eq(queue_get_stats(queued).entries, 1);
    ck_assert(!uploader_has_work(uploads));
    backend.refused = false;
    run_for(10000);
    ck_assert_uint_eq(backend.stored_count, 0);
    backend.generation++;
    run_for(3000);
    ck_assert_uint_eq(backend.stored_count, 1);
    ck_assert(!uploader_get_stats(uploads).blocked);
}
END_TEST

static const int64_t jumps[] = {-1, 1};

START_TEST(a_clock_that_is_set_stops_no_call)
{
    upload_answer busy = {.outcome = UPLOAD_RETRY, .retry_after_ms = 4000};
    run_for(35000);
    unsigned beats = backend.beats, statuses = backend.statuses;
    script(busy);
    push(1, 1);
    run_for(1000);
    ck_assert_uint_eq(backend.profiles, 1);
    backend.set_ms = jumps[_i] * (int64_t)MS_PER_DAY;
    run_for(2000);
    ck_assert_uint_eq(backend.profiles, 1); /* it waits as long as the backend asked */
    run_for(5000);
    ck_assert_uint_eq(backend.stored_count, 1);
    ck_assert_uint_lt(backend.last_waited_ms, 10000);
    run_for(120000);
    ck_assert_uint_ge(backend.beats, beats + 3);
    ck_assert_uint_le(backend.beats, beats + 5);
    ck_assert_uint_ge(backend.statuses, statuses + 1);
    ck_assert_uint_gt(backend.last_beat.sent_ms, now_ms(NULL) - 60000);
    backend.set_ms = 0;
    push(2, 1);
    run_for(120000);
    ck_assert_uint_eq(backend.stored_count, 2);
    ck_assert_uint_ge(backend.beats, beats + 6);
}
END_TEST

START_TEST(an_outage_beyond_the_cap_costs_the_oldest_which_are_told)
{
    enum { CAP = 10, BATCHES = 25 };
    end_collector();
    start_collector(100000, CAP);
    backend.down = true;
    push(1, 1);
    uint64_t first_ms = queue_get_stats(queued).oldest_ms;
    for (unsigned i = 2; i <= BATCHES; i++) {
        push((uint8_t)i, 1);
        run_for(60000);
    }
    ck_assert_uint_eq(backend.stored_count, 0);
    backend.down = false;
    run_for(120000);
    queue_stats stats = queue_get_stats(queued);
    ck_assert_uint_eq(stats.entries, 0);
    ck_assert_uint_eq(backend.stored_count, CAP);
    for (unsigned i = 0; i < CAP; i++)
        ck_assert_uint_eq(backend.stored[i], BATCHES - CAP + 1 + i);
    ck_assert_uint_eq(backend.first_beat.queued.drops[DROP_QUEUE_FULL].entries, BATCHES - CAP);
    ck_assert_uint_eq(backend.first_beat.queued.drops[DROP_QUEUE_FULL].oldest_ms, first_ms);
    ck_assert_uint_eq(queue_dropped(&stats) + backend.stored_count, BATCHES);
    ck_assert_uint_eq(stats.pushed, BATCHES);
}
END_TEST

TCase *uploader_tests(void)
{
    TCase *tests = tcase_create("uploader");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, batches_go_oldest_first_with_status_and_heartbeat);
    tcase_add_test(tests, batches_go_while_the_backend_takes_no_status);
    tcase_add_test(tests, a_change_of_status_is_reported_soon_but_not_at_once_again);
    tcase_add_loop_test(tests, reports_come_as_often_as_the_backend_needs_them, 0,
                        sizeof(paces) / sizeof(paces[0]));
    tcase_add_test(tests, the_end_of_a_jvm_is_told_until_a_report_of_it_is_taken);
    tcase_add_test(tests, a_backend_down_for_two_minutes_loses_nothing);
    tcase_add_loop_test(tests, a_clock_that_is_set_stops_no_call, 0,
                        sizeof(jumps) / sizeof(jumps[0]));
    tcase_add_test(tests, an_outage_beyond_the_cap_costs_the_oldest_which_are_told);
    tcase_add_test(tests, the_same_entry_is_sent_again_after_a_retry_when_the_backend_asked);
    tcase_add_test(tests, a_heartbeat_tells_what_was_lost_until_it_is_answered);
    tcase_add_test(tests, what_an_earlier_process_left_may_have_been_sent);
    tcase_add_test(tests, a_duplicate_is_success);
    tcase_add_test(tests, need_stacks_is_answered_with_all_of_them);
    tcase_add_test(tests, a_backend_that_asks_for_stacks_for_ever_is_not_hammered);
    tcase_add_test(tests, a_rejected_batch_is_dropped_and_counted);
    tcase_add_test(tests, too_large_is_split_into_new_batches);
    tcase_add_test(tests, a_full_queue_loses_nothing_when_its_batches_are_split);
    tcase_add_test(tests, a_split_that_a_kill_interrupts_doubles_nothing);
    tcase_add_test(tests, a_refused_token_stops_uploads_until_it_changes);
    return tests;
}
