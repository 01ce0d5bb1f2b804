/* SPDX-License-Identifier: Apache-2.0 */
/* Compares rows of lanes with the samples that they represent. */
#include "support.h"

enum { LANES = 150, ROWS = 700 };

/* Makes lanes of single types and of pairs in both orders, of few threads and labels. */
static void make_lanes(sagg *agg, sagg_lane lanes[LANES])
{
    uint64_t state = 3;
    for (size_t i = 0; i < LANES; i++) {
        char name[8];
        sagg_lane *lane = &lanes[i];
        (void)snprintf(name, sizeof(name), "%c-%u", 'a' + (int)next_random(&state, 2),
                       next_random(&state, 4));
        lane->type = next_random(&state, 2) == 0 ? CPU : ALLOC;
        lane->twin = next_random(&state, 2) == 0 ? CPU + ALLOC - lane->type : 0;
        lane->thread = next_random(&state, 5) == 0 ? SAGG_NO_THREAD : thread(agg, 1, name);
        ck_assert_int_eq(
            sagg_add_label(agg, &lane->label, next_random(&state, 2), str("label"), NULL), 0);
    }
}

/* Makes rows of successive stacks, as when they are sorted, and of some that are repeated. */
static void make_rows(sagg *agg, sagg_row rows[ROWS], uint64_t *state, uint64_t most)
{
    for (size_t i = 0; i < ROWS;) {
        char path[16];
        (void)snprintf(path, sizeof(path), "a.b%u", next_random(state, 4000));
        uint32_t of = next_random(state, 20) == 0 ? SAGG_DROPPED : stack(agg, path);
        size_t count = 1 + next_random(state, next_random(state, 50) == 0 ? 40 : 4);
        for (; count > 0 && i < ROWS; count--)
            rows[i++] = (sagg_row){.stack = of,
                                   .lane = next_random(state, LANES),
                                   .raw_value = next_random(state, 1000) * most,
                                   .value = next_random(state, 1000) * most,
                                   .samples = 1 + next_random(state, 3)};
    }
}

static void add_as_samples(sagg *agg, const sagg_lane *lane, const sagg_row *row)
{
    sagg_sample samples[2];
    samples[0] = samples[1] = (sagg_sample){.type = lane->type,
                                            .thread = lane->thread,
                                            .stack = row->stack,
                                            .label = lane->label,
                                            .raw_value = row->raw_value,
                                            .value = row->value,
                                            .samples = row->samples};
    if (lane->twin != 0) {
        samples[0].value = row->raw_value;
        samples[1].type = lane->twin;
        samples[1].raw_value = row->samples;
    }
    ck_assert_int_eq(sagg_add_all(agg, samples, lane->twin != 0 ? 2 : 1, NULL), 0);
}

/* Adds rounds of rows to both aggregates, each by its own function, and compacts them where they
 * are full. Returns the losses to the caps. */
static sagg_loss add_both_ways(const sagg_options *options, int rounds, uint64_t most)
{
    static sagg_row rows[ROWS];
    static sagg_lane lanes[LANES];
    sagg *plain = make(options);
    sagg *quick = make(options);
    uint64_t state = 7;
    make_lanes(plain, lanes);
    make_lanes(quick, lanes);
    for (int round = 0; round < rounds; round++) {
        uint64_t same = state;
        make_rows(plain, rows, &same, most);
        for (size_t i = 0; i < ROWS; i++)
            add_as_samples(plain, &lanes[rows[i].lane], &rows[i]);
        make_rows(quick, rows, &state, most);
        ck_assert_int_eq(sagg_add_rows(quick, lanes, LANES, rows, 500, NULL), 0);
        ck_assert_int_eq(sagg_add_rows(quick, lanes, LANES, rows + 500, ROWS - 500, NULL), 0);
        ck_assert_int_eq(sagg_full(quick), sagg_full(plain));
        if (sagg_full(plain)) {
            ck_assert_int_eq(sagg_compact(plain, NULL), 0);
            ck_assert_int_eq(sagg_compact(quick, NULL), 0);
        }
    }
    same_entries(plain, quick);
    sagg_loss a = sagg_losses(plain), b = sagg_losses(quick);
    ck_assert_uint_eq(a.stacks_dropped, b.stacks_dropped);
    ck_assert_uint_eq(a.samples_dropped, b.samples_dropped);
    ck_assert_int_eq(a.saturated > 0, b.saturated > 0); /* fewer sums are made */
    for (uint32_t type = CPU; type <= ALLOC; type++)
        ck_assert_uint_eq(sagg_error_bound(plain, type), sagg_error_bound(quick, type));
    ck_assert_uint_eq(sagg_bytes(plain), sagg_bytes(quick));
    sagg_free(plain);
    sagg_free(quick);
    return a;
}

START_TEST(rows_are_their_samples)
{
    sagg_options options = two_types();
    options.group = _i;
    ck_assert_uint_eq(add_both_ways(&options, 12, 1).stacks_dropped, 0);
}
END_TEST

