/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the use cases of ingest with a fake store. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest.h"
#include "run_suite.h"
#include "sample_batch.h"
#include "stored_size.h"

enum { FLUSHED_MAX = 64, ROWS = 32, LATE_MS = 6000 };

/* A store in memory: the calls that it received, and the answers that it gives. */
typedef struct fake {
    ledger_entry ledger;
    bool known;     /* every stack asked for */
    int find_fails; /* error codes of the store */
    int write_fails;
    unsigned finds, asked_ids, writes;
    size_t written_stacks, written_services;
    bool queue_full;
    size_t reported, beats, flushed_count;
    refusal flushed[FLUSHED_MAX];
    uint64_t collectors;
    uint64_t passed_ms;         /* of the clock */
    void (*during_find)(void);  /* called once, while the backend reads the ledger */
    void (*during_flush)(void); /* called while the backend writes reports */
    verdict other;
} fake;

static int refuse_with(store_error *err, int code)
{
    err->code = code;
    strcpy(err->message, "as told");
    return code;
}

static int find_batch(void *self, const uint8_t id[16], ledger_entry *out, store_error *err)
{
    fake *f = self;

    (void)id;
    f->finds++;
    *out = f->ledger;
    void (*during_find)(void) = f->during_find;
    f->during_find = NULL;
    if (during_find != NULL)
        during_find();
    return f->find_fails != 0 ? refuse_with(err, f->find_fails) : 0;
}

static int find_stacks(void *self, const service_key *service, uint32_t day,
                       const uint8_t *const *ids, size_t count, bool *known, store_error *err)
{
    fake *f = self;

    (void)ids, (void)err;
    ck_assert_uint_eq(day, SAMPLE_DAY);
    ck_assert(text_equal(service->cluster, text_of("east")));
    f->asked_ids += (unsigned)count;
    for (size_t i = 0; i < count; i++)
        known[i] = f->known;
    return 0;
}

static int write_batch(void *self, const batch_write *w, store_error *err)
{
    fake *f = self;

    f->writes++;
    f->written_stacks = w->stack_count;
    f->written_services = w->service_count;
    return f->write_fails != 0 ? refuse_with(err, f->write_fails) : 0;
}

static int add_status(void *self, const status_batch *report, store_error *err)
{
    fake *f = self;

    f->reported += report->targets.workload.count;
    return f->write_fails != 0 ? refuse_with(err, f->write_fails) : 0;
}

static int add_heartbeat(void *self, const heartbeat *beat, uint64_t received_ms, store_error *err)
{
    fake *f = self;

    (void)beat;
    ck_assert_uint_eq(received_ms, SAMPLE_NOW_MS + f->passed_ms);
    f->beats++;
    return f->write_fails != 0 ? refuse_with(err, f->write_fails) : 0;
}

static int flush(void *self, const refusal *refused, size_t count, store_error *err)
{
    fake *f = self;

    if (f->during_flush != NULL)
        f->during_flush();
    f->flushed_count = count;
    for (size_t i = 0; i < count && i < FLUSHED_MAX; i++)
        f->flushed[i] = refused[i];
    return f->write_fails != 0 ? refuse_with(err, f->write_fails) : 0;
}

static int count_collectors(void *self, uint64_t since_ms, uint64_t *count, store_error *err)
{
    (void)err;
    fake *f = self;

    ck_assert_uint_eq(since_ms, SAMPLE_NOW_MS + f->passed_ms - 180000);
    *count = f->collectors;
    return 0;
}

static int run_now(void *self, void (*job)(void *arg), void *arg)
{
    if (((fake *)self)->queue_full)
        return -1;
    job(arg);
    return 0;
}

static fake f;

static uint64_t now(void *clock)
{
    (void)clock;
    return SAMPLE_NOW_MS + f.passed_ms;
}

