/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdlib.h>

START_TEST(the_same_content_has_the_same_index)
{
    sagg *agg = make(NULL);
    uint32_t a = stack(agg, "Main.main;a.B.c");
    ck_assert_uint_eq(stack(agg, "Main.main;a.B.c"), a);
    ck_assert_uint_ne(stack(agg, "a.B.c;Main.main"), a);
    ck_assert_uint_eq(sagg_stack_count(agg), 3); /* [dropped] is one */
    ck_assert_uint_eq(sagg_frame_count(agg), 3);
    ck_assert_uint_eq(thread(agg, 7, "main"), thread(agg, 7, "main"));
    ck_assert_uint_ne(thread(agg, 7, "main"), thread(agg, 8, "main"));
    sagg_free(agg);
}
END_TEST

/* Frames "package.Class.method:line" of a stack `depth` deep, by both ways in. */
static void add_both_ways(sagg *agg, uint32_t seed, uint32_t depth, uint32_t *plain,
                          uint32_t *quick)
{
    uint32_t frames[64];
    sagg_frame_ref refs[64];
    for (uint32_t i = 0; i < depth; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "m%u", (seed + i) % 7);
        sagg_frame frame = {
            .class_name = str("a/B$$Lambda$7.0x1"), .method = str(name), .line = i % 3};
        ck_assert_int_eq(sagg_add_method(agg, &refs[i].method, &frame, NULL), 0);
        refs[i].line = frame.line;
        if (plain != NULL)
            ck_assert_int_eq(sagg_add_frame(agg, &frames[i], &frame, NULL), 0);
    }
    ck_assert_int_eq(sagg_add_stack_refs(agg, quick, refs, depth, NULL), 0);
    if (plain != NULL)
        ck_assert_int_eq(sagg_add_stack(agg, plain, frames, depth, NULL), 0);
}

START_TEST(stacks_by_reference_are_the_same_stacks)
{
    sagg_options options = two_types();
    options.max_frames = 10;
    sagg *agg = make(&options);
    sagg *other = make(&options);
    for (uint32_t seed = 0; seed < 50; seed++) {
        uint32_t plain, quick, alone;
        add_both_ways(agg, seed, seed % 14, &plain, &quick);
        ck_assert_uint_eq(plain, quick);
        ck_assert_uint_ne(quick, SAGG_DROPPED);
        add_both_ways(other, seed, seed % 14, NULL, &alone);
        sagg_stack a, b;
        ck_assert(sagg_stack_at(agg, plain, &a) && sagg_stack_at(other, alone, &b));
        ck_assert_mem_eq(a.id.bytes, b.id.bytes, sizeof(a.id.bytes));
        ck_assert_uint_eq(a.count, seed % 14 < 10 ? seed % 14 : 10);
        ck_assert_uint_eq(a.count, b.count);
    }
    ck_assert_uint_eq(sagg_frame_count(agg), sagg_frame_count(other));
    sagg_frame_ref unknown = {.method = 1000};
    uint32_t stack;
    sagg_error err;
    ck_assert_int_eq(sagg_add_stack_refs(agg, &stack, &unknown, 1, &err), SAGG_E_USAGE);
    unknown.method = UINT32_MAX;
    ck_assert_int_eq(sagg_add_stack_refs(agg, &stack, &unknown, 1, &err), SAGG_E_USAGE);
    sagg_free(agg);
    sagg_free(other);
}
END_TEST

/* Random samples, many of which meet. */
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

static void same_entries(const sagg *a, const sagg *b)
{
    sagg_entry left, right;
    size_t at = 0, other = 0;
    while (sagg_next(a, &at, &left)) {
        ck_assert(sagg_next(b, &other, &right));
        ck_assert_uint_eq(left.type, right.type);
        ck_assert_uint_eq(left.thread, right.thread);
        ck_assert_uint_eq(left.stack, right.stack);
        ck_assert_uint_eq(left.totals.raw_value, right.totals.raw_value);
        ck_assert_uint_eq(left.totals.value, right.totals.value);
        ck_assert_uint_eq(left.totals.samples, right.totals.samples);
    }
    ck_assert(!sagg_next(b, &other, &right));
    for (uint32_t type = CPU; type <= ALLOC; type++) {
        ck_assert_uint_eq(sagg_type_totals(a, type).value, sagg_type_totals(b, type).value);
        ck_assert_uint_eq(sagg_thread_totals(a, 3, type).value,
                          sagg_thread_totals(b, 3, type).value);
    }
}

