/* SPDX-License-Identifier: Apache-2.0 */
/* Tests entries: many samples at a time, two types of the same events, and caps. */
#include "support.h"

#include <stdlib.h>

/* Makes random samples, many of which have equal keys. */
static void random_samples(sagg *agg, sagg_sample *samples, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "a.b%u", next_random(state, 300));
        uint32_t type = next_random(state, 2) == 0 ? CPU : ALLOC;
        samples[i] =
            (sagg_sample){.type = type,
                          .thread = thread(agg, next_random(state, 5), "t"),
                          .stack = next_random(state, 9) == 0 ? SAGG_DROPPED : stack(agg, path),
                          .raw_value = next_random(state, 1000),
                          .value = next_random(state, 1000),
                          .samples = 1 + next_random(state, 3)};
    }
}

/* Compares the fast function with its plain counterpart. */
START_TEST(many_samples_at_once_are_each_of_them)
{
    enum { COUNT = 3000 };
    static sagg_sample samples[COUNT];
    uint64_t state = 5;
    sagg *each = make(NULL);
    sagg *all = make(NULL);
    random_samples(each, samples, COUNT, &state);
    state = 5;
    random_samples(all, samples, COUNT, &state);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_int_eq(sagg_add(each, &samples[i], NULL), 0);
    ck_assert_int_eq(sagg_add_all(all, samples, 0, NULL), 0);
    ck_assert_int_eq(sagg_add_all(all, samples, 1001, NULL), 0);
    ck_assert_int_eq(sagg_add_all(all, samples + 1001, COUNT - 1001, NULL), 0);
    same_entries(each, all);
    sagg_free(each);
    sagg_free(all);
}
END_TEST

/* Makes samples of which many are two types of one event, and many are not. */
static void random_pairs(sagg *agg, sagg_sample *samples, size_t count, uint64_t *state)
{
    random_samples(agg, samples, count, state);
    for (size_t i = 0; i + 1 < count; i++) {
        if (next_random(state, 3) == 0)
            continue;
        samples[i].value = samples[i].raw_value;
        samples[i + 1].type = samples[i].type == CPU ? ALLOC : CPU;
        samples[i + 1].thread = samples[i].thread;
        samples[i + 1].stack = samples[i].stack;
        samples[i + 1].samples = samples[i].samples;
        samples[i + 1].raw_value = samples[i].samples;
        i += next_random(state, 2);
    }
}

/* Compares the entries of an aggregate, summed by their keys, with the samples. */
static void must_hold(const sagg *agg, const sagg_sample *samples, size_t count)
{
    size_t cursor = 0, entries = 0;
    sagg_entry entry;
    sagg_totals all = {0};
    while (sagg_next(agg, &cursor, &entry)) {
        sagg_totals sums = {0};
        for (size_t i = 0; i < count; i++) {
            const sagg_sample *s = &samples[i];
            if (s->type != entry.type || s->thread != entry.thread || s->stack != entry.stack)
                continue;
            sums.raw_value += s->raw_value;
            sums.value += s->value;
            sums.samples += s->samples;
        }
        ck_assert_uint_eq(entry.totals.raw_value, sums.raw_value);
        ck_assert_uint_eq(entry.totals.value, sums.value);
        ck_assert_uint_eq(entry.totals.samples, sums.samples);
        all.value += sums.value;
        entries++;
    }
    ck_assert_uint_gt(entries, 10);
    ck_assert_uint_eq(all.value,
                      sagg_type_totals(agg, CPU).value + sagg_type_totals(agg, ALLOC).value);
}

/* Makes samples of an aggregate's stacks and threads, the same ones for the same state. */
typedef void fill(sagg *agg, sagg_sample *samples, size_t count, uint64_t *state);

/* Checks that an aggregate holds all samples, and that one into which it is merged does too. */
static void must_hold_and_merge(fill *fill_samples)
{
    enum { COUNT = 2000 };
    static sagg_sample samples[COUNT];
    uint64_t state = 11;
    sagg *agg = make(NULL);
    fill_samples(agg, samples, COUNT, &state);
    ck_assert_int_eq(sagg_add_all(agg, samples, COUNT, NULL), 0);
    must_hold(agg, samples, COUNT);
    sagg *into = make(NULL);
    state = 11;
    fill_samples(into, samples, COUNT, &state); /* gives stacks and threads the same numbers */
    ck_assert_int_eq(sagg_merge(into, agg, NULL), 0);
    must_hold(into, samples, COUNT);
    sagg_free(agg);
    sagg_free(into);
}

/* Types that form a pair share an entry, which no caller must notice. */
START_TEST(two_types_of_one_event_are_two_entries)
{
    must_hold_and_merge(random_pairs);
}
END_TEST

