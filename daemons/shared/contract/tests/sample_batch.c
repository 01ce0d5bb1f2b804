/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_batch.h"

#include <stdlib.h>
#include <string.h>

#include <stackagg/stackagg.h>
#include <xxhash.h>

#define U32S(array, n) ((u32s){(array), (n)})
#define U64S(array, n) ((u64s){(array), (n)})
#define ALL(array, ...)                                                                            \
    do {                                                                                           \
        const __typeof__((array)[0]) values_[] = {__VA_ARGS__};                                    \
        memcpy((array), values_, sizeof(values_));                                                 \
    } while (0)

void sample_batch_sign(sample_batch *s)
{
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(s->body, sizeof(s->body)));
    memcpy(s->digest, hash.digest, 16);
}

static void make_targets(sample_batch *s)
{
    u32s none = U32S(s->zeros, SAMPLE_TARGETS);

    ALL(s->workload, 1, 2);
    ALL(s->boot_id, 3, 3);
    ALL(s->pid, 100, 101);
    ALL(s->ticks, 5, 6);
    s->batch.targets = (target_columns){
        .namespace_name = none,
        .workload_kind = none,
        .workload = U32S(s->workload, SAMPLE_TARGETS),
        .pod = none,
        .container = none,
        .pod_uid = none,
        .container_id = none,
        .boot_id = U32S(s->boot_id, SAMPLE_TARGETS),
        .host_pid = U32S(s->pid, SAMPLE_TARGETS),
        .ns_pid = none,
        .start_ticks = U64S(s->ticks, SAMPLE_TARGETS),
        .start_ms = U64S(s->zeros64, SAMPLE_TARGETS),
        .jvm_version = none,
        .jvm_vendor = none,
        .main_class = none,
        .app_version = none,
        .image = none,
        .service = none,
    };
}

static void make_windows(sample_batch *s)
{
    u64s none = U64S(s->zeros64, SAMPLE_WINDOWS);

    ALL(s->window_target, 0, 1);
    ALL(s->source, 1, 4);
    ALL(s->length_ms, 10000, 10000);
    ALL(s->covered_ms, 10000, 9000);
    ALL(s->start_ms, SAMPLE_NOW_MS - 20000, SAMPLE_NOW_MS - 20000);
    ALL(s->raw_amount_total, 60, 40);
    ALL(s->amount_total, 600, 400);
    ALL(s->raw_count_total, 3, 1);
    ALL(s->count_total, 6, 2);
    s->batch.windows = (window_columns){
        .target = U32S(s->window_target, SAMPLE_WINDOWS),
        .source = U32S(s->source, SAMPLE_WINDOWS),
        .start_ms = U64S(s->start_ms, SAMPLE_WINDOWS),
        .length_ms = U32S(s->length_ms, SAMPLE_WINDOWS),
        .covered_ms = U32S(s->covered_ms, SAMPLE_WINDOWS),
        .engine = U32S(s->zeros, SAMPLE_WINDOWS),
        .interval = none,
        .total = {U64S(s->raw_amount_total, SAMPLE_WINDOWS), U64S(s->amount_total, SAMPLE_WINDOWS),
                  U64S(s->raw_count_total, SAMPLE_WINDOWS), U64S(s->count_total, SAMPLE_WINDOWS)},
        .truncated_amount = none,
        .truncated_count = none,
        .dropped_amount = none,
        .dropped_count = none,
        .dropped_stacks = none,
        .lost_events = none,
        .reason = U32S(s->reason, SAMPLE_WINDOWS),
    };
}

static void make_rows(sample_batch *s)
{
    ALL(s->row_window, 0, 0, 0, 1);
    ALL(s->row_pool, 4, 4, 0, 4);
    ALL(s->row_stack, 0, 1, 0, 2);
    ALL(s->raw_amount, 10, 20, 30, 40);
    ALL(s->amount, 100, 200, 300, 400);
    ALL(s->raw_count, 1, 1, 1, 1);
    ALL(s->count, 2, 2, 2, 2);
    s->batch.samples = (sample_columns){
        .window = U32S(s->row_window, SAMPLE_ROWS),
        .pool = U32S(s->row_pool, SAMPLE_ROWS),
        .stack = U32S(s->row_stack, SAMPLE_ROWS),
        .sum = {U64S(s->raw_amount, SAMPLE_ROWS), U64S(s->amount, SAMPLE_ROWS),
                U64S(s->raw_count, SAMPLE_ROWS), U64S(s->count, SAMPLE_ROWS)},
        .facet = U32S(s->facet, SAMPLE_ROWS),
        .object = U32S(s->zeros, SAMPLE_ROWS),
    };
    s->second[0] = 9;
    s->second_amount[0] = 600;
    s->second_count[0] = 6;
    s->batch.seconds =
        (second_columns){U32S(s->second_window, 1), U32S(s->zeros, 1), U32S(s->second, 1),
                         U64S(s->second_amount, 1), U64S(s->second_count, 1)};
}

