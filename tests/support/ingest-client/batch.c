/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <contract/batch.h>
#include <contract/wire/message.h>
#include <stackagg/stackagg.h>
#include <xxhash.h>

#include "ingest.pb-c.h"

enum { WINDOWS = 3, POOLS = 8, DEPTH = 12, WINDOW_MS = 10000 };

static const uint32_t window_sources[WINDOWS] = {1, 3, 4}; /* cpu, alloc, lock */

static void require(int rc)
{
    if (rc != 0)
        abort(); /* no memory */
}

static uint32_t add_text(string_table *to, const char *value)
{
    uint32_t index = 0;

    require(string_table_add(to, value, strlen(value), &index));
    return index;
}

static void make_id(uint8_t id[BATCH_ID_SIZE], uint64_t seed)
{
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(&seed, sizeof(seed)));
    memcpy(id, hash.digest, BATCH_ID_SIZE);
}

static void make_collector(Hotstack__V1__Collector *out, char instance[32], const batch_options *o)
{
    hotstack__v1__collector__init(out);
    snprintf(instance, 32, "instance-%llu", (unsigned long long)(o->seed % 7));
    out->cluster = (char *)(uintptr_t)o->cluster;
    out->node = out->instance = out->version = instance;
    out->run_id = 1;
}

/* Makes a target whose labels distinguish the JVMs of a few seeds, each in a different way. */
static batch_target make_target(string_table *strings, const batch_options *o)
{
    char pod[32], version[32];

    snprintf(pod, sizeof(pod), "pod-%llu", (unsigned long long)(o->seed % 5));
    snprintf(version, sizeof(version), "1.%llu", (unsigned long long)(o->seed % 3));
    return (batch_target){
        .pod_str = add_text(strings, pod),
        .container_str = add_text(strings, o->seed % 2 == 0 ? "app" : "side"),
        .app_version_str = add_text(strings, version),
        .namespace_str = add_text(strings, ""),
        .workload_str = add_text(strings, o->workload),
        .boot_id_str = add_text(strings, "01234567-89ab-cdef-0123-456789abcdef"),
        .jvm_version_str = add_text(strings, "21.0.8+9-LTS"),
        .service_str = add_text(strings, "cart"),
        .host_pid = 4711,
        .ns_pid = 1,
        .start_ticks = o->seed % 5,
        .start_ms = o->start_ms - 60000,
    };
}

/* Adds stack i: a method of its own below methods that all stacks share. */
static uint32_t add_stack(batch *to, uint32_t i)
{
    string_table strings = {0};
    profile_frame frames[DEPTH];
    sagg_frame named[DEPTH];
    uint32_t order[DEPTH], index = 0;
    char names[DEPTH][32];
    profile_stack stack = {.normaliser = SAGG_NORMALISE_V1, .depth = DEPTH};
    const frame_source from = {&strings, frames, order};

    add_text(&strings, "");
    for (uint32_t f = 0; f < DEPTH; f++) {
        snprintf(names[f], sizeof(names[f]), "method%u", f == 0 ? i : f);
        named[f] = (sagg_frame){.class_name = {"com.acme.shop.Cart", 18},
                                .method = {names[f], strlen(names[f])},
                                .file = {"Cart.java", 9},
                                .line = 10 + f,
                                .kind = SAGG_JAVA};
        frames[f] = (profile_frame){.class_name = add_text(&strings, "com.acme.shop.Cart"),
                                    .method = add_text(&strings, names[f]),
                                    .file = add_text(&strings, "Cart.java"),
                                    .line = 10 + f,
                                    .kind = SAGG_JAVA};
        order[f] = f;
    }
    require(sagg_stack_id_of((sagg_stack_id *)stack.id, named, DEPTH, SAGG_NORMALISE_V1, NULL));
    require(batch_add_stack(to, &from, &stack, &index));
    string_table_clear(&strings);
    return index;
}