/* The fast way in, held to its plain twin. */
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

/* Samples of which many are two types of one event, and many are not. */
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

/* Adds the entries of an aggregate up by what they are told apart by. */
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

/* Types that come in pairs share an entry, which nobody must see. */
START_TEST(two_types_of_one_event_are_two_entries)
{
    enum { COUNT = 2000 };
    static sagg_sample samples[COUNT];
    uint64_t state = 11;
    sagg *agg = make(NULL);
    random_pairs(agg, samples, COUNT, &state);
    ck_assert_int_eq(sagg_add_all(agg, samples, COUNT, NULL), 0);
    must_hold(agg, samples, COUNT);
    sagg *into = make(NULL);
    state = 11;
    random_pairs(into, samples, COUNT, &state); /* gives stacks and threads the same numbers */
    ck_assert_int_eq(sagg_merge(into, agg, NULL), 0);
    must_hold(into, samples, COUNT);
    sagg_free(agg);
    sagg_free(into);
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

/* What has no room when a pair is parted is dropped, and its totals stay. */
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

/* A hint changes memory, and nothing else; one that is too large for the cap is not followed. */
START_TEST(what_is_expected_changes_nothing_but_memory)
{
    enum { COUNT = 500 };
    static sagg_sample samples[COUNT];
    sagg_options options = two_types();
    options.max_bytes = 1 << 20;
    uint64_t state = 5;
    sagg *plain = make(&options);
    sagg *told = make(&options);
    sagg_expect(told, 300, 1000);
    ck_assert_uint_gt(sagg_bytes(told), sagg_bytes(plain));
    uint64_t bytes = sagg_bytes(told);
    sagg_expect(told, 10, 10);
    sagg_expect(told, UINT32_MAX, UINT32_MAX);
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
    ck_assert_int_eq(sagg_add_all(agg, samples, COUNT, &err), SAGG_E_USAGE);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, (unsigned)_i);
    sagg_free(agg);
}
END_TEST

START_TEST(stacks_by_reference_past_the_cap_are_dropped)
{
    sagg_options options = two_types();
    options.max_stacks = 3;
    sagg *agg = make(&options);
    uint32_t stack = SAGG_DROPPED;
    for (uint32_t seed = 0; seed < 7; seed++)
        add_both_ways(agg, seed, 5, NULL, &stack);
    ck_assert_uint_eq(stack, SAGG_DROPPED);
    ck_assert_uint_gt(sagg_losses(agg).stacks_dropped, 0);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    add_both_ways(agg, 3, 5, NULL, &stack);
    ck_assert_uint_ne(stack, SAGG_DROPPED);
    sagg_free(agg);
}
END_TEST

START_TEST(totals_add_up_by_type_thread_and_stack)
{
    sagg *agg = make(NULL);
    uint32_t s = stack(agg, "Main.main;a.B.c");
    uint32_t t = thread(agg, 7, "exec-1");
    uint32_t u = thread(agg, 8, "exec-2");
    add(agg, CPU, t, s, 10);
    add(agg, CPU, t, s, 5);
    add(agg, CPU, u, s, 1);
    add(agg, ALLOC, t, s, 100);
    sagg_totals totals = sagg_type_totals(agg, CPU);
    ck_assert_uint_eq(totals.value, 16);
    ck_assert_uint_eq(totals.raw_value, 13);
    ck_assert_uint_eq(totals.samples, 3);
    ck_assert_uint_eq(sagg_thread_totals(agg, t, CPU).value, 15);
    sagg_thread row;
    ck_assert(sagg_thread_at(agg, t, &row));
    ck_assert_uint_eq(row.pool.size, strlen("exec-#"));
    ck_assert_mem_eq(row.pool.data, "exec-#", row.pool.size);
    ck_assert_uint_eq(sagg_thread_totals(agg, row.pool_thread, CPU).value, 16);
    size_t cursor = 0;
    size_t count = 0;
    sagg_entry entry;
    while (sagg_next(agg, &cursor, &entry))
        count++;
    ck_assert_uint_eq(count, 3);
    sagg_free(agg);
}
END_TEST

