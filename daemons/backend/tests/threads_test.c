/* SPDX-License-Identifier: Apache-2.0 */
/* Tests threads, locks and deadlocks with a fake store. */
#include <check.h>
#include <string.h>

#include <catalogue/reason.h>
#include <catalogue/state.h>

#include "run_suite.h"
#include "threads.h"

#define NOW_MS (20000ull * DAY_MS + 3600000)
#define STACK(c)                                                                                   \
    {                                                                                              \
        "" c c c c c c c c c c c c c c c c, 16                                                     \
    }

enum { TARGET = 77 };

/* The answers of the store. */
static struct {
    snapshot_source source;
    target_row targets[2];
    size_t target_count;
    thread_row rows[THREAD_READS][4];
    size_t counts[THREAD_READS];
    sighting_row sightings[2];
    size_t sighting_count;
    size_t asked_frames;
    size_t sightings_read;
    bool sources_first; /* the sources were read before the sightings */
} f;

static const scope everything;
static store_filter filter;
static query_meta meta;
static store_error err;
static thread_report report;

static int read_fresh(void *self, const store_filter *asked, store_freshness *fresh,
                      store_error *failure)
{
    (void)self, (void)asked, (void)failure;
    fresh->until_ms = NOW_MS;
    return 0;
}

static int read_sources(void *self, const store_filter *asked, source_fn each, void *context,
                        store_error *failure)
{
    (void)self, (void)asked, (void)failure;
    f.sources_first = f.sightings_read == 0;
    return f.source.target != 0 ? each(context, &f.source) : 0;
}

static int read_targets(void *self, const store_filter *asked, target_fn each, void *context,
                        store_error *failure)
{
    (void)self, (void)asked, (void)failure;
    for (size_t i = 0; i < f.target_count; i++)
        ck_assert_int_eq(each(context, &f.targets[i]), 0);
    return 0;
}

static int read_threads(void *self, thread_read what, const store_filter *asked, thread_fn each,
                        void *context, store_error *failure)
{
    (void)self, (void)failure;
    for (size_t i = 0; i < f.counts[what]; i++) {
        const thread_row *row = &f.rows[what][i];
        if (asked->pool == NULL || text_equal(row->pool, text_of(asked->pool)))
            ck_assert_int_eq(each(context, row), 0);
    }
    return 0;
}

static int read_sightings(void *self, const store_filter *asked, sighting_fn each, void *context,
                          store_error *failure)
{
    (void)self, (void)asked, (void)failure;
    f.sightings_read++;
    for (size_t i = 0; i < f.sighting_count; i++)
        ck_assert_int_eq(each(context, &f.sightings[i]), 0);
    return 0;
}

static int read_frames(void *self, const store_filter *asked, const uint8_t *const *ids,
                       size_t count, stack_fn each, void *context, store_error *failure)
{
    const stack_frame frames[] = {{{"C", 1}, {"<clinit>", 8}, {"", 0}, 3, 0}};

    (void)self, (void)asked, (void)failure;
    f.asked_frames += count;
    for (size_t i = 0; i < count; i++) {
        const stack_row row = {.stack_id = ids[i], .frames = frames, .depth = 1};
        ck_assert_int_eq(each(context, &row), 0);
    }
    return 0;
}

static uint64_t now(void *clock)
{
    (void)clock;
    return NOW_MS;
}

static int read_loss(void *self, const store_filter *asked, store_loss *out, store_error *e)
{
    (void)self, (void)asked, (void)e;
    *out = (store_loss){.dropped = 0};
    return 0;
}

static const profile_port profiles = {.read_fresh = read_fresh, .read_frames = read_frames};
static const status_port status = {.read_targets = read_targets};
static const thread_port threads = {
    .read_sources = read_sources, .read_threads = read_threads, .read_sightings = read_sightings};