static void very_many(sagg *agg, sagg_sample *samples, size_t count, uint64_t *state)
{
    random_samples(agg, samples, count, state);
    for (size_t i = 0; i < count; i++)
        samples[i].samples <<= i % 5 * 10;
}

/* Entries with very many samples take more memory, and lose no samples when entries move. */
START_TEST(samples_can_be_very_many)
{
    must_hold_and_merge(very_many);
}
END_TEST

/* The same within a memory cap, with pairs that are split, when stacks are removed. */
START_TEST(no_samples_are_lost_when_entries_move)
{
    sagg_options options = two_types();
    uint64_t state = 3, sum = 0;
    options.max_bytes = 1 << 20;
    sagg *agg = make(&options);
    for (uint32_t i = 0; i < 40000; i++) {
        char path[16];
        uint64_t many = i < 3000 ? 1 : (uint64_t)next_random(&state, 9) << next_random(&state, 36);
        (void)snprintf(path, sizeof(path), "a.b%u", next_random(&state, 3000));
        sagg_sample two[2] = {{.type = ALLOC, .raw_value = 1, .value = 1, .samples = many},
                              {.type = CPU, .raw_value = many, .value = 1, .samples = many}};
        two[0].stack = two[1].stack = stack(agg, path);
        two[0].thread = two[1].thread = thread(agg, next_random(&state, 4), "t");
        size_t count = 1 + next_random(&state, 2);
        ck_assert_int_eq(sagg_add_all(agg, two, count, NULL), 0);
        sum += many * count;
        if (sagg_full(agg))
            ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    }
    ck_assert_uint_gt(sagg_losses(agg).stacks_dropped, 0);
    size_t cursor = 0;
    sagg_entry entry;
    uint64_t most = 0;
    while (sagg_next(agg, &cursor, &entry)) {
        sum -= entry.totals.samples;
        if (entry.stack != SAGG_DROPPED && entry.totals.samples > most)
            most = entry.totals.samples;
    }
    ck_assert_uint_eq(sum, 0);
    ck_assert_uint_gt(most, UINT32_MAX);
    sagg_free(agg);
}
END_TEST

START_TEST(pairs_take_half_the_memory)
{
    enum { COUNT = 20000 };
    sagg *pairs = make(NULL);
    sagg *singles = make(NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "a.b%u", i);
        sagg_sample two[2] = {{.type = ALLOC, .raw_value = 64, .value = 64, .samples = 1},
                              {.type = CPU, .raw_value = 1, .value = 3, .samples = 1}};
        two[0].stack = two[1].stack = stack(pairs, path);
        ck_assert_int_eq(sagg_add_all(pairs, two, 2, NULL), 0);
        ck_assert_uint_eq(stack(singles, path), two[0].stack);
        ck_assert_int_eq(sagg_add(singles, &two[0], NULL), 0);
        ck_assert_int_eq(sagg_add(singles, &two[1], NULL), 0);
    }
    same_entries(pairs, singles);
    ck_assert_uint_lt(sagg_bytes(pairs) + (uint64_t)COUNT * 30, sagg_bytes(singles));
    sagg_free(pairs);
    sagg_free(singles);
}
END_TEST

/* An entry without room when a pair is split is dropped, and its totals stay. */
START_TEST(pairs_are_parted_within_the_cap)
{
    sagg_options options = two_types();
    options.max_bytes = 1 << 20;
    sagg *agg = make(&options);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "a.b%u", i % 200);
        uint32_t owner = thread(agg, i / 200, "t");
        sagg_sample two[2] = {{.type = ALLOC, .raw_value = 64, .value = 64, .samples = 1},
                              {.type = CPU, .raw_value = 1, .value = 3, .samples = 1}};
        two[0].stack = two[1].stack = stack(agg, path);
        two[0].thread = two[1].thread = owner;
        ck_assert_int_eq(sagg_add_all(agg, two, 2, NULL), 0);
        if (i >= 10000)
            ck_assert_int_eq(sagg_add(agg, &two[i % 2], NULL), 0);
        sum += 67 + (i >= 10000 ? two[i % 2].value : 0);
        if (sagg_full(agg))
            ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    }
    ck_assert_uint_gt(sagg_losses(agg).samples_dropped, 0);
    size_t cursor = 0;
    sagg_entry entry;
    while (sagg_next(agg, &cursor, &entry))
        sum -= entry.totals.value;
    ck_assert_uint_eq(sum, 0);
    sagg_free(agg);
}
END_TEST