/* Adds a row. Locks and allocations have two facets and two classes; CPU time has neither. */
static void add_row(batch *to, const batch_options *o, uint32_t window, uint32_t i)
{
    static const uint32_t first_facets[WINDOWS] = {0, 3, 1};
    static const char *const objects[] = {"java.lang.String", "byte[]"};
    bool is_cpu = window_sources[window] == 1;
    uint64_t value = 1000 + (o->seed + i) % 977 + (o->other_body ? 1 : 0);
    batch_row *row = BATCH_NEXT(to->rows, to->row_room, to->row_count);
    char pool[32];

    require(row != NULL ? 0 : -1);
    snprintf(pool, sizeof(pool), "pool-%u-#", i / o->stacks % POOLS);
    *row = (batch_row){.window = window,
                       .pool_str = add_text(&to->strings, pool),
                       .stack = i % o->stacks,
                       .facet = is_cpu ? 0 : first_facets[window] + i / 2 % 2,
                       .object_str = add_text(&to->strings, is_cpu ? "" : objects[i / 3 % 2]),
                       .sum = {value, 2 * value, 1, 2}};
    to->row_count++;
    profile_sum_add(&to->windows[window].part.total, &row->sum);
}

static void add_window(batch *to, const batch_options *o, uint32_t source)
{
    uint32_t index = (uint32_t)to->window_count;
    batch_window *window = BATCH_NEXT(to->windows, to->window_room, to->window_count);

    require(window != NULL ? 0 : -1);
    *window = (batch_window){.start_ms = o->start_ms,
                             .length_ms = WINDOW_MS,
                             .covered_ms = WINDOW_MS,
                             .engine_str = add_text(&to->strings, "ctimer"),
                             .part = {.source = source, .interval = 10000000}};
    to->window_count++;
    for (uint32_t i = 0; i < o->rows; i++)
        add_row(to, o, index, i);
}

/* Adds one second and one thread, which have all values of the first window. */
static void add_second_and_thread(batch *to)
{
    const profile_sum *total = &to->windows[0].part.total;
    batch_second *second = BATCH_NEXT(to->seconds, to->second_room, to->second_count);
    batch_thread *thread = BATCH_NEXT(to->threads, to->thread_room, to->thread_count);
    uint32_t name = to->windows[0].engine_str;

    require(second != NULL && thread != NULL ? 0 : -1);
    *second = (batch_second){.pool_str = name, .amount = total->amount, .count = total->count};
    *thread = (batch_thread){.name_str = name, .pool_str = name, .sum = *total};
    to->second_count = to->thread_count = 1;
}

/* Edits the encoded message into one that a correct collector never sends. */
static uint8_t *edit(const batch_options *o, uint8_t *bytes, size_t *length)
{
    Hotstack__V1__ProfileBatch *outer = hotstack__v1__profile_batch__unpack(NULL, *length, bytes);
    Hotstack__V1__ProfileBody *body =
        hotstack__v1__profile_body__unpack(NULL, outer->body.len, outer->body.data);
    XXH128_canonical_t digest;

    free(bytes);
    free(outer->body.data);
    body->contract = o->contract;
    body->windows->raw_amount[1] += o->wrong_totals ? 1 : 0;
    outer->stacks->frame_line[0] += o->wrong_stack ? 1 : 0;
    require(message_pack(&body->base, &outer->body.data, &outer->body.len));
    hotstack__v1__profile_body__free_unpacked(body, NULL);
    XXH128_canonicalFromHash(&digest, XXH3_128bits(outer->body.data, outer->body.len));
    memcpy(outer->digest.data, digest.digest, sizeof(digest.digest));
    outer->attempt = o->attempt;
    if (!o->with_stacks) {
        hotstack__v1__stack_dictionary__free_unpacked(outer->stacks, NULL);
        outer->stacks = NULL;
    }
    require(message_pack(&outer->base, &bytes, length));
    hotstack__v1__profile_batch__free_unpacked(outer, NULL);
    return bytes;
}