START_TEST(pools_replace_threads_in_entries)
{
    sagg_options options = two_types();
    options.group = SAGG_BY_POOL;
    sagg *agg = make(&options);
    uint32_t s = stack(agg, "Main.main");
    uint32_t t = thread(agg, 7, "exec-1");
    add(agg, CPU, t, s, 10);
    add(agg, CPU, thread(agg, 8, "exec-2"), s, 1);
    size_t cursor = 0;
    sagg_entry entry;
    ck_assert(sagg_next(agg, &cursor, &entry));
    ck_assert_uint_eq(entry.totals.value, 11);
    sagg_thread row;
    ck_assert(sagg_thread_at(agg, entry.thread, &row));
    ck_assert_uint_eq(row.name.size, 0);
    ck_assert_uint_eq(row.pool_thread, entry.thread);
    ck_assert(!sagg_next(agg, &cursor, &entry));
    ck_assert_uint_eq(sagg_thread_totals(agg, t, CPU).value, 10);
    sagg_free(agg);
}
END_TEST

START_TEST(labels_keep_parts_of_a_type_apart)
{
    sagg *agg = make(NULL);
    uint32_t label, tag = 0;
    sagg_str text;
    ck_assert_int_eq(sagg_add_label(agg, &label, 3, str("byte[]"), NULL), 0);
    ck_assert_uint_eq(label, 1);
    sagg_sample sample = {.type = ALLOC, .stack = stack(agg, "a.B.c"), .value = 5, .samples = 1};
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    sample.label = label;
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    size_t cursor = 0;
    sagg_entry entry;
    ck_assert(sagg_next(agg, &cursor, &entry));
    ck_assert_uint_eq(entry.label, 0);
    ck_assert(sagg_next(agg, &cursor, &entry));
    ck_assert(sagg_label_at(agg, entry.label, &tag, &text));
    ck_assert_uint_eq(tag, 3);
    ck_assert_mem_eq(text.data, "byte[]", text.size);
    sagg_free(agg);
}
END_TEST

START_TEST(seconds_are_kept_by_pool)
{
    sagg_options options = two_types();
    options.seconds = 3;
    options.origin_ns = 1000000000;
    sagg *agg = make(&options);
    uint32_t t = thread(agg, 7, "exec-1");
    sagg_sample sample = {
        .type = CPU, .thread = t, .stack = stack(agg, "a.b"), .value = 4, .samples = 1};
    const int64_t times[] = {0, 1000000000, 2999999999, 3000000000, 99000000000};
    for (size_t i = 0; i < 5; i++) {
        sample.time_ns = times[i];
        ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    }
    sagg_thread row;
    ck_assert(sagg_thread_at(agg, t, &row));
    const uint64_t *seconds = sagg_seconds(agg, CPU, row.pool_thread);
    ck_assert_ptr_nonnull(seconds);
    ck_assert_uint_eq(seconds[0], 8);
    ck_assert_uint_eq(seconds[1], 4);
    ck_assert_uint_eq(seconds[2], 8);
    ck_assert_uint_eq(sagg_losses(agg).outside_seconds, 2);
    ck_assert_ptr_null(sagg_seconds(agg, ALLOC, row.pool_thread));
    sagg_free(agg);
}
END_TEST

START_TEST(sums_saturate_and_say_so)
{
    sagg *agg = make(NULL);
    sagg_sample sample = {
        .type = CPU, .stack = stack(agg, "a.b"), .value = UINT64_MAX, .samples = 1};
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    ck_assert_uint_eq(sagg_losses(agg).saturated, 0);
    ck_assert_int_eq(sagg_add(agg, &sample, NULL), 0);
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, UINT64_MAX);
    ck_assert_uint_gt(sagg_losses(agg).saturated, 0);
    sagg_free(agg);
}
END_TEST