static const batch_port batches = {find_batch, find_stacks, write_batch};
static const report_port report_rows = {add_status, add_heartbeat, flush, count_collectors};
static const writer_ops writer = {run_now};
static const scope all_clusters;
static const ingest_sender everything = {"token", &all_clusters};
static reports gathered;
static in_flight flights = {.lock = PTHREAD_MUTEX_INITIALIZER};
static ingest in;
static sample_batch s;
static verdict v;

static void set_up(void)
{
    f = (fake){.known = false};
    const store ports = {.batches = &batches, .reports = &report_rows, .self = &f};
    const reports_options options = {.store = ports,
                                     .refused_rows = ROWS,
                                     .flush_interval_ms = 60000,
                                     .batches_per_second = 5,
                                     .silent_ms = 180000,
                                     .late_ms = LATE_MS,
                                     .now_ms = now};
    ck_assert_int_eq(reports_init(&gathered, &options), 0);
    in = (ingest){.store = ports,
                  .reports = &gathered,
                  .writer = &writer,
                  .writer_self = &f,
                  .flights = &flights,
                  .limits = LIMITS_INIT,
                  .now_ms = now};
    v = (verdict){.code = ""};
    sample_batch_make(&s);
}

static void tear_down(void)
{
    verdict_clear(&v);
    profile_batch_clear(&s.batch);
    reports_destroy(&gathered);
}

static void drop_dictionary(void)
{
    s.batch.stacks = (stack_dictionary){.stack_ids = {NULL, 0}};
}

/* Ingests the same batch again, as a collector sends it that relies on the backend to know its
 * stacks. */
static void ingest_without_dictionary(void)
{
    verdict_clear(&v);
    profile_batch_clear(&s.batch);
    sample_batch_make(&s);
    drop_dictionary();
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
}

/* Stacks that were stored, or found in the store, are not asked for again. */
START_TEST(test_known_stacks_are_remembered)
{
    const bool brought = _i == 0;
    in.known = known_stacks_new(100, 60000);
    if (!brought)
        drop_dictionary();
    f.known = true;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
    ck_assert_uint_eq(f.asked_ids, brought ? 0 : 3);
    f.known = false; /* from here on the store knows no stack */
    ingest_without_dictionary();
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
    ck_assert_uint_eq(f.asked_ids, brought ? 0 : 3);
    ck_assert_uint_eq(known_stacks_read(in.known).stacks, 3);
    known_stacks_free(in.known);
}
END_TEST

START_TEST(test_unknown_stacks_are_asked_for_again)
{
    in.known = known_stacks_new(100, 60000);
    ingest_without_dictionary();
    ck_assert_int_eq(v.outcome, OUTCOME_NEED_STACKS);
    ingest_without_dictionary();
    ck_assert_int_eq(v.outcome, OUTCOME_NEED_STACKS);
    ck_assert_uint_eq(f.asked_ids, 6);
    ck_assert_uint_eq(known_stacks_read(in.known).stacks, 0);
    known_stacks_free(in.known);
}
END_TEST

/* A store that failed may have lost its last writes. */
START_TEST(test_a_store_that_fails_is_asked_again)
{
    static const struct {
        int code;
        bool forgets;
    } rows[] = {
        {STORE_ERR_UNAVAILABLE, true},
        {STORE_ERR_TIMEOUT, true},
        {STORE_ERR_FAILED, true},
        {STORE_ERR_BUSY, false},
    };
    in.known = known_stacks_new(100, 60000);
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
    f.write_fails = rows[_i].code;
    ingest_without_dictionary();
    ck_assert_int_eq(v.outcome, OUTCOME_RETRY);
    f.write_fails = 0;
    ingest_without_dictionary();
    ck_assert_int_eq(v.outcome, rows[_i].forgets ? OUTCOME_NEED_STACKS : OUTCOME_ACCEPTED);
    known_stacks_free(in.known);
}
END_TEST

START_TEST(test_accepted)
{
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
    ck_assert_uint_eq(v.rows, SAMPLE_ROWS);
    ck_assert_uint_eq(f.writes, 1);
    ck_assert_uint_eq(f.asked_ids, 0);
    /* shop uses stacks 0 and 1, bank uses 2: three rows, although one workload could use all. */
    ck_assert_uint_eq(f.written_services, 2);
    ck_assert_uint_eq(f.written_stacks, 3);
}
END_TEST

