/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls an aggregate with small caps in any order: totals must be exact, and the entries must add
 * up to them. Each input byte is one call: its low bits choose the function, its high bits the
 * arguments.
 */
#include "fuzz.h"

#include <string.h>

#include <stackagg/stackagg.h>

enum { NAMES = 32, DEPTH = 6 };

typedef struct state {
    sagg *agg;
    uint32_t seconds;
    uint32_t stack;
    uint32_t thread;
    uint32_t label;
    uint64_t total;
    uint64_t frames_seen;
} state;

static sagg *make(uint32_t seconds)
{
    static const sagg_type types[] = {{1, "cpu", "ns"}, {2, "bytes", "bytes"}};
    sagg_options options = SAGG_OPTIONS_INIT;
    sagg *agg;
    options.types = types;
    options.type_count = 2;
    options.max_stacks = 5;
    options.max_threads = 3;
    options.max_frames = 4;
    options.seconds = seconds;
    MUST(sagg_new(&agg, &options, NULL) == 0);
    return agg;
}

static void add_stack(state *s, uint8_t seed)
{
    uint32_t frames[DEPTH], method, again;
    uint32_t depth = seed % DEPTH;
    for (uint32_t i = 0; i < depth; i++) {
        char name[2] = {(char)('a' + (seed + i * s->frames_seen) % NAMES), 'x'};
        sagg_frame frame = {.class_name = {name, 1 + i % 2}, .method = {name, 2}, .line = seed};
        MUST(sagg_add_frame(s->agg, &frames[i], &frame, NULL) == 0);
        MUST(sagg_add_method(s->agg, &method, &frame, NULL) == 0);
        MUST(sagg_add_line(s->agg, &again, method, seed, NULL) == 0 && again == frames[i]);
    }
    s->frames_seen++;
    MUST(sagg_add_stack(s->agg, &s->stack, frames, depth, NULL) == 0);
}

static void add_thread(state *s, uint8_t seed)
{
    char name[2] = {(char)('a' + seed / 4 % 6), (char)('0' + seed % 4)};
    sagg_thread thread = {.os_tid = seed % 7, .name = {name, sizeof(name)}};
    MUST(sagg_add_thread(s->agg, &s->thread, &thread, NULL) == 0);
}

static void add_sample(state *s, uint8_t seed)
{
    sagg_sample sample = {.type = 1 + seed % 2,
                          .thread = s->thread,
                          .stack = s->stack,
                          .label = s->label,
                          .value = seed,
                          .samples = 1,
                          .time_ns = (int64_t)seed * 100000000};
    MUST(sagg_add(s->agg, &sample, NULL) == 0);
    s->total += seed;
}

/* Adds two types of one event. */
static void add_pair(state *s, uint8_t seed)
{
    sagg_sample one = {.type = 1 + seed % 2,
                       .thread = s->thread,
                       .stack = s->stack,
                       .label = s->label,
                       .raw_value = seed,
                       .value = seed,
                       .samples = 2,
                       .time_ns = (int64_t)seed * 100000000};
    sagg_sample pair[2] = {one, one};
    pair[1].type = 3 - one.type;
    pair[1].raw_value = one.samples;
    MUST(sagg_add_all(s->agg, pair, 2, NULL) == 0);
    s->total += 2 * (uint64_t)seed;
}

/* Adds rows of a type and of a pair; as samples where no seconds are kept. */
static void add_rows(state *s, uint8_t seed)
{
    uint32_t type = 1 + seed % 2;
    sagg_lane lanes[2] = {{type, 0, s->thread, s->label}, {type, 3 - type, s->thread, s->label}};
    sagg_row rows[3] = {{s->stack, 0, seed, seed, 1},
                        {s->stack, 1, seed, seed, 2},
                        {SAGG_DROPPED, 1, seed, seed, 2}};
    int rc = sagg_add_rows(s->agg, lanes, 2, rows, 1 + seed % 3, NULL);
    MUST(rc == (s->seconds > 0 ? SAGG_ERR_USAGE : 0));
    if (rc == 0)
        s->total += (1 + seed % 3 * 2) * (uint64_t)seed;
}

static void merge(state *s)
{
    sagg *into = make(s->seconds);
    MUST(sagg_merge(into, s->agg, NULL) == 0);
    sagg_free(s->agg);
    *s = (state){
        .agg = into, .seconds = s->seconds, .total = s->total, .frames_seen = s->frames_seen};
}

static void call(state *s, uint8_t byte)
{
    uint8_t seed = byte >> 3;
    switch (byte & 7) {
    case 0:
        add_thread(s, seed);
        break;
    case 1:
        MUST(sagg_add_label(s->agg, &s->label, seed, (sagg_str){"text", seed % 4}, NULL) == 0);
        break;
    case 2:
        MUST(sagg_compact(s->agg, NULL) == 0);
        s->stack = SAGG_DROPPED;
        break;
    case 3:
        if (seed == 0)
            merge(s);
        else
            add_rows(s, seed);
        break;
    case 4:
    case 5:
        add_stack(s, seed);
        break;
    case 6:
        add_pair(s, seed);
        break;
    default:
        add_sample(s, seed);
    }
}

static void check(const sagg *agg, uint64_t total)
{
    size_t cursor = 0;
    sagg_entry entry;
    uint64_t sum = 0;
    while (sagg_next(agg, &cursor, &entry))
        sum += entry.totals.value;
    MUST(sum == total);
    MUST(sagg_type_totals(agg, 1).value + sagg_type_totals(agg, 2).value == total);
    uint64_t pools = 0;
    for (uint32_t i = 0; i < sagg_thread_count(agg); i++) {
        sagg_thread row;
        MUST(sagg_thread_at(agg, i, &row));
        if (row.pool_thread == i)
            pools += sagg_thread_totals(agg, i, 1).value + sagg_thread_totals(agg, i, 2).value;
    }
    MUST(pools == total);
    for (uint32_t type = 1; type <= 2; type++) {
        sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
        sagg_tree *tree;
        options.type = type;
        options.max_nodes = 3;
        options.threads = type == 1;
        MUST(sagg_tree_new(&tree, agg, &options, NULL) == 0);
        MUST(sagg_tree_get(tree)->total[0] == sagg_type_totals(agg, type).value);
        sagg_tree_free(tree);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t seconds = size % 2 * 2;
    state s = {.agg = make(seconds), .seconds = seconds};
    for (size_t i = 0; i < size && i < 4096; i++)
        call(&s, data[i]);
    check(s.agg, s.total);
    sagg_free(s.agg);
    return 0;
}