static void make_snapshots(sample_batch *s)
{
    const u32s none = U32S(s->zeros, SAMPLE_THREADS);
    const u64s unknown = U64S(s->zeros64, SAMPLE_THREADS);

    ALL(s->taken_ms, SAMPLE_NOW_MS - 5000);
    ALL(s->interval_ms, 60000);
    ALL(s->threads_total, 2);
    ALL(s->state_name, 4, 4);
    ALL(s->java_tid, 11, 12);
    ALL(s->state, 3, 3);
    ALL(s->state_flags, 32, 32);
    ALL(s->state_stack, 1, 2);
    ALL(s->state_lock, 2, 1);
    ALL(s->lock_class, 1, 2);
    ALL(s->lock_identity, 0xabc, 0xdef);
    ALL(s->owner_tid, 12, 11);
    ALL(s->cpu_ns, 1, 500001);
    ALL(s->held_thread, 0, 1);
    ALL(s->held_lock, 0, 1);
    ALL(s->held_kind, 1, 1);
    ALL(s->held_depth, 0, 1);
    ALL(s->cycle, 77, 77);
    ALL(s->deadlock_thread, 0, 1);
    s->batch.snapshots = (snapshot_columns){
        .target = U32S(s->snapshot_target, 1),
        .taken_ms = U64S(s->taken_ms, 1),
        .interval_ms = U32S(s->interval_ms, 1),
        .threads_total = U32S(s->threads_total, 1),
        .reason = U32S(s->zeros, 1),
        .cut = U32S(s->zeros, 1),
        .offers = U32S(s->zeros, 1),
        .longest_pause_ns = U64S(s->zeros64, 1),
    };
    s->batch.states = (state_columns){
        .snapshot = U32S(s->state_snapshot, SAMPLE_THREADS),
        .java_tid = U64S(s->java_tid, SAMPLE_THREADS),
        .os_tid = unknown,
        .name = U32S(s->state_name, SAMPLE_THREADS),
        .pool = none,
        .state = U32S(s->state, SAMPLE_THREADS),
        .flags = U32S(s->state_flags, SAMPLE_THREADS),
        .cpu_ns = U64S(s->cpu_ns, SAMPLE_THREADS),
        .allocated_bytes = unknown,
        .blocked_ms = unknown,
        .waited_ms = unknown,
        .stack = U32S(s->state_stack, SAMPLE_THREADS),
        .lock = U32S(s->state_lock, SAMPLE_THREADS),
        .owner_tid = U64S(s->owner_tid, SAMPLE_THREADS),
        .owner = U32S(s->state_name, SAMPLE_THREADS),
        .carries_tid = unknown,
        .carries = none,
    };
    s->batch.locks = (lock_columns){U32S(s->lock_class, 2), U32S(s->lock_identity, 2)};
    s->batch.held = (held_columns){U32S(s->held_thread, 2), U32S(s->held_lock, 2),
                                   U32S(s->held_kind, 2), U32S(s->held_depth, 2)};
    s->batch.deadlocks = (deadlock_columns){U64S(s->cycle, 2), U32S(s->deadlock_thread, 2),
                                            U32S(s->deadlock_inferred, 2)};
}

/* Makes the ids of the stacks {0}, {1}, {0, 1} of frames "C.m" line 7 and "C.n" line 8. */
static void make_stack_ids(sample_batch *s)
{
    const sagg_frame frames[2] = {{.class_name = {"C", 1}, .method = {"m", 1}, .line = 7},
                                  {.class_name = {"C", 1}, .method = {"C", 1}, .line = 8}};
    const size_t first[3] = {0, 1, 0}, count[3] = {1, 1, 2};
    sagg_stack_id id;

    for (size_t i = 0; i < SAMPLE_STACKS; i++) {
        if (sagg_stack_id_of(&id, frames + first[i], count[i], SAGG_NORMALISE_V1, NULL) != 0)
            abort();
        memcpy(s->stack_ids + 16 * i, id.bytes, 16);
    }
    s->batch.stack_ids = (text){(const char *)s->stack_ids, sizeof(s->stack_ids)};
}

static void make_dictionary(sample_batch *s)
{
    stack_dictionary *d = &s->batch.stacks;

    memcpy(s->frame_strings, "Cm", 2);
    ALL(s->frame_lengths, 0, 1, 1);
    ALL(s->frame_class, 1, 1);
    ALL(s->frame_method, 2, 1);
    ALL(s->frame_line, 7, 8);
    memset(s->versions, SAGG_NORMALISE_V1, sizeof(s->versions));
    ALL(s->depth, 1, 1, 2);
    ALL(s->frames, 0, 1, 0, 1);
    d->strings = (string_columns){{s->frame_strings, 2}, U32S(s->frame_lengths, 3), NULL};
    d->frame_class = U32S(s->frame_class, 2);
    d->frame_method = U32S(s->frame_method, 2);
    d->frame_file = U32S(s->zeros, 2);
    d->frame_line = U32S(s->frame_line, 2);
    d->frame_kind = (text){s->kinds, 2};
    d->stack_ids = s->batch.stack_ids;
    d->normaliser = (text){s->versions, 3};
    d->stack_depth = U32S(s->depth, 3);
    d->stack_flags = (text){s->flags, 3};
    d->stack_frame = U32S(s->frames, 4);
}

void sample_batch_make(sample_batch *s)
{
    static const char strings[] = "shopbank01234567-89ab-cdef-0123-456789abcdefpool";

    memset(s, 0, sizeof(*s));
    memcpy(s->strings, strings, sizeof(strings));
    ALL(s->lengths, 0, 4, 4, 36, 4);
    memset(s->batch_id, 7, 16);
    s->batch.batch_id = (text){(const char *)s->batch_id, 16};
    s->batch.digest = (text){(const char *)s->digest, 16};
    s->batch.body = (text){s->body, sizeof(s->body)};
    s->batch.contract = 1;
    s->batch.collector =
        (collector_id){text_of("east"), text_of("node-1"), text_of("c-1"), text_of("0.1.0"), 1};
    s->batch.day = SAMPLE_DAY;
    s->batch.created_ms = SAMPLE_NOW_MS;
    s->batch.strings =
        (string_columns){{s->strings, sizeof(strings) - 1}, U32S(s->lengths, 5), NULL};
    make_targets(s);
    make_windows(s);
    make_rows(s);
    make_snapshots(s);
    make_stack_ids(s);
    make_dictionary(s);
    sample_batch_sign(s);
}
