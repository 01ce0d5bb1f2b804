/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_impl.h"

#include <stdlib.h>
#include <string.h>

#define RESERVE(items, room, count)                                                                \
    array_reserve((void **)&(items), &(room), (count), sizeof(*(items)))

static int add_text(batch *one, const char *text, uint32_t *index)
{
    return string_table_add(&one->strings, text, strlen(text), index);
}

static bool same_target(const batch *one, const batch_target *have, const local_jvm *jvm)
{
    size_t length = 0;
    const char *boot = string_table_at(&one->strings, have->boot_id_str, &length);
    return have->host_pid == jvm->id.host_pid && have->start_ticks == jvm->id.start_ticks &&
           length == strlen(jvm->id.boot_id) && memcmp(boot, jvm->id.boot_id, length) == 0;
}

int batch__add_target(batch *one, const local_jvm *jvm, const target_labels *labels,
                      uint32_t *index)
{
    for (size_t i = 0; i < one->target_count; i++) {
        if (same_target(one, &one->targets[i], jvm)) {
            *index = (uint32_t)i;
            return 0;
        }
    }
    if (RESERVE(one->targets, one->target_room, one->target_count) != 0)
        return -1;
    batch_target *to = &one->targets[one->target_count];
    *to = (batch_target){.host_pid = jvm->id.host_pid,
                         .ns_pid = jvm->ns_pid,
                         .start_ticks = jvm->id.start_ticks,
                         .start_ms = jvm->start_ms};
    if (add_text(one, labels->namespace_name, &to->namespace_str) != 0 ||
        add_text(one, labels->workload_kind, &to->workload_kind_str) != 0 ||
        add_text(one, labels->workload, &to->workload_str) != 0 ||
        add_text(one, labels->pod, &to->pod_str) != 0 ||
        add_text(one, labels->container, &to->container_str) != 0 ||
        add_text(one, labels->app_version, &to->app_version_str) != 0 ||
        add_text(one, labels->image, &to->image_str) != 0 ||
        add_text(one, labels->service, &to->service_str) != 0 ||
        add_text(one, jvm->pod_uid, &to->pod_uid_str) != 0 ||
        add_text(one, jvm->container_id, &to->container_id_str) != 0 ||
        add_text(one, jvm->id.boot_id, &to->boot_id_str) != 0 ||
        add_text(one, jvm->version, &to->jvm_version_str) != 0 ||
        add_text(one, jvm->vendor, &to->jvm_vendor_str) != 0 ||
        add_text(one, jvm->main_class, &to->main_class_str) != 0)
        return -1;
    *index = (uint32_t)one->target_count++;
    return 0;
}

static int add_rows(batch *one, const profile *from, uint32_t part, uint32_t window)
{
    const frame_source source = {&from->strings, from->frames, from->stack_frames};
    for (size_t i = 0; i < from->row_count; i++) {
        const profile_row *row = &from->rows[i];
        if (row->part != part)
            continue;
        if (RESERVE(one->rows, one->row_room, one->row_count) != 0)
            return -1;
        batch_row *to = &one->rows[one->row_count];
        *to = (batch_row){.window = window, .facet = row->facet, .sum = row->sum};
        if (batch_move_string(&one->strings, &from->strings, row->pool, &to->pool_str) != 0 ||
            batch_move_string(&one->strings, &from->strings, row->object, &to->object_str) != 0 ||
            batch_add_stack(one, &source, &from->stacks[row->stack], &to->stack) != 0)
            return -1;
        one->row_count++;
    }
    return 0;
}

static int add_seconds(batch *one, const profile *from, uint32_t part, uint32_t window)
{
    uint32_t last = (one->windows[window].length_ms + 999) / 1000 - 1;
    for (size_t i = 0; i < from->second_count; i++) {
        const profile_second *second = &from->seconds[i];
        if (second->part != part || (second->amount == 0 && second->count == 0))
            continue;
        if (RESERVE(one->seconds, one->second_room, one->second_count) != 0)
            return -1;
        batch_second *to = &one->seconds[one->second_count];
        *to = (batch_second){.window = window,
                             .second = second->second < last ? second->second : last,
                             .amount = second->amount,
                             .count = second->count};
        if (batch_move_string(&one->strings, &from->strings, second->pool, &to->pool_str) != 0)
            return -1;
        one->second_count++;
    }
    return 0;
}

static int add_threads(batch *one, const profile *from, uint32_t part, uint32_t window)
{
    for (size_t i = 0; i < from->thread_count; i++) {
        const profile_thread *thread = &from->threads[i];
        if (thread->part != part)
            continue;
        if (RESERVE(one->threads, one->thread_room, one->thread_count) != 0)
            return -1;
        batch_thread *to = &one->threads[one->thread_count];
        *to = (batch_thread){.window = window,
                             .os_tid = thread->os_tid,
                             .java_tid = thread->java_tid,
                             .sum = thread->sum};
        if (batch_move_string(&one->strings, &from->strings, thread->name, &to->name_str) != 0 ||
            batch_move_string(&one->strings, &from->strings, thread->pool, &to->pool_str) != 0)
            return -1;
        one->thread_count++;
    }
    return 0;
}

int batch_add(batch *one, const local_jvm *jvm, const target_labels *labels,
              const window_span *span, const profile *from, uint32_t part)
{
    uint32_t target = 0;
    if (batch__add_target(one, jvm, labels, &target) != 0 ||
        RESERVE(one->windows, one->window_room, one->window_count) != 0)
        return -1;
    uint32_t window = (uint32_t)one->window_count;
    batch_window *to = &one->windows[window];
    *to = (batch_window){.target = target,
                         .start_ms = span->start_ms,
                         .length_ms = span->length_ms,
                         .covered_ms = span->covered_ms,
                         .reason = span->reason,
                         .part = from->parts[part]};
    if (add_text(one, from->parts[part].engine, &to->engine_str) != 0)
        return -1;
    one->window_count++;
    if (add_rows(one, from, part, window) != 0 || add_seconds(one, from, part, window) != 0)
        return -1;
    return add_threads(one, from, part, window);
}

static size_t rows_of(const profile *from, uint32_t part)
{
    size_t rows = 0;
    for (size_t i = 0; i < from->row_count; i++)
        rows += part == BATCH_ALL_PARTS || from->rows[i].part == part;
    return rows;
}

bool batch__over(uint64_t limit, uint64_t amount)
{
    return limit != 0 && amount > limit;
}

bool batch_would_pass(const batch *one, const batch_limits *limits, const profile *from,
                      uint32_t part)
{
    /* All strings and stacks of the profile may be new to the batch. */
    return batch__over(limits->rows, one->row_count + rows_of(from, part)) ||
           batch__over(limits->windows,
                       one->window_count + (part == BATCH_ALL_PARTS ? from->part_count : 1)) ||
           batch__over(limits->targets, one->target_count + 1) ||
           batch__over(limits->stacks, one->stack_ids.count + from->stack_count) ||
           batch__over(limits->string_bytes,
                       one->strings.bytes + one->dictionary.bytes + from->strings.bytes) ||
           batch__over(limits->payload_bytes, batch_bytes(one) + from->strings.bytes +
                                                  80 * (uint64_t)from->row_count +
                                                  32 * (uint64_t)from->stack_count);
}