uint8_t *batch_make(const batch_options *o, size_t *length, uint64_t *amount_total)
{
    Hotstack__V1__Collector sender;
    uint8_t id[BATCH_ID_SIZE], *out = NULL;
    char instance[32];
    batch one;

    require(o->stacks > 0 ? 0 : -1); /* the caller's options ensure it */
    make_id(id, o->seed);
    make_collector(&sender, instance, o);
    batch_begin(&one, id, (uint32_t)(o->start_ms / 86400000));
    one.created_ms = o->start_ms + WINDOW_MS;
    add_text(&one.strings, "");
    add_text(&one.dictionary, "");
    batch_target *target = BATCH_NEXT(one.targets, one.target_room, one.target_count);
    require(target != NULL ? 0 : -1);
    *target = make_target(&one.strings, o);
    one.target_count = 1;
    for (uint32_t i = 0; i < o->stacks; i++)
        add_stack(&one, i);
    *amount_total = 0;
    for (uint32_t i = 0; i < WINDOWS; i++) {
        add_window(&one, o, window_sources[i]);
        *amount_total += one.windows[i].part.total.amount;
    }
    add_second_and_thread(&one);
    require(batch_order(&one));
    require(batch_pack(&one, &sender, &out, length));
    batch_clear(&one);
    return edit(o, out, length);
}

uint8_t *status_make(const batch_options *o, uint32_t state, uint32_t reason, size_t *length)
{
    const status_row row = {.observed_ms = o->start_ms,
                            .state = state,
                            .reason = reason,
                            .last_window_ms = o->start_ms,
                            .session = 2,
                            .mode = 3,
                            .until_ms = o->start_ms + 600000,
                            .last_length_ms = 10000,
                            .last_covered_ms = 9400,
                            .collector_ns = 20000001};
    Hotstack__V1__Collector sender;
    uint8_t *out = NULL;
    string_table strings = {0};
    char instance[32];

    make_collector(&sender, instance, o);
    add_text(&strings, "");
    batch_target target = make_target(&strings, o);
    require(status_pack(&(status_rows){&strings, &target, &row, 1}, &sender, &out, length));
    string_table_clear(&strings);
    return out;
}

uint8_t *heartbeat_make(const batch_options *o, uint64_t dropped, size_t *length)
{
    Hotstack__V1__Heartbeat beat = HOTSTACK__V1__HEARTBEAT__INIT;
    Hotstack__V1__DropColumns drops = HOTSTACK__V1__DROP_COLUMNS__INIT;
    Hotstack__V1__Collector sender;
    uint32_t cause = 1;
    uint64_t oldest_ms = dropped > 0 ? o->start_ms : 0;
    char instance[32], engine[] = "async-profiler 4.6";
    uint8_t *out = NULL;

    make_collector(&sender, instance, o);
    beat.contract = o->contract;
    beat.collector = &sender;
    beat.sent_ms = o->start_ms + WINDOW_MS;
    beat.started_ms = o->start_ms - 3600000;
    beat.engine = engine;
    beat.queued_bytes = 2048;
    beat.queued_batches = 3;
    beat.queue_bytes = 1 << 20;
    beat.oldest_queued_ms = o->start_ms;
    beat.cut_batches = 40;
    beat.last_success_ms = o->start_ms - 5000;
    beat.jvms_seen = 2;
    beat.jvms_profiled = 1;
    drops.cause = &cause;
    drops.batches = &dropped;
    drops.oldest_ms = drops.newest_ms = &oldest_ms;
    drops.n_cause = drops.n_batches = drops.n_oldest_ms = drops.n_newest_ms = dropped > 0 ? 1 : 0;
    beat.drops = &drops;
    require(message_pack(&beat.base, &out, length));
    return out;
}
