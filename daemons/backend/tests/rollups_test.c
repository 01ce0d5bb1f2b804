/* SPDX-License-Identifier: Apache-2.0 */
/* Tests passes over a store with two dirty hours, one of which may fail. */
#include <string.h>

#include "rollups.h"
#include "run_suite.h"

enum { HOUR = 3600000 };

typedef struct fake {
    bool rolled[2], drifts;
    uint64_t generations[4];
    size_t rolls, failing; /* the roll that fails, counted from 1; 0: none */
    uint64_t from_ms, to_ms;
} fake;

static fake f;
static uint64_t now_ms;
static rollups r;

static int find_dirty(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t limit,
                      rollup_hour_fn each, void *context, uint64_t *dirty, store_error *err)
{
    char name[] = "shop";
    (void)self, (void)limit, (void)err;
    f.from_ms = from_ms;
    f.to_ms = to_ms;
    *dirty = 0;
    for (size_t i = 0; i < 2; i++) {
        const rollup_hour hour = {{text_of("east"), text_of(""), text_of(name)}, i * HOUR, 3};
        if (f.rolled[i])
            continue;
        ++*dirty;
        if (each(context, &hour) != 0)
            return STORE_ERR_FAILED;
    }
    memset(name, 'x', sizeof(name) - 1); /* the store's texts are invalid after the call */
    return 0;
}

static int roll(void *self, const rollup_hour *hour, uint64_t generation, store_error *err)
{
    (void)self;
    ck_assert(text_equal(hour->key.workload, text_of("shop")));
    ck_assert_uint_eq(hour->windows, 3);
    f.generations[f.rolls++] = generation;
    if (f.rolls == f.failing) {
        err->code = STORE_ERR_UNAVAILABLE;
        return err->code;
    }
    f.rolled[hour->hour_ms / HOUR] = true;
    return 0;
}

static int verify(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t chance, bool *drifted,
                  store_error *err)
{
    (void)self, (void)from_ms, (void)to_ms, (void)chance, (void)err;
    *drifted = f.drifts;
    return 0;
}

static uint64_t now(void *clock)
{
    (void)clock;
    return now_ms++;
}

static uint64_t seven(void *clock)
{
    (void)clock;
    return 7;
}

static void setup(void)
{
    static const rollup_ops ops = {find_dirty, roll, verify};
    const rollup_options options = {.ops = &ops,
                                    .retention_ms = 24ull * HOUR,
                                    .grace_ms = 300000,
                                    .hours = 10,
                                    .now_ms = now,
                                    .random = seven};

    f = (fake){.failing = 0};
    now_ms = 30ull * HOUR + 299000;
    rollups_init(&r, &options);
}

static void teardown(void)
{
    rollups_destroy(&r);
}

START_TEST(closed_hours_within_the_retention_are_summed)
{
    store_error err = {0};
    ck_assert_int_eq(rollups_pass(&r, &err), 0);
    /* Hour 29 closes five minutes after its end. */
    ck_assert_uint_eq(f.to_ms, 29ull * HOUR);
    ck_assert_uint_eq(f.from_ms, 6ull * HOUR + 299000);
    rollup_stats stats = rollups_read(&r);
    ck_assert_uint_eq(stats.hours, 2);
    ck_assert_uint_eq(stats.dirty, 0);
    ck_assert_uint_gt(stats.last_ms, 0);
    ck_assert_uint_gt(f.generations[1], f.generations[0]);
}
END_TEST

START_TEST(a_failed_hour_waits_for_the_next_pass)
{
    store_error err = {0};
    f.failing = 2;
    ck_assert_int_eq(rollups_pass(&r, &err), STORE_ERR_UNAVAILABLE);
    rollup_stats stats = rollups_read(&r);
    ck_assert_uint_eq(stats.dirty, 1);
    ck_assert_uint_eq(stats.failures, 1);
    ck_assert_uint_eq(stats.last_ms, 0);
    ck_assert_int_eq(rollups_pass(&r, &err), 0);
    ck_assert_uint_eq(rollups_read(&r).hours, 2);
    ck_assert_uint_gt(f.generations[2], f.generations[1]);
}
END_TEST

START_TEST(drift_is_counted)
{
    store_error err = {0};
    f.drifts = true;
    ck_assert_int_eq(rollups_pass(&r, &err), 0);
    ck_assert_uint_eq(rollups_read(&r).drifted, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rollups");
    TCase *tests = tcase_create("passes");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, closed_hours_within_the_retention_are_summed);
    tcase_add_test(tests, a_failed_hour_waits_for_the_next_pass);
    tcase_add_test(tests, drift_is_counted);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