static void send_again(void)
{
    f.other = (verdict){.code = ""};
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &f.other));
}

START_TEST(test_a_batch_that_is_being_stored_is_put_off)
{
    f.during_find = send_again;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
    ck_assert_int_eq(f.other.outcome, OUTCOME_RETRY);
    ck_assert_str_eq(f.other.code, "store_busy");
    ck_assert_uint_eq(flights.count, 0);
    ck_assert_uint_eq(f.finds, 1);
}
END_TEST

START_TEST(test_duplicate)
{
    f.ledger.found = true;
    memcpy(f.ledger.digest, s.digest, 16);
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_DUPLICATE);
    ck_assert_uint_eq(f.writes, 0);
}
END_TEST

START_TEST(test_reused_id)
{
    f.ledger.found = true;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_REJECTED);
    ck_assert_str_eq(v.code, "batch_id_reused");
    ck_assert_uint_eq(f.writes, 0);
}
END_TEST

START_TEST(test_need_stacks)
{
    drop_dictionary();
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_NEED_STACKS);
    ck_assert_uint_eq(v.need_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(v.need[i], i);
    ck_assert_uint_eq(f.writes, 0);
}
END_TEST

START_TEST(test_a_stack_two_workloads_miss_is_named_once)
{
    drop_dictionary();
    s.row_stack[3] = 0;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_NEED_STACKS);
    ck_assert_uint_eq(f.asked_ids, 3);
    ck_assert_uint_eq(v.need_count, 2);
}
END_TEST

START_TEST(test_known_stacks_need_not_come)
{
    drop_dictionary();
    f.known = true;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
    ck_assert_uint_eq(f.written_stacks, 0);
}
END_TEST

static const struct {
    int store_code;
    const char *code;
} failures[] = {
    {STORE_ERR_UNAVAILABLE, "store_unavailable"},
    {STORE_ERR_TIMEOUT, "store_unavailable"},
    {STORE_ERR_FAILED, "store_unavailable"},
    {STORE_ERR_BUSY, "store_busy"},
};

START_TEST(test_a_store_that_fails_means_retry)
{
    f.write_fails = failures[_i].store_code;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_RETRY);
    ck_assert_str_eq(v.code, failures[_i].code);
    ck_assert_uint_gt(v.retry_after_ms, 0);
    ck_assert_uint_eq(v.rows, 0);
    verdict_clear(&v);

    f.find_fails = failures[_i].store_code;
    f.writes = 0;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_RETRY);
    ck_assert_uint_eq(f.writes, 0);
}
END_TEST

START_TEST(test_a_full_queue_means_retry)
{
    f.queue_full = true;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_RETRY);
    ck_assert_str_eq(v.code, "store_busy");
}
END_TEST

START_TEST(test_a_wrong_batch_does_not_reach_the_store)
{
    s.raw_amount_total[0]++;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_REJECTED);
    ck_assert_uint_eq(f.finds + f.writes, 0);
}
END_TEST

/* A few deep stacks that many workloads use are many frames. */
START_TEST(test_more_frames_than_a_block_holds)
{
    enum { DEPTH = 2000, SERVICES = 5001 };
    static uint32_t frames[DEPTH], depth[1] = {DEPTH};
    static stack_use uses[SERVICES];
    stack_dictionary d = {.stack_depth = {depth, 1}, .stack_frame = {frames, DEPTH}};

    ck_assert_int_eq(check_stored_frames(&d, uses, SERVICES - 1, &v), 0);
    ck_assert_int_eq(check_stored_frames(&d, uses, SERVICES, &v), -1);
    ck_assert_str_eq(v.code, "payload_too_large");
}
END_TEST

/* Each workload costs a query to the store, on the one thread that writes. */
START_TEST(test_more_workloads_than_one_batch_may_ask_for)
{
    ck_assert_int_eq(check_services(500, &v), 0);
    ck_assert_int_eq(check_services(501, &v), -1);
    ck_assert_str_eq(v.code, "too_many_rows");
}
END_TEST