START_TEST(deep_stacks_keep_their_leaves)
{
    sagg_options options = two_types();
    options.max_frames = 3;
    sagg *agg = make(&options);
    add(agg, CPU, 0, stack(agg, "a.r;a.s;a.t;a.u;a.v"), 5);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, "[truncated];a.u;a.v 5\n");
    ck_assert_uint_eq(sagg_losses(agg).stacks_cut, 1);
    free(text);
    sagg_free(agg);
}
END_TEST

START_TEST(threads_past_the_cap_count_with_their_pool)
{
    sagg_options options = two_types();
    options.max_threads = 2;
    sagg *agg = make(&options);
    uint32_t s = stack(agg, "a.b");
    uint64_t sum = 0;
    for (int i = 0; i < 10; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%s-%d",
                       i < 6   ? "first"
                       : i < 8 ? "second"
                               : "third",
                       i);
        add(agg, CPU, thread(agg, i + 1, name), s, 1);
        sum++;
    }
    ck_assert_uint_eq(sagg_type_totals(agg, CPU).value, sum);
    ck_assert_uint_eq(sagg_thread_count(agg), 2 + 2 + 2); /* none, dropped; exact; pools */
    ck_assert_uint_eq(sagg_thread_totals(agg, SAGG_DROPPED_THREAD, CPU).value, 2);
    ck_assert_uint_eq(sagg_losses(agg).threads_folded, 8);
    uint64_t pools = 0;
    for (uint32_t i = 0; i < sagg_thread_count(agg); i++) {
        sagg_thread row;
        ck_assert(sagg_thread_at(agg, i, &row));
        if (row.pool_thread == i)
            pools += sagg_thread_totals(agg, i, CPU).value;
    }
    ck_assert_uint_eq(pools, sum);
    sagg_free(agg);
}
END_TEST

START_TEST(mistakes_are_named)
{
    sagg *agg = make(NULL);
    sagg_sample sample = {.type = 9, .samples = 1};
    sagg_error err = {0};
    ck_assert_int_eq(sagg_add(agg, &sample, &err), SAGG_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "type 9"));
    sample.type = CPU;
    sample.stack = 77;
    ck_assert_int_eq(sagg_add(agg, &sample, &err), SAGG_E_USAGE);
    uint32_t bad = 55, index;
    ck_assert_int_eq(sagg_add_stack(agg, &index, &bad, 1, &err), SAGG_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "Frame 55"));
    sagg_free(agg);
}
END_TEST

static const sagg_type twice[] = {{1, "a", "b"}, {1, "c", "d"}};
static const sagg_type no_id[] = {{0, "a", "b"}};
static const sagg_type no_name[] = {{1, NULL, "b"}};

START_TEST(bad_options_are_refused)
{
    sagg_options rows[8];
    for (size_t i = 0; i < 8; i++)
        rows[i] = two_types();
    rows[0].type_count = 0;
    rows[1].types = twice;
    rows[2].types = no_id, rows[2].type_count = 1;
    rows[3].types = no_name, rows[3].type_count = 1;
    rows[4].normaliser = 2;
    rows[5].group = 3;
    rows[6].max_bytes = 1;
    rows[7].seconds = 86401;
    for (size_t i = 0; i < 8; i++) {
        sagg *agg = NULL;
        sagg_error err = {0};
        ck_assert_int_eq(sagg_new(&agg, &rows[i], &err), SAGG_E_USAGE);
        ck_assert_ptr_null(agg);
        ck_assert_uint_gt(strlen(err.message), 10);
    }
    ck_assert_int_eq(sagg_new(NULL, NULL, NULL), SAGG_E_USAGE);
}
END_TEST

START_TEST(options_of_a_newer_header_must_be_zero_behind_ours)
{
    struct {
        sagg_options known;
        uint64_t later;
    } options = {two_types(), 0};
    sagg *agg = NULL;
    options.known.size = sizeof(options);
    ck_assert_int_eq(sagg_new(&agg, &options.known, NULL), 0);
    sagg_free(agg);
    options.later = 1;
    ck_assert_int_eq(sagg_new(&agg, &options.known, NULL), SAGG_E_USAGE);
}
END_TEST

