/* SPDX-License-Identifier: Apache-2.0 */
/* The use cases of ingest over a store that is only remembered. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ingest.h"
#include "run_suite.h"
#include "sample_batch.h"
#include "stored_size.h"

/* A store in memory: what was asked and written, and what it shall answer. */
typedef struct fake {
    ledger_entry ledger;
    bool known;     /* every stack asked for */
    int find_fails; /* store codes */
    int write_fails;
    unsigned finds, asked_ids, writes;
    size_t written_stacks, written_services;
    bool queue_full;
    void (*during_find)(void); /* called once, while the backend asks the ledger */
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

static int write_status(void *self, const status_batch *report, store_error *err)
{
    (void)report, (void)err;
    ((fake *)self)->writes++;
    return 0;
}

static int run_now(void *self, void (*job)(void *arg), void *arg)
{
    if (((fake *)self)->queue_full)
        return -1;
    job(arg);
    return 0;
}

static uint64_t now(void *clock)
{
    (void)clock;
    return SAMPLE_NOW_MS;
}

static const store_ops ops = {.find_batch = find_batch,
                              .find_stacks = find_stacks,
                              .write_batch = write_batch,
                              .write_status = write_status};
static const writer_ops writer = {run_now};
static const scope everything;
static fake f;
static in_flight flights = {.lock = PTHREAD_MUTEX_INITIALIZER};
static ingest in;
static sample_batch s;
static verdict v;

static void set_up(void)
{
    f = (fake){.known = false};
    in = (ingest){.store = {&ops, &f},
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
}

static void drop_dictionary(void)
{
    s.batch.stacks = (stack_dictionary){.stack_ids = {NULL, 0}};
}

/* The same batch once more, as a collector that knows that its stacks are known sends it. */
static void ingest_without_dictionary(void)
{
    verdict_clear(&v);
    profile_batch_clear(&s.batch);
    sample_batch_make(&s);
    drop_dictionary();
    ck_assert(ingest_profiles(&in, &s.batch, &everything, &v));
}

/* Stacks that were brought, or found, are not asked for again. */
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
    f.known = false; /* of what it is asked from here on */
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

/* A store that fails may come back without what it took last. */
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
    /* shop uses stacks 0 and 1, bank uses 2: three rows, though all could be of one workload. */
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

/* Few stacks, deep and used by many workloads, are many frames. */
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

/* Each workload is a question to the store, on the one thread that writes. */
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

    ck_assert(!ingest_profiles(&in, &s.batch, &narrow, &v));
    ck_assert_uint_eq(f.finds + f.writes, 0);
    ck_assert(ingest_profiles(&in, &s.batch, &wide, &v));
    ck_assert_int_eq(v.outcome, OUTCOME_ACCEPTED);
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
    return run_suite(suite);
}