START_TEST(test_scope)
{
    const char *west[] = {"west"}, *both[] = {"west", "east"};
    const scope narrow = {.clusters = west, .cluster_count = 1};
    const scope wide = {.clusters = both, .cluster_count = 2};
    const ingest_sender stranger = {"stranger", &narrow}, friend = {"friend", &wide};

    ck_assert(!ingest_profiles(&in, &s.batch, &stranger, &v));
    ck_assert_uint_eq(f.finds + f.writes, 0);
    ck_assert(ingest_profiles(&in, &s.batch, &friend, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
}
END_TEST

static const refusal *flushed_one(void)
{
    store_error err = {0};

    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    ck_assert_uint_eq(f.flushed_count, 1);
    return &f.flushed[0];
}

START_TEST(test_the_ledger_tells_of_a_rejected_batch)
{
    s.batch.attempt = 3;
    s.batch.waited_ms = 4000;
    s.batch.contract = 9;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    const refusal *row = flushed_one();
    ck_assert_int_eq(row->status, OUTCOME_REJECTED);
    ck_assert_str_eq(row->code, "contract_unknown");
    ck_assert_str_eq(row->message, v.message);
    ck_assert_str_eq(row->sender, "token");
    ck_assert_str_eq(row->cluster, "east");
    ck_assert_int_eq(memcmp(row->batch_id, s.batch.batch_id.data, 16), 0);
    ck_assert_uint_eq(row->attempts, 3);
    ck_assert_uint_eq(row->first_ms, SAMPLE_NOW_MS - 4000);
    ck_assert_uint_eq(row->last_ms, SAMPLE_NOW_MS);
    ck_assert_uint_eq(row->created_ms, s.batch.created_ms);
    ck_assert_uint_eq(row->from_ms, s.batch.windows.start_ms.at[0]);
    ck_assert_uint_gt(row->to_ms, row->from_ms);
    ck_assert_uint_eq(row->windows, s.batch.windows.target.count);
}
END_TEST

/* Invalid times and names do not reach the ledger. */
START_TEST(test_the_ledger_takes_nothing_invalid_of_a_rejected_batch)
{
    s.batch.created_ms = UINT64_MAX;
    s.batch.waited_ms = UINT64_MAX;
    s.batch.collector.node = (text){"\xff", 1};
    s.batch.windows.length_ms.count--;
    s.batch.snapshots.taken_ms = (u64s){NULL, 0};
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    const refusal *row = flushed_one();
    ck_assert_int_eq(row->status, OUTCOME_REJECTED);
    ck_assert_str_eq(row->cluster, "");
    ck_assert_uint_eq(row->created_ms, SAMPLE_NOW_MS);
    ck_assert_uint_eq(row->first_ms, SAMPLE_NOW_MS);
    ck_assert_uint_eq(row->from_ms, SAMPLE_NOW_MS);
}
END_TEST

START_TEST(test_the_same_batch_is_one_row)
{
    f.ledger.found = true;
    memcpy(f.ledger.digest, s.batch.digest.data, 16);
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    s.batch.attempt = 2;
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
    const refusal *row = flushed_one();
    ck_assert_int_eq(row->status, OUTCOME_DUPLICATE);
    ck_assert_uint_eq(row->batches, 1);
    ck_assert_uint_eq(row->attempts, 2);
}
END_TEST

static uint64_t flushed_batches(void)
{
    uint64_t count = 0;

    for (size_t i = 0; i < f.flushed_count; i++)
        count += f.flushed[i].batches;
    return count;
}

static refusal made_up(unsigned sender, unsigned batch)
{
    refusal one = {.status = OUTCOME_REJECTED, .code = "malformed", .batches = 1};

    snprintf(one.instance, sizeof(one.instance), "node-%u", sender);
    memcpy(one.batch_id, &batch, sizeof(batch));
    return one;
}

START_TEST(test_one_sender_cannot_flood_the_ledger)
{
    enum { MANY = 1000 };
    store_error err = {0};

    for (unsigned i = 1; i <= MANY; i++) {
        const refusal one = made_up(1, i);
        reports_refused(&gathered, &one);
    }
    const refusal other = made_up(2, 1);
    reports_refused(&gathered, &other);
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    ck_assert_uint_eq(f.flushed_count, REFUSALS_OF_SENDER + 2);
    ck_assert_uint_eq(flushed_batches(), MANY + 1);
    ck_assert_uint_eq(reports_read(&gathered).summed, MANY - REFUSALS_OF_SENDER);
}
END_TEST

START_TEST(test_many_senders_cannot_flood_the_ledger)
{
    enum { MANY = 1000 };
    store_error err = {0};

    for (unsigned i = 1; i <= MANY; i++) {
        const refusal one = made_up(i, i);
        reports_refused(&gathered, &one);
    }
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    ck_assert_uint_le(f.flushed_count, ROWS);
    ck_assert_uint_eq(flushed_batches(), MANY);
}
END_TEST

START_TEST(test_rows_that_could_not_be_written_are_written_later)
{
    store_error err = {0};
    refusal one = made_up(1, 1);

    reports_refused(&gathered, &one);
    f.write_fails = STORE_ERR_UNAVAILABLE;
    ck_assert_int_eq(reports_flush(&gathered, &err), STORE_ERR_UNAVAILABLE);
    one = made_up(1, 2);
    reports_refused(&gathered, &one);
    f.write_fails = 0;
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    ck_assert_uint_eq(f.flushed_count, 1);
    ck_assert_uint_eq(f.flushed[0].batch_id[0], 1);
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    ck_assert_uint_eq(f.flushed[0].batch_id[0], 2);
}
END_TEST

static const struct {
    uint64_t collectors, interval_ms;
} intervals[] = {{0, 60000}, {300, 60000}, {301, 60200}, {1000, 200000}, {5000, 300000}};

START_TEST(test_the_interval_grows_with_the_collectors)
{
    store_error err = {0};

    ck_assert_uint_eq(reports_flush_interval(&gathered), 60000);
    f.collectors = intervals[_i].collectors;
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    ck_assert_uint_eq(reports_flush_interval(&gathered), intervals[_i].interval_ms);
}
END_TEST

static heartbeat make_beat(void)
{
    return (heartbeat){
        .contract = 1, .collector = s.batch.collector, .engine = {"", 0}, .sent_ms = 1};
}

static const struct {
    int fails;
    outcome outcome;
    const char *code;
} report_answers[] = {{0, OUTCOME_ACCEPTED, ""},
                      {STORE_ERR_BUSY, OUTCOME_RETRY, "store_busy"},
                      {STORE_ERR_FAILED, OUTCOME_REJECTED, "payload_too_large"}};

START_TEST(test_a_heartbeat_is_gathered)
{
    heartbeat beat = make_beat();

    f.write_fails = report_answers[_i].fails;
    ck_assert(ingest_heartbeat(&in, &beat, &everything, &v));
    ck_assert_int_eq(v.outcome, report_answers[_i].outcome);
    ck_assert_str_eq(v.code, report_answers[_i].code);
    ck_assert_uint_eq(f.beats, 1);
}
END_TEST

/* Returns the outcomes of a status report and of a heartbeat, in this order. */
static void send_reports(outcome status, outcome beat)
{
    status_batch report = {.contract = 1, .collector = s.batch.collector};
    heartbeat one = make_beat();

    ck_assert(ingest_status(&in, &report, &everything, &v));
    ck_assert_int_eq(v.outcome, status);
    verdict_clear(&v);
    status_batch_clear(&report);
    ck_assert(ingest_heartbeat(&in, &one, &everything, &v));
    ck_assert_int_eq(v.outcome, beat);
    verdict_clear(&v);
}

START_TEST(test_a_status_report_is_put_off_after_a_failed_write)
{
    store_error err = {0};

    send_reports(OUTCOME_ACCEPTED, OUTCOME_ACCEPTED);
    f.write_fails = STORE_ERR_UNAVAILABLE;
    ck_assert_int_eq(reports_flush(&gathered, &err), STORE_ERR_UNAVAILABLE);
    f.write_fails = 0;
    send_reports(OUTCOME_RETRY, OUTCOME_ACCEPTED);
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    send_reports(OUTCOME_ACCEPTED, OUTCOME_ACCEPTED);
}
END_TEST

/* Sends reports during a write that takes too long. */
static void report_late(void)
{
    f.passed_ms = LATE_MS;
    send_reports(OUTCOME_ACCEPTED, OUTCOME_ACCEPTED);
    f.passed_ms++;
    send_reports(OUTCOME_RETRY, OUTCOME_ACCEPTED);
}

START_TEST(test_rows_that_the_store_never_takes_put_nothing_off)
{
    store_error err = {0};

    f.write_fails = STORE_ERR_FAILED;
    ck_assert_int_eq(reports_flush(&gathered, &err), STORE_ERR_FAILED);
    f.write_fails = 0;
    send_reports(OUTCOME_ACCEPTED, OUTCOME_ACCEPTED);
}
END_TEST

START_TEST(test_a_status_report_is_put_off_while_a_write_does_not_end)
{
    store_error err = {0};

    f.during_flush = report_late;
    ck_assert_int_eq(reports_flush(&gathered, &err), 0);
    send_reports(OUTCOME_ACCEPTED, OUTCOME_ACCEPTED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-ingest");
    TCase *tcase = tcase_create("ingest");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_accepted);
    tcase_add_loop_test(tcase, test_known_stacks_are_remembered, 0, 2);
    tcase_add_test(tcase, test_unknown_stacks_are_asked_for_again);
    tcase_add_loop_test(tcase, test_a_store_that_fails_is_asked_again, 0, 4);
    tcase_add_test(tcase, test_a_batch_that_is_being_stored_is_put_off);
    tcase_add_test(tcase, test_duplicate);
    tcase_add_test(tcase, test_reused_id);
    tcase_add_test(tcase, test_need_stacks);
    tcase_add_test(tcase, test_a_stack_two_workloads_miss_is_named_once);
    tcase_add_test(tcase, test_known_stacks_need_not_come);
    tcase_add_loop_test(tcase, test_a_store_that_fails_means_retry, 0,
                        sizeof(failures) / sizeof(failures[0]));
    tcase_add_test(tcase, test_a_full_queue_means_retry);
    tcase_add_test(tcase, test_a_wrong_batch_does_not_reach_the_store);
    tcase_add_test(tcase, test_more_frames_than_a_block_holds);
    tcase_add_test(tcase, test_more_workloads_than_one_batch_may_ask_for);
    tcase_add_test(tcase, test_scope);
    tcase_add_test(tcase, test_the_ledger_tells_of_a_rejected_batch);
    tcase_add_test(tcase, test_the_ledger_takes_nothing_invalid_of_a_rejected_batch);
    tcase_add_test(tcase, test_the_same_batch_is_one_row);
    tcase_add_test(tcase, test_one_sender_cannot_flood_the_ledger);
    tcase_add_test(tcase, test_many_senders_cannot_flood_the_ledger);
    tcase_add_test(tcase, test_rows_that_could_not_be_written_are_written_later);
    tcase_add_loop_test(tcase, test_the_interval_grows_with_the_collectors, 0,
                        sizeof(intervals) / sizeof(intervals[0]));
    tcase_add_loop_test(tcase, test_a_heartbeat_is_gathered, 0,
                        sizeof(report_answers) / sizeof(report_answers[0]));
    tcase_add_test(tcase, test_a_status_report_is_put_off_after_a_failed_write);
    tcase_add_test(tcase, test_rows_that_the_store_never_takes_put_nothing_off);
    tcase_add_test(tcase, test_a_status_report_is_put_off_while_a_write_does_not_end);
    return run_suite(suite);
}
