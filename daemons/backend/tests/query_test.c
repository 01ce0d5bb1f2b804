/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the query use cases with a fake store. */
#include <check.h>
#include <string.h>

#include <catalogue/profile_type.h>
#include <catalogue/reason.h>
#include <catalogue/state.h>

#include "query.h"
#include "run_suite.h"

#define NOW_MS (20000ull * DAY_MS + 3600000)

/* The answers of the store. */
typedef struct fake {
    target_row target;
    const stack_sum *sums;
    size_t sum_count;
    size_t frames_asked;
    int fails;
    store_loss loss;
} fake;

static fake f;
static const scope everything;
static const char *const shop_only[] = {"shop"};
static const scope shop_scope = {.workloads = shop_only, .workload_count = 1};

static int read_fresh(void *self, const store_filter *filter, store_freshness *fresh,
                      store_error *err)
{
    (void)filter;
    *fresh = (store_freshness){.until_ms = NOW_MS - 10000, .lost_events = 17, .fingerprint = 42};
    err->code = ((fake *)self)->fails;
    return err->code;
}

static int read_targets(void *self, const store_filter *filter, target_fn each, void *context,
                        store_error *err)
{
    (void)filter, (void)err;
    return each(context, &((fake *)self)->target);
}

/* Observations of one JVM, newest first: minutes ago, the status, and a detail. */
typedef struct told {
    uint64_t minutes_ago, state, reason, session, mode, until_ms;
    const char *detail;
} told;

static const told history[] = {
    {1, TARGET_STATE_OFF, REASON_EXPIRED, 1, 1, 0, ""},
    {2, TARGET_STATE_OFF, REASON_EXPIRED, 1, 1, 0, ""},
    {3, TARGET_STATE_OFF, REASON_EXPIRED, 1, 1, 0, ""},
    {4, TARGET_STATE_PROFILING, REASON_NONE, 2, 3, 9, ""},
    {5, TARGET_STATE_PROFILING, REASON_NONE, 2, 3, 8, ""},
    {6, TARGET_STATE_PROFILING, REASON_NONE, 3, 3, 8, ""},
    {7, TARGET_STATE_FAILED, REASON_ATTACH_TIMEOUT, 3, 3, 8, "one"},
    {8, TARGET_STATE_FAILED, REASON_ATTACH_TIMEOUT, 3, 3, 8, "other"},
    {12, TARGET_STATE_FAILED, REASON_ATTACH_TIMEOUT, 3, 3, 8,
     "other"}, /* the collector was silent */
    {13, TARGET_STATE_FAILED, REASON_ATTACH_TIMEOUT, 3, 2, 8, "other"},
};

static int read_history(void *self, const store_filter *asked, target_fn each, void *context,
                        store_error *err)
{
    (void)err;
    ck_assert_uint_eq(asked->target, 7);
    for (size_t i = 0; i < sizeof(history) / sizeof(history[0]); i++) {
        const told *one = &history[i];
        target_row row = {.state = one->state,
                          .reason = one->reason,
                          .session = one->session,
                          .mode = one->mode,
                          .until_ms = one->until_ms,
                          .detail = text_of(one->detail),
                          .observed_ms = NOW_MS - one->minutes_ago * 60000};
        ck_assert_int_eq(each(context, &row), 0);
    }
    return ((fake *)self)->fails;
}

static int read_services(void *self, const store_filter *filter, service_fn each, void *context,
                         store_error *err)
{
    static const char *const names[] = {"bank", "mail", "shop"};

    (void)self, (void)filter, (void)err;
    for (size_t i = 0; i < 3; i++) {
        service_row row = {{text_of("east"), text_of(""), text_of(names[i])}, i + 1, NOW_MS};
        ck_assert_int_eq(each(context, &row), 0);
    }
    return 0;
}