static const ingestion_port ingestion = {.read_loss = read_loss};
static const query q = {.store = {.profiles = &profiles,
                                  .status = &status,
                                  .threads = &threads,
                                  .ingestion = &ingestion},
                        .retention_ms = 7ull * DAY_MS,
                        .silent_ms = 180000,
                        .now_ms = now};

static thread_row row_of(uint64_t tid, const char *name)
{
    return (thread_row){.target = TARGET,
                        .java_tid = tid,
                        .first_ms = NOW_MS - 60000,
                        .last_ms = NOW_MS - 1000,
                        .snapshots = 10,
                        .name = {name, strlen(name)},
                        .pool = {"p", 1},
                        .lock_class = {"", 0},
                        .owner = {"", 0},
                        .carries = {"", 0},
                        .stack_id = {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}};
}

static void put(thread_read what, thread_row row)
{
    f.rows[what][f.counts[what]++] = row;
}

static void set_up(void)
{
    memset(&f, 0, sizeof(f));
    memset(&report, 0, sizeof(report));
    meta = (query_meta){.from_ms = 0};
    f.source = (snapshot_source){.target = TARGET,
                                 .pod = {"pod-1", 5},
                                 .container = {"", 0},
                                 .node = {"node-1", 6},
                                 .pid = 4711,
                                 .taken = 10,
                                 .last_ms = NOW_MS - 1000};
    filter = (store_filter){.scope = &everything,
                            .namespace_name = "",
                            .workload = "shop",
                            .from_ms = NOW_MS - 3600000,
                            .to_ms = NOW_MS,
                            .limit = 2,
                            .busy_percent = DIAGNOSIS_BUSY_PERCENT};
}

static void tear_down(void)
{
    thread_report_free(&report);
}

START_TEST(busy_threads_name_their_confidence)
{
    thread_row exact = row_of(1, "exact"), idle = row_of(2, "idle"), sampled = row_of(3, "sampled");
    exact.interval_ms = idle.interval_ms = 10000;
    exact.cpu_ns = 5000000000;
    idle.cpu_ns = 150000000; /* less than a fiftieth of a core */
    sampled.runnable = 9;
    put(THREADS_USAGE, exact);
    put(THREADS_USAGE, idle);
    put(THREADS_USAGE, sampled);
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.busy.count, 2);
    ck_assert_int_eq(report.busy.items[0].confidence, EXACT_CPU);
    ck_assert_int_eq(report.busy.items[1].confidence, RUNNABLE_SAMPLES);
    ck_assert(!meta.truncated);
    thread_report_free(&report);
    filter.busy_percent = 1;
    filter.limit = 3;
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.busy.count, 3);
}
END_TEST

START_TEST(without_snapshots_the_profile_answers_and_says_so)
{
    thread_row row = row_of(1, "worker");
    row.cpu_ns = 5;
    f.source.taken = 0;
    f.source.failed = 3;
    f.source.reason = REASON_NO_EXEC_DIR;
    put(THREADS_PROFILE, row);
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.busy.count, 1);
    ck_assert_int_eq(report.busy.items[0].confidence, PROFILE_ONLY);
    ck_assert(report.has_profile);
    ck_assert_uint_eq(report.sources[0].reason, REASON_NO_EXEC_DIR);
}
END_TEST

START_TEST(slow_threads_have_their_holder_their_chain_and_when_it_began)
{
    thread_row waiter = row_of(1, "waiter"), holder = row_of(2, "holder");
    thread_row wait = waiter, loader = row_of(3, "loader");
    waiter.state = holder.state = DIAGNOSIS_BLOCKED;
    waiter.lock_class = wait.lock_class = (text){"L", 1};
    waiter.lock_id = wait.lock_id = 5;
    waiter.owner_tid = 2;
    holder.state = DIAGNOSIS_RUNNABLE;
    wait.first_ms = NOW_MS - 50000;
    loader.state = DIAGNOSIS_RUNNABLE;
    loader.interval_ms = 5000;
    loader.stack_id = (text)STACK("a");
    put(THREADS_NEWEST, waiter);
    put(THREADS_NEWEST, holder);
    put(THREADS_NEWEST, loader);
    put(THREADS_WAITS, wait);
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.slow.count, 2);
    const thread_entry *entry = &report.slow.items[0];
    ck_assert_int_eq(entry->wait, WAIT_BLOCKED);
    ck_assert(text_equal(entry->holder, text_of("holder")));
    ck_assert(text_equal(entry->holder_state, text_of("RUNNABLE")));
    ck_assert_uint_eq(entry->chain_length, 1);
    ck_assert_uint_eq(entry->since_ms, NOW_MS - 50000);
    ck_assert_int_eq(report.slow.items[1].wait, WAIT_CLASS);
}
END_TEST