/* An allocator that fails at the n-th call and counts what is out. */
struct failing {
    long calls_left;
    size_t out;
};

static void *fail_alloc(void *ctx, size_t bytes)
{
    struct failing *f = ctx;
    if (f->calls_left-- <= 0)
        return NULL;
    f->out += bytes;
    return malloc(bytes);
}

static void *fail_realloc(void *ctx, void *block, size_t old_bytes, size_t new_bytes)
{
    struct failing *f = ctx;
    if (f->calls_left-- <= 0)
        return NULL;
    f->out += new_bytes - old_bytes;
    return realloc(block, new_bytes);
}

static void fail_free(void *ctx, void *block, size_t bytes)
{
    struct failing *f = ctx;
    f->out -= bytes;
    free(block);
}

static int use(sagg *agg)
{
    sagg_frame frame = {.class_name = str("a.B"), .method = str("c"), .file = str("B.java")};
    sagg_thread who = {.os_tid = 4, .name = str("worker-1")};
    sagg_sample sample = {.type = CPU, .value = 3, .samples = 1};
    uint32_t index;
    int rc = sagg_add_frame(agg, &index, &frame, NULL);
    if (rc == 0)
        rc = sagg_add_stack(agg, &sample.stack, &index, 1, NULL);
    if (rc == 0)
        rc = sagg_add_thread(agg, &sample.thread, &who, NULL);
    if (rc == 0)
        rc = sagg_add(agg, &sample, NULL);
    sagg_tree *tree = NULL;
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    options.type = CPU;
    if (rc == 0)
        rc = sagg_tree_new(&tree, agg, &options, NULL);
    sagg_tree_free(tree);
    return rc;
}

START_TEST(each_failed_allocation_is_reported_and_leaks_nothing)
{
    int rc = SAGG_E_NOMEM;
    for (long n = 0; n < 200 && rc != 0; n++) {
        struct failing f = {n, 0};
        sagg_options options = two_types();
        options.seconds = 2;
        options.allocator = (sagg_allocator){fail_alloc, fail_realloc, fail_free, &f};
        sagg *agg = NULL;
        rc = sagg_new(&agg, &options, NULL);
        if (rc == 0)
            rc = use(agg);
        ck_assert(rc == 0 || rc == SAGG_E_NOMEM);
        sagg_free(agg);
        ck_assert_uint_eq(f.out, 0);
    }
    ck_assert_int_eq(rc, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("aggregate");
    TCase *tcase = tcase_create("aggregate");
    tcase_add_test(tcase, the_same_content_has_the_same_index);
    tcase_add_test(tcase, stacks_by_reference_are_the_same_stacks);
    tcase_add_test(tcase, many_samples_at_once_are_each_of_them);
    tcase_add_test(tcase, two_types_of_one_event_are_two_entries);
    tcase_add_test(tcase, pairs_take_half_the_memory);
    tcase_add_test(tcase, pairs_are_parted_within_the_cap);
    tcase_add_test(tcase, what_is_expected_changes_nothing_but_memory);
    tcase_add_loop_test(tcase, samples_before_a_bad_one_are_added, 0, 70);
    tcase_add_test(tcase, stacks_by_reference_past_the_cap_are_dropped);
    tcase_add_test(tcase, totals_add_up_by_type_thread_and_stack);
    tcase_add_test(tcase, pools_replace_threads_in_entries);
    tcase_add_test(tcase, labels_keep_parts_of_a_type_apart);
    tcase_add_test(tcase, seconds_are_kept_by_pool);
    tcase_add_test(tcase, sums_saturate_and_say_so);
    tcase_add_test(tcase, deep_stacks_keep_their_leaves);
    tcase_add_test(tcase, threads_past_the_cap_count_with_their_pool);
    tcase_add_test(tcase, mistakes_are_named);
    tcase_add_test(tcase, bad_options_are_refused);
    tcase_add_test(tcase, options_of_a_newer_header_must_be_zero_behind_ours);
    tcase_add_test(tcase, each_failed_allocation_is_reported_and_leaks_nothing);
    suite_add_tcase(suite, tcase);
    return run(suite);
}