/* Caps on stacks, threads, and entries. */
START_TEST(caps_do_to_rows_what_they_do_to_samples)
{
    sagg_options options = two_types();
    options.max_stacks = _i == 0 ? 100 : 0;
    options.max_threads = _i == 1 ? 3 : 0;
    options.max_bytes = _i == 2 ? 1 << 20 : 0;
    sagg_loss loss = add_both_ways(&options, 60, 1);
    ck_assert_uint_gt(_i == 1 ? loss.threads_folded : loss.stacks_dropped, 0);
}
END_TEST

START_TEST(sums_of_rows_saturate)
{
    ck_assert_uint_gt(add_both_ways(NULL, 12, UINT64_C(1) << 54).saturated, 0);
}
END_TEST

START_TEST(rows_before_a_bad_one_are_added)
{
    static const struct {
        sagg_lane lane;
        sagg_row row;
        const char *message;
    } bad[] = {
        {{.type = 3}, {0}, "Lane 1 has profile type 3 and twin 0"},
        {{.type = SAGG_MAX_TYPE + 1}, {0}, "Lane 1 has profile type 64"},
        {{.type = 0}, {0}, "Lane 1 has profile type 0"},
        {{.type = CPU, .twin = 3}, {0}, "Lane 1 has profile type 1 and twin 3"},
        {{.type = CPU, .twin = CPU}, {0}, "Lane 1 has profile type 1 and twin 1"},
        {{.type = CPU, .thread = 2}, {0}, "Thread 2 or label 0 of lane 1"},
        {{.type = CPU, .label = 1}, {0}, "Thread 0 or label 1 of lane 1"},
        {{.type = CPU}, {.stack = 1000}, "Stack 1000 does not exist"},
        {{.type = CPU}, {.lane = 1}, "A row is of lane 2: there are 2"},
    };
    enum { COUNT = 100, AT = 40 };
    sagg_lane lanes[2] = {{.type = CPU}, bad[_i].lane};
    sagg_row rows[COUNT];
    sagg_error err;
    sagg *agg = make(NULL);
    uint32_t index = stack(agg, "a.b");
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (sagg_row){.stack = index, .value = 1, .samples = 1};
    rows[AT] = bad[_i].row;
    rows[AT].lane++;
    ck_assert_int_eq(sagg_add_rows(agg, lanes, 2, rows, COUNT, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_eq(strstr(err.message, bad[_i].message), err.message);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, AT);
    sagg_free(agg);
}
END_TEST

/* Rows and seconds that are added separately give the same totals as samples. */
START_TEST(seconds_are_added_beside_rows)
{
    enum { SECONDS = 3, COUNT = 6 };
    static const int64_t times[COUNT] = {-1, 0, 999999999, 1000000000, 2500000000, 9000000000};
    sagg_options options = two_types();
    options.seconds = SECONDS;
    sagg *by_rows = make(&options);
    sagg *by_samples = make(&options);
    sagg_lane lane = {.type = CPU};
    sagg_error err;
    for (int i = 0; i < COUNT; i++) {
        sagg_sample sample = {.type = CPU,
                              .stack = stack(by_samples, "a.b"),
                              .time_ns = times[i],
                              .raw_value = 5,
                              .value = 7 + (uint64_t)i,
                              .samples = 1};
        sagg_row row = {stack(by_rows, "a.b"), 0, 5, sample.value, 1};
        ck_assert_int_eq(sagg_add(by_samples, &sample, &err), 0);
        ck_assert_int_eq(sagg_add_rows(by_rows, &lane, 1, &row, 1, &err), 0);
        ck_assert_int_eq(sagg_add_second(by_rows, &sample, &err), 0);
    }
    uint64_t wanted = sagg_type_totals(by_samples, CPU).value;
    ck_assert_uint_eq(sagg_type_totals(by_rows, CPU).value, wanted);
    ck_assert_mem_eq(sagg_seconds(by_rows, CPU, 0), sagg_seconds(by_samples, CPU, 0),
                     SECONDS * sizeof(uint64_t));
    ck_assert_uint_eq(sagg_losses(by_rows).outside_seconds, 2);
    sagg_free(by_rows);
    sagg_free(by_samples);
}
END_TEST

START_TEST(seconds_that_nobody_keeps_are_refused)
{
    sagg_options options = two_types();
    sagg_error err;
    sagg *agg = make(&options);
    ck_assert_int_eq(sagg_add_second(agg, &(sagg_sample){.type = CPU}, &err), SAGG_ERR_USAGE);
    sagg_free(agg);
    options.seconds = 1;
    agg = make(&options);
    ck_assert_int_eq(sagg_add_second(agg, &(sagg_sample){.type = 3}, &err), SAGG_ERR_USAGE);
    sagg_free(agg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tcase = tcase_create("rows");
    tcase_add_loop_test(tcase, rows_are_their_samples, SAGG_BY_THREAD, SAGG_BY_NONE + 1);
    tcase_add_loop_test(tcase, caps_do_to_rows_what_they_do_to_samples, 0, 3);
    tcase_add_test(tcase, sums_of_rows_saturate);
    tcase_add_loop_test(tcase, rows_before_a_bad_one_are_added, 0, 9);
    tcase_add_test(tcase, seconds_are_added_beside_rows);
    tcase_add_test(tcase, seconds_that_nobody_keeps_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