START_TEST(what_a_limit_leaves_off_is_counted)
{
    for (uint64_t i = 1; i <= 4; i++) {
        thread_row row = row_of(i, "busy");
        row.interval_ms = 10;
        row.cpu_ns = 10000000;
        put(THREADS_USAGE, row);
    }
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.busy.count, 2);
    ck_assert_uint_eq(meta.nodes_omitted, 2);
    ck_assert(meta.truncated);
}
END_TEST

START_TEST(idle_waits_and_carriers_are_no_locks)
{
    thread_row idle = row_of(1, "idle"), carrier = row_of(2, "carrier"), hurt = row_of(3, "hurt");
    idle.state = carrier.state = hurt.state = DIAGNOSIS_WAITING;
    idle.lock_class = (text){"java.lang.Object", 16};
    carrier.lock_class = (text){"L", 1}; /* of another snapshot of the range */
    carrier.owner_tid = 30;
    carrier.carries_tid = 30;
    hurt.lock_class = (text){"java.util.concurrent.locks.ReentrantLock$NonfairSync", 52};
    hurt.owner_tid = 9;
    hurt.owner = (text){"owner", 5};
    put(THREADS_WAITS, idle);
    put(THREADS_WAITS, carrier);
    put(THREADS_WAITS, hurt);
    thread_row owner = row_of(9, "owner");
    owner.stack_id = (text)STACK("b");
    put(THREADS_OWNERS, owner);
    ck_assert_int_eq(query_locks(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.lock_count, 1);
    ck_assert_str_eq(report.locks[0].kind, "juc");
    ck_assert_uint_eq(report.locks[0].holders.count, 1);
    ck_assert(text_equal(report.locks[0].holders.items[0].row.name, text_of("owner")));
    ck_assert_ptr_nonnull(report_stack(&report, report.locks[0].holders.items[0].row.stack_id));
}
END_TEST

START_TEST(a_lock_has_the_waiting_time_that_the_profile_has_of_its_class)
{
    thread_row profiled = row_of(1, "waiter"), other = row_of(2, "other"), delay = row_of(0, "");
    profiled.state = other.state = DIAGNOSIS_BLOCKED;
    profiled.lock_class = delay.lock_class = (text){"L", 1};
    other.lock_class = (text){"M", 1};
    profiled.owner_tid = other.owner_tid = 9;
    profiled.snapshots = 20;
    delay.cpu_ns = 5000;
    put(THREADS_WAITS, profiled);
    put(THREADS_WAITS, other);
    put(THREADS_DELAY, delay);
    ck_assert_int_eq(query_locks(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.lock_count, 2);
    ck_assert_uint_eq(report.locks[0].delay_ns, 5000);
    ck_assert_uint_eq(report.locks[1].delay_ns, 0); /* the snapshots alone have told of it */
}
END_TEST

START_TEST(a_holder_may_be_of_another_pool)
{
    thread_row waiter = row_of(1, "waiter"), owner = row_of(9, "owner");
    waiter.state = DIAGNOSIS_WAITING;
    waiter.lock_class = (text){"java.util.concurrent.locks.ReentrantLock$NonfairSync", 52};
    waiter.owner_tid = 9;
    waiter.pool = (text){"web", 3};
    owner.state = DIAGNOSIS_WAITING;
    owner.lock_class = waiter.lock_class;
    owner.lock_id = 2;
    owner.owner_tid = 10;
    owner.pool = (text){"jobs", 4};
    put(THREADS_NEWEST, waiter);
    put(THREADS_NEWEST, owner);
    put(THREADS_WAITS, waiter);
    put(THREADS_OWNERS, owner);
    filter.pool = "web";
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.slow.count, 1);
    ck_assert_int_eq(report.slow.items[0].holder_kind, HOLDER_JAVA);
    thread_report_free(&report);
    ck_assert_int_eq(query_locks(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.lock_count, 1);
    ck_assert_int_eq(report.locks[0].holders.items[0].holder_kind, HOLDER_JAVA);
}
END_TEST

static const struct {
    const char *what;
    uint64_t flags, carried_tid; /* of a carrier */
    bool listed;                 /* the owner is in some snapshot of the range */
    holder_kind kind;
} kinds[] = {
    {"platform thread", 0, 0, true, HOLDER_JAVA},
    {"virtual thread that is carried", DIAGNOSIS_OWNER_GONE, 9, false, HOLDER_VIRTUAL},
    {"ended thread", DIAGNOSIS_OWNER_ENDED, 0, false, HOLDER_ENDED},
    {"thread that ended in the range", DIAGNOSIS_OWNER_GONE, 0, true, HOLDER_ENDED},
    {"ended or virtual thread", DIAGNOSIS_OWNER_GONE, 0, false, HOLDER_ENDED_OR_VIRTUAL},
};

START_TEST(holders_say_what_they_are)
{
    thread_row waiter = row_of(1, "waiter"), carrier = row_of(2, "carrier");
    waiter.state = DIAGNOSIS_WAITING;
    waiter.flags = kinds[_i].flags;
    waiter.lock_class = (text){"java.util.concurrent.locks.ReentrantLock$NonfairSync", 52};
    waiter.owner_tid = 9;
    waiter.owner = (text){"owner", 5};
    carrier.carries_tid = kinds[_i].carried_tid;
    put(THREADS_NEWEST, waiter);
    put(THREADS_NEWEST, carrier);
    put(THREADS_WAITS, waiter);
    put(THREADS_OWNERS, carrier);
    if (kinds[_i].listed)
        put(THREADS_OWNERS, row_of(9, "owner"));
    if (kinds[_i].kind == HOLDER_JAVA)
        put(THREADS_NEWEST, row_of(9, "owner"));
    ck_assert_int_eq(query_locks(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.lock_count, 1);
    ck_assert_uint_eq(report.locks[0].holders.count, 1);
    ck_assert_msg(report.locks[0].holders.items[0].holder_kind == kinds[_i].kind, "%s: %s",
                  kinds[_i].what, holder_kind_name(report.locks[0].holders.items[0].holder_kind));
    thread_report_free(&report);
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.slow.count, 1);
    ck_assert(text_equal(report.slow.items[0].holder, text_of("owner")));
    if (!kinds[_i].listed || kinds[_i].kind == HOLDER_JAVA) /* only in the newest snapshot */
        ck_assert_int_eq(report.slow.items[0].holder_kind, kinds[_i].kind);
}
END_TEST

static thread_row initialiser(uint64_t tid, const char *name)
{
    thread_row row = row_of(tid, name);
    row.state = DIAGNOSIS_RUNNABLE;
    row.interval_ms = 5000;
    row.stack_id = (text)STACK("a");
    return row;
}

START_TEST(a_class_is_waited_for_by_name)
{
    put(THREADS_NEWEST, initialiser(1, "one"));
    put(THREADS_NEWEST, initialiser(2, "two"));
    ck_assert_int_eq(query_threads(&q, &filter, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.slow.count, 2);
    const thread_entry *entry = &report.slow.items[0];
    ck_assert_int_eq(entry->wait, WAIT_CLASS);
    ck_assert(text_equal(entry->awaited_class, text_of("C")));
    ck_assert(text_equal(entry->holder, text_of("two")));
    ck_assert_int_eq(entry->holder_kind, HOLDER_JAVA);
}
END_TEST

static void see_deadlock(uint64_t last_ms)
{
    for (uint64_t i = 0; i < 2; i++)
        f.sightings[i] = (sighting_row){.key = {{"c", 1}, {"", 0}, {"shop", 4}},
                                        .target = TARGET,
                                        .cycle = 9,
                                        .first_ms = last_ms - 60000,
                                        .last_ms = last_ms,
                                        .position = i,
                                        .java_tid = 11 + i,
                                        .name = {"t", 1},
                                        .lock_class = {"L", 1},
                                        .stack_id = STACK("c")};
    f.sighting_count = 2;
}

/* JVMs with the same pid on one node; TARGET has the deadlock. */
enum { OTHER = TARGET + 1 };
typedef struct told {
    uint64_t target; /* 0: there is none */
    unsigned state;
    uint64_t observed_before_ms, reported_before_ms; /* now */
} told;

static const struct {
    const char *what;
    uint64_t seen_before_ms, snapshot_before_ms; /* now */
    told targets[2];
    const char *end_reason; /* NULL: it goes on */
    uint64_t ended_before_ms;
} ends[] = {
    {"goes on", 1000, 1000, {{TARGET, TARGET_STATE_PROFILING, 5000, 5000}}, NULL, 0},
    {"goes on where an earlier JVM of this pid has ended",
     1000,
     1000,
     {{OTHER, TARGET_STATE_EXITED, 70000, 5000}, {TARGET, TARGET_STATE_PROFILING, 5000, 5000}},
     NULL,
     0},
    {"is gone from a later snapshot",
     61000,
     1000,
     {{TARGET, TARGET_STATE_PROFILING, 5000, 5000}},
     "resolved",
     1000},
    {"was resolved before its JVM ended",
     61000,
     30000,
     {{TARGET, TARGET_STATE_EXITED, 25000, 5000}},
     "resolved",
     30000},
    {"ended with its JVM, as its collector says",
     20000,
     20000,
     {{TARGET, TARGET_STATE_EXITED, 15000, 15000}},
     "jvm_ended",
     15000},
    {"ended with its JVM, which newer reports lack",
     20000,
     20000,
     {{TARGET, TARGET_STATE_PROFILING, 18000, 5000}},
     "jvm_ended",
     18000},
    {"ended with its JVM, whose pid another has now",
     20000,
     20000,
     {{OTHER, TARGET_STATE_PROFILING, 5000, 5000}, {TARGET, TARGET_STATE_EXITED, 15000, 5000}},
     "jvm_ended",
     15000},
    {"ended with its JVM before the collector fell silent",
     400000,
     400000,
     {{TARGET, TARGET_STATE_EXITED, 390000, 390000}},
     "jvm_ended",
     390000},
    {"is no longer looked at",
     400000,
     400000,
     {{TARGET, TARGET_STATE_PROFILING, 400000, 400000}},
     "collector_silent",
     400000},
    {"is no longer looked at by a collector that never told of the JVM",
     400000,
     400000,
     {{0, 0, 0, 0}},
     "collector_silent",
     400000},
    {"was seen just now, and the JVM is not told of yet", 1000, 1000, {{0, 0, 0, 0}}, NULL, 0},
};

static void tell_targets(const told *rows, size_t count)
{
    for (size_t i = 0; i < count && rows[i].target != 0; i++)
        f.targets[f.target_count++] =
            (target_row){.key = {{"c", 1}, {"", 0}, {"shop", 4}},
                         .node = {"node-1", 6},
                         .target = rows[i].target,
                         .pid = 4711,
                         .state = rows[i].state,
                         .observed_ms = NOW_MS - rows[i].observed_before_ms,
                         .reported_ms = NOW_MS - rows[i].reported_before_ms};
}

START_TEST(a_deadlock_ends_as_its_jvm_or_its_collector_does)
{
    see_deadlock(NOW_MS - ends[_i].seen_before_ms);
    f.source.last_ms = NOW_MS - ends[_i].snapshot_before_ms;
    tell_targets(ends[_i].targets, 2);
    ck_assert_int_eq(query_deadlocks(&q, &filter, 0, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.deadlock_count, 1);
    const deadlock_entry *one = &report.deadlocks[0];
    ck_assert_uint_eq(one->thread_count, 2);
    ck_assert_uint_eq(one->last_ms - one->first_ms, 60000);
    if (ends[_i].end_reason == NULL) {
        ck_assert_msg(one->end_reason == NULL, "one that %s: %s", ends[_i].what, one->end_reason);
        ck_assert_uint_eq(one->ended_ms, 0);
    } else {
        ck_assert_msg(one->end_reason != NULL && strcmp(one->end_reason, ends[_i].end_reason) == 0,
                      "one that %s: %s", ends[_i].what,
                      one->end_reason != NULL ? one->end_reason : "goes on");
        ck_assert_uint_eq(one->ended_ms, NOW_MS - ends[_i].ended_before_ms);
    }
    ck_assert_uint_eq(f.asked_frames, 1); /* both threads have the same stack */
    /* Otherwise a snapshot taken between the reads would look as if it saw no deadlock. */
    ck_assert(f.sources_first);
}
END_TEST

START_TEST(a_probable_deadlock_goes_on_while_snapshots_lack_stacks)
{
    see_deadlock(NOW_MS - 61000);
    f.sightings[0].inferred = f.sightings[1].inferred = 1;
    f.source.last_ms = NOW_MS - 1000;
    f.source.whole_ms = NOW_MS - 61000;
    tell_targets((told[]){{TARGET, TARGET_STATE_PROFILING, 5000, 5000}}, 1);
    ck_assert_int_eq(query_deadlocks(&q, &filter, 0, &report, &meta, &err), QUERY_OK);
    ck_assert_ptr_null(report.deadlocks[0].end_reason);
    thread_report_free(&report);
    f.source.whole_ms = NOW_MS - 31000;
    ck_assert_int_eq(query_deadlocks(&q, &filter, 0, &report, &meta, &err), QUERY_OK);
    ck_assert_str_eq(report.deadlocks[0].end_reason, "resolved");
    ck_assert_uint_eq(report.deadlocks[0].ended_ms, NOW_MS - 31000);
}
END_TEST

START_TEST(one_deadlock_is_found_by_its_number)
{
    see_deadlock(NOW_MS - 1000);
    ck_assert_int_eq(query_deadlocks(&q, &filter, 8, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.deadlock_count, 0);
    ck_assert_int_eq(query_deadlocks(&q, &filter, 9, &report, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(report.deadlock_count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-threads");
    TCase *tests = tcase_create("threads");
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, busy_threads_name_their_confidence);
    tcase_add_test(tests, without_snapshots_the_profile_answers_and_says_so);
    tcase_add_test(tests, slow_threads_have_their_holder_their_chain_and_when_it_began);
    tcase_add_test(tests, what_a_limit_leaves_off_is_counted);
    tcase_add_test(tests, idle_waits_and_carriers_are_no_locks);
    tcase_add_test(tests, a_lock_has_the_waiting_time_that_the_profile_has_of_its_class);
    tcase_add_test(tests, a_holder_may_be_of_another_pool);
    tcase_add_loop_test(tests, holders_say_what_they_are, 0, sizeof(kinds) / sizeof(kinds[0]));
    tcase_add_test(tests, a_class_is_waited_for_by_name);
    tcase_add_loop_test(tests, a_deadlock_ends_as_its_jvm_or_its_collector_does, 0,
                        sizeof(ends) / sizeof(ends[0]));
    tcase_add_test(tests, a_probable_deadlock_goes_on_while_snapshots_lack_stacks);
    tcase_add_test(tests, one_deadlock_is_found_by_its_number);
    return run_suite(suite);
}