static int read_types(void *self, const store_filter *filter, type_fn each, void *context,
                      store_error *err)
{
    const type_row rows[] = {
        {{text_of("east"), text_of(""), text_of("aaaa")}, 1, 1, 1},
        {{text_of("east"), text_of(""), text_of("bank")}, 1, 10, 20},
        {{text_of("east"), text_of(""), text_of("bank")}, 5, 30, 40},
        {{text_of("east"), text_of(""), text_of("shop")}, 1, 50, 60},
    };

    (void)self, (void)filter, (void)err;
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(each(context, &rows[i]), 0);
    return 0;
}

static int read_pools(void *self, const store_filter *filter, pool_fn each, void *context,
                      store_error *err)
{
    static const char *const names[] = {"exec-#", "", "main"};

    (void)filter, (void)err;
    for (size_t i = 0; i < 3; i++) {
        const pool_row row = {text_of(names[i]), 3 - i};
        ck_assert_int_eq(each(context, &row), 0);
    }
    return ((fake *)self)->fails;
}

static int read_sums(void *self, const store_filter *filter, sum_fn each, void *context,
                     store_error *err)
{
    const fake *from = self;

    (void)filter;
    for (size_t i = 0; i < from->sum_count; i++)
        ck_assert_int_eq(each(context, &from->sums[i]), 0);
    err->code = from->fails;
    return err->code;
}

#define FRAME(name, number)                                                                        \
    {                                                                                              \
        .class_name = {"C", 1}, .method = {name, sizeof(name) - 1}, .line = (number),              \
        .kind = SAGG_JAVA                                                                          \
    }

/* a <- root (7), b <- a <- a <- root (5, cut), [dropped] (3), one whose frames the store lost
 * (1) */
static const stack_frame stack_a[] = {FRAME("a", 1), FRAME("root", 9)};
static const stack_frame stack_b[] = {FRAME("b", 4), FRAME("a", 1), FRAME("a", 2),
                                      FRAME("root", 9)};
static const stack_frame stack_dropped[] = {{.method = {"[dropped]", 9}, .kind = SAGG_UNKNOWN}};
static const stack_sum sums[] = {
    {{1}, 7, 70, 1, 2}, {{2}, 5, 50, 1, 1}, {{3}, 3, 30, 1, 1}, {{4}, 1, 10, 1, 1}};

static int read_timeline(void *self, const store_filter *asked, bucket_fn each, void *context,
                         store_error *err)
{
    static const bucket_row rows[] = {{0, 5, 2}, {2, 0, 1}};

    (void)self, (void)err;
    ck_assert_uint_eq(asked->bucket_ms, 1000000);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(each(context, &rows[i]), 0);
    return 0;
}