/* A hint changes only the memory; a hint that is too large for the cap is ignored. */
START_TEST(what_is_expected_changes_nothing_but_memory)
{
    enum { COUNT = 500 };
    static sagg_sample samples[COUNT];
    sagg_options options = two_types();
    options.max_bytes = 1 << 20;
    uint64_t state = 5;
    sagg *plain = make(&options);
    sagg *told = make(&options);
    sagg_expect(told, 300, 0);
    ck_assert_uint_gt(sagg_bytes(told), sagg_bytes(plain));
    uint64_t bytes = sagg_bytes(told);
    sagg_expect(told, 0, 700);
    ck_assert_uint_gt(sagg_bytes(told), bytes);
    bytes = sagg_bytes(told);
    sagg_expect(told, 10, 10);
    sagg_expect(told, UINT32_MAX, 10);
    sagg_expect(told, 10, UINT32_MAX);
    ck_assert_uint_eq(sagg_bytes(told), bytes);
    random_samples(plain, samples, COUNT, &state);
    ck_assert_int_eq(sagg_add_all(plain, samples, COUNT, NULL), 0);
    state = 5;
    random_samples(told, samples, COUNT, &state);
    ck_assert_int_eq(sagg_add_all(told, samples, COUNT, NULL), 0);
    same_entries(plain, told);
    sagg_free(plain);
    sagg_free(told);
}
END_TEST

/* Counts each pair of a type and a stack once, in the naive way. */
static uint64_t count_type_stacks(const sagg *agg, uint32_t type)
{
    uint64_t count = 0;
    sagg_entry entry, earlier;
    for (size_t cursor = 0, at = 0; sagg_next(agg, &cursor, &entry); at = cursor) {
        bool met = entry.type != type;
        for (size_t before = 0; !met && before < at && sagg_next(agg, &before, &earlier);)
            met = earlier.type == type && earlier.stack == entry.stack;
        count += !met;
    }
    return count;
}

static void check_type_stacks(const sagg *agg)
{
    uint64_t counts[SAGG_MAX_TYPE + 1];
    sagg_type_stacks(agg, counts);
    ck_assert_uint_eq(counts[CPU], count_type_stacks(agg, CPU));
    ck_assert_uint_eq(counts[ALLOC], count_type_stacks(agg, ALLOC));
    ck_assert_uint_eq(counts[0] + counts[SAGG_MAX_TYPE], 0);
}

/* Below the cap, and when stacks are dropped. */
START_TEST(stacks_of_a_type_are_counted_once)
{
    enum { COUNT = 1500 };
    static sagg_sample samples[COUNT];
    sagg_options options = two_types();
    uint64_t counts[SAGG_MAX_TYPE + 1];
    uint64_t state = 17;
    options.max_stacks = _i == 0 ? 1000 : 100;
    sagg *agg = make(&options);
    check_type_stacks(agg);
    /* the second half has the stacks of the first again, in other orders and with more threads */
    for (int half = 0; half < 2; half++) {
        random_pairs(agg, samples, COUNT, &state);
        ck_assert_int_eq(sagg_add_all(agg, samples, COUNT, NULL), 0);
        check_type_stacks(agg);
        ck_assert_int_eq(sagg_compact(agg, NULL), 0);
        check_type_stacks(agg);
    }
    sagg_type_stacks(agg, counts);
    ck_assert(_i == 0 ? counts[CPU] > 200 : counts[CPU] > 50 && counts[CPU] <= 101);
    sagg *merged = make(&options);
    ck_assert_int_eq(sagg_merge(merged, agg, NULL), 0);
    check_type_stacks(merged);
    sagg_free(merged);
    sagg_free(agg);
}
END_TEST

START_TEST(samples_before_a_bad_one_are_added)
{
    enum { COUNT = 100 };
    sagg *agg = make(NULL);
    sagg_sample samples[COUNT];
    sagg_error err;
    uint32_t index = stack(agg, "a.b");
    for (uint32_t i = 0; i < COUNT; i++)
        samples[i] = (sagg_sample){.type = CPU, .stack = index, .value = 1, .samples = 1};
    samples[_i].stack = 1000;
    ck_assert_int_eq(sagg_add_all(agg, samples, COUNT, &err), SAGG_ERR_USAGE);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, (unsigned)_i);
    sagg_free(agg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("entries");
    TCase *tcase = tcase_create("entries");
    tcase_add_test(tcase, many_samples_at_once_are_each_of_them);
    tcase_add_test(tcase, two_types_of_one_event_are_two_entries);
    tcase_add_test(tcase, samples_can_be_very_many);
    tcase_add_test(tcase, no_samples_are_lost_when_entries_move);
    tcase_add_test(tcase, pairs_take_half_the_memory);
    tcase_add_test(tcase, pairs_are_parted_within_the_cap);
    tcase_add_test(tcase, what_is_expected_changes_nothing_but_memory);
    tcase_add_loop_test(tcase, stacks_of_a_type_are_counted_once, 0, 2);
    tcase_add_loop_test(tcase, samples_before_a_bad_one_are_added, 0, 70);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