static int read_frames(void *self, const store_filter *filter, const uint8_t *const *ids,
                       size_t count, stack_fn each, void *context, store_error *err)
{
    static const stack_row rows[] = {
        {NULL, 0, stack_a, 2}, {NULL, 1, stack_b, 4}, {NULL, 0, stack_dropped, 1}};

    (void)filter, (void)err;
    ((fake *)self)->frames_asked += count;
    for (size_t i = 0; i < count; i++) {
        if (ids[i][0] > 3)
            continue;
        stack_row row = rows[ids[i][0] - 1];
        row.stack_id = ids[i];
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
    (void)asked, (void)e;
    *out = ((const fake *)self)->loss;
    return 0;
}

static const profile_port profiles = {.read_fresh = read_fresh,
                                      .read_services = read_services,
                                      .read_types = read_types,
                                      .read_pools = read_pools,
                                      .read_sums = read_sums,
                                      .read_timeline = read_timeline,
                                      .read_frames = read_frames};
static const status_port status = {.read_targets = read_targets, .read_history = read_history};
static const ingestion_port ingestion = {.read_loss = read_loss};
static const query q = {
    .store = {.profiles = &profiles, .status = &status, .ingestion = &ingestion, .self = &f},
    .retention_ms = 7ull * DAY_MS,
    .silent_ms = 180000,
    .now_ms = now};
static store_filter filter;
static query_meta meta;
static store_error err;

static void set_up(void)
{
    f = (fake){.fails = 0};
    filter = (store_filter){.scope = &everything,
                            .namespace_name = "",
                            .workload = "shop",
                            .type = PROFILE_TYPE_CPU,
                            .from_ms = NOW_MS - 3600000,
                            .to_ms = NOW_MS,
                            .limit = 2};
    meta = (query_meta){.from_ms = 0};
}

START_TEST(test_scope_and_retention)
{
    ck_assert_int_eq(query_check(&q, &filter), QUERY_OK);
    filter.scope = &shop_scope;
    ck_assert_int_eq(query_check(&q, &filter), QUERY_OK);
    filter.workload = "bank";
    ck_assert_int_eq(query_check(&q, &filter), QUERY_FORBIDDEN);
    filter.scope = &everything;
    filter.from_ms = 5;
    ck_assert_int_eq(query_check(&q, &filter), QUERY_OK);
    ck_assert_uint_eq(filter.from_ms, query_oldest_ms(&q));
    filter.to_ms = query_oldest_ms(&q);
    ck_assert_int_eq(query_check(&q, &filter), QUERY_EXPIRED);
    /* Day 19994 is the first that the store still has: 19993 was removed when 20000 began. */
    ck_assert_uint_eq(query_oldest_ms(&q), 19994ull * DAY_MS);
}
END_TEST

START_TEST(test_lost_events_are_of_one_type)
{
    query_meta of_all = {0};
    filter.type = 0;
    ck_assert_int_eq(query_fresh(&q, &filter, &of_all, &err), QUERY_OK);
    ck_assert_uint_eq(of_all.fresh_until_ms, NOW_MS - 10000);
    ck_assert_uint_eq(of_all.lost_events, 0);
}
END_TEST

START_TEST(test_pools_beyond_the_limit_are_told)
{
    pool_list pools = {NULL, 0};

    ck_assert_int_eq(query_pools(&q, &filter, &pools, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(pools.count, 2);
    ck_assert_str_eq(pools.names[0], "exec-#");
    ck_assert_str_eq(pools.names[1], "");
    ck_assert_uint_eq(meta.nodes_omitted, 1);
    pool_list_free(&pools);
    f.fails = STORE_ERR_UNAVAILABLE;
    ck_assert_int_eq(query_pools(&q, &filter, &pools, &meta, &err), QUERY_UNAVAILABLE);
    pool_list_free(&pools);
}
END_TEST

START_TEST(test_a_timeline_tells_idle_from_not_recorded)
{
    static const uint64_t values[] = {5, 0, 0, 0};
    static const bool recorded[] = {true, false, true, false};
    timeline t = {.count = 0};

    filter.bucket_ms = 1000000; /* the last bucket of the hour is a shorter one */
    ck_assert_int_eq(query_timeline(&q, &filter, &t, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(t.count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(t.values[i], values[i]);
        ck_assert(t.recorded[i] == recorded[i]);
    }
    ck_assert_uint_eq(meta.seen, 5);
    ck_assert_uint_eq(meta.rows_scanned, 3);
    ck_assert_uint_eq(meta.fresh_until_ms, NOW_MS - 10000);
    timeline_free(&t);
}
END_TEST

START_TEST(test_services)
{
    service_list list = {NULL, 0};

    ck_assert_int_eq(query_services(&q, &filter, &list, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(meta.nodes_omitted, 1);
    ck_assert_uint_eq(meta.fresh_until_ms, NOW_MS - 10000);
    ck_assert_uint_eq(meta.lost_events, 17);
    ck_assert_str_eq(list.items[0].workload, "bank");
    ck_assert_uint_eq(list.items[0].type_count, 2);
    ck_assert_uint_eq(list.items[0].types[1].value_total, 40);
    ck_assert_uint_eq(list.items[1].type_count, 0);
    service_list_free(&list);
}
END_TEST

static const struct {
    uint64_t state, observed_ago, reported_ago;
    uint64_t shown_state, shown_reason, shown_session;
} verdicts[] = {
    {TARGET_STATE_PROFILING, 1000, 1000, TARGET_STATE_PROFILING, REASON_NONE, SESSION_STATE_OWNED},
    {TARGET_STATE_PROFILING, 90000, 89500, TARGET_STATE_PROFILING, REASON_NONE,
     SESSION_STATE_OWNED},
    {TARGET_STATE_PROFILING, 70000, 65000, TARGET_STATE_EXITED, REASON_PROCESS_EXITED,
     SESSION_STATE_NONE},
    {TARGET_STATE_PROFILING, 190000, 190000, TARGET_STATE_FAILED, REASON_COLLECTOR_SILENT,
     SESSION_STATE_UNKNOWN},
    {TARGET_STATE_OFF, 190000, 190000, TARGET_STATE_FAILED, REASON_COLLECTOR_SILENT,
     SESSION_STATE_UNKNOWN},
    {TARGET_STATE_EXITED, 190000, 190000, TARGET_STATE_EXITED, REASON_NONE, SESSION_STATE_OWNED},
    {TARGET_STATE_EXITED, 190000, 1000, TARGET_STATE_EXITED, REASON_NONE, SESSION_STATE_OWNED},
};

START_TEST(test_verdicts)
{
    target_list list = {NULL, 0};

    f.target = (target_row){.key = {text_of("east"), text_of(""), text_of("shop")},
                            .pod = text_of("p"),
                            .detail = text_of("a detail"),
                            .service = text_of("cart"),
                            .session = SESSION_STATE_OWNED,
                            .mode = TARGET_MODE_TEMPORARY,
                            .until_ms = NOW_MS + 60000,
                            .state = verdicts[_i].state,
                            .observed_ms = NOW_MS - verdicts[_i].observed_ago,
                            .reported_ms = NOW_MS - verdicts[_i].reported_ago};
    ck_assert_int_eq(query_targets(&q, &filter, &list, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.items[0].state, verdicts[_i].shown_state);
    ck_assert_uint_eq(list.items[0].reason, verdicts[_i].shown_reason);
    bool kept = verdicts[_i].state == verdicts[_i].shown_state;
    ck_assert_str_eq(list.items[0].detail, kept ? "a detail" : "");
    ck_assert_str_eq(list.items[0].service, "cart");
    ck_assert_uint_eq(list.items[0].mode, TARGET_MODE_TEMPORARY);
    ck_assert_uint_eq(list.items[0].until_ms, NOW_MS + 60000);
    ck_assert_uint_eq(list.items[0].session, verdicts[_i].shown_session);
    target_list_free(&list);
}
END_TEST

START_TEST(test_a_history_is_one_entry_while_nothing_changes)
{
    /* minutes ago: begin and end of each entry */
    static const uint64_t entries[][2] = {{3, 1}, {4, 4}, {5, 5},   {6, 6},
                                          {7, 7}, {8, 8}, {12, 12}, {13, 13}};
    enum { ENTRIES = sizeof(entries) / sizeof(entries[0]) };
    target_list list = {NULL, 0};

    filter.target = 7;
    filter.limit = 100;
    ck_assert_int_eq(query_target_history(&q, &filter, &list, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(list.count, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        ck_assert_uint_eq(list.items[i].since_ms, NOW_MS - entries[i][0] * 60000);
        ck_assert_uint_eq(list.items[i].observed_ms, NOW_MS - entries[i][1] * 60000);
    }
    ck_assert_str_eq(list.items[4].detail, "one");
    ck_assert_uint_eq(meta.nodes_omitted, 0);
    target_list_free(&list);
    filter.limit = 2;
    ck_assert_int_eq(query_target_history(&q, &filter, &list, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.items[1].since_ms, NOW_MS - 4 * 60000);
    ck_assert_uint_eq(meta.nodes_omitted, ENTRIES - 2);
    target_list_free(&list);
}
END_TEST

START_TEST(test_profile)
{
    profile p;

    f.sums = sums;
    f.sum_count = 4;
    ck_assert_int_eq(query_profile(&q, &filter, &p, &meta, &err), QUERY_OK);
    ck_assert_uint_eq(meta.seen, 160);
    ck_assert_uint_eq(meta.cut, 50);
    ck_assert_uint_eq(meta.dropped, 30);
    ck_assert(meta.missing_stacks);
    ck_assert_uint_eq(meta.rows_scanned, 5);
    sagg_tree *tree = profile_tree(&p, PROFILE_TYPE_CPU, false, 1000, &meta);
    ck_assert_ptr_nonnull(tree);
    ck_assert_uint_eq(sagg_tree_get(tree)->total[0], 160);
    ck_assert_uint_eq(meta.omitted, 0);
    sagg_tree_free(tree);
    tree = profile_tree(&p, PROFILE_TYPE_CPU, false, 2, &meta);
    ck_assert_uint_gt(meta.omitted, 0);
    sagg_tree_free(tree);
    profile_free(&p);
}
END_TEST

/* Frames in the cache are not read again, and make the same tree. */
START_TEST(test_frames_are_read_once)
{
    query held = q;
    profile p;

    f.sums = sums;
    f.sum_count = 4;
    held.stacks = stack_cache_new(100000);
    for (unsigned i = 0; i < 2; i++) {
        meta = (query_meta){.from_ms = 0};
        ck_assert_int_eq(query_profile(&held, &filter, &p, &meta, &err), QUERY_OK);
        ck_assert_uint_eq(f.frames_asked, i == 0 ? 4 : 5); /* the store may have the lost one now */
        ck_assert_uint_eq(meta.cut, 50);
        ck_assert_uint_eq(meta.dropped, 30);
        ck_assert(meta.missing_stacks);
        sagg_tree *tree = profile_tree(&p, PROFILE_TYPE_CPU, false, 1000, &meta);
        ck_assert_uint_eq(sagg_tree_get(tree)->total[0], 160);
        sagg_tree_free(tree);
        profile_free(&p);
    }
    stack_cache_free(held.stacks);
}
END_TEST

START_TEST(test_top_counts_recursion_once)
{
    top_table table;
    profile p;

    f.sums = sums;
    f.sum_count = 2;
    ck_assert_int_eq(query_profile(&q, &filter, &p, &meta, &err), QUERY_OK);
    ck_assert_int_eq(profile_top(&p, false, 10, &table, &meta), 0);
    ck_assert_uint_eq(table.count, 3);
    ck_assert_int_eq(strncmp(table.rows[0].frame.method.data, "a", 1), 0);
    ck_assert_uint_eq(table.rows[0].self, 70);
    ck_assert_uint_eq(table.rows[0].total, 120);
    ck_assert_uint_eq(table.rows[2].self, 0);
    ck_assert_uint_eq(table.rows[2].total, 120);
    top_table_free(&table);
    ck_assert_int_eq(profile_top(&p, true, 2, &table, &meta), 0);
    ck_assert_uint_eq(table.count, 2);
    ck_assert_uint_eq(meta.nodes_omitted, 2);
    top_table_free(&table);
    profile_free(&p);
}
END_TEST

START_TEST(test_a_store_that_is_down)
{
    profile p;

    f.fails = STORE_ERR_UNAVAILABLE;
    ck_assert_int_eq(query_profile(&q, &filter, &p, &meta, &err), QUERY_UNAVAILABLE);
    profile_free(&p);
    f.fails = STORE_ERR_TIMEOUT;
    ck_assert_int_eq(query_profile(&q, &filter, &p, &meta, &err), QUERY_TIMEOUT);
    profile_free(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-query");
    TCase *tcase = tcase_create("query");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, test_scope_and_retention);
    tcase_add_test(tcase, test_lost_events_are_of_one_type);
    tcase_add_test(tcase, test_pools_beyond_the_limit_are_told);
    tcase_add_test(tcase, test_a_timeline_tells_idle_from_not_recorded);
    tcase_add_test(tcase, test_services);
    tcase_add_loop_test(tcase, test_verdicts, 0, sizeof(verdicts) / sizeof(verdicts[0]));
    tcase_add_test(tcase, test_a_history_is_one_entry_while_nothing_changes);
    tcase_add_test(tcase, test_profile);
    tcase_add_test(tcase, test_frames_are_read_once);
    tcase_add_test(tcase, test_top_counts_recursion_once);
    tcase_add_test(tcase, test_a_store_that_is_down);
    return run_suite(suite);
}
