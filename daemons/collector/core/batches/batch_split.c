/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a batch into two, by whole windows and snapshots. */
#include "batch_impl.h"

#include <stdlib.h>
#include <string.h>

static void text_of(char *to, size_t size, const batch *one, uint32_t index)
{
    size_t length = 0;
    const char *text = string_table_at(&one->strings, index, &length);
    length = length < size - 1 ? length : size - 1;
    memcpy(to, text, length);
    to[length] = '\0';
}

#define TEXT_OF(to, one, index) text_of((to), sizeof(to), (one), (index))

static void jvm_of(const batch *one, const batch_target *from, local_jvm *jvm,
                   target_labels *labels)
{
    *jvm = (local_jvm){.ns_pid = from->ns_pid, .start_ms = from->start_ms};
    jvm->id.host_pid = from->host_pid;
    jvm->id.start_ticks = from->start_ticks;
    TEXT_OF(jvm->id.boot_id, one, from->boot_id_str);
    TEXT_OF(jvm->pod_uid, one, from->pod_uid_str);
    TEXT_OF(jvm->container_id, one, from->container_id_str);
    TEXT_OF(jvm->version, one, from->jvm_version_str);
    TEXT_OF(jvm->vendor, one, from->jvm_vendor_str);
    TEXT_OF(jvm->main_class, one, from->main_class_str);
    TEXT_OF(labels->namespace_name, one, from->namespace_str);
    TEXT_OF(labels->workload_kind, one, from->workload_kind_str);
    TEXT_OF(labels->workload, one, from->workload_str);
    TEXT_OF(labels->pod, one, from->pod_str);
    TEXT_OF(labels->container, one, from->container_str);
    TEXT_OF(labels->app_version, one, from->app_version_str);
    TEXT_OF(labels->image, one, from->image_str);
    TEXT_OF(labels->service, one, from->service_str);
}

/* Maps the strings of the batch's two tables to the one table of a profile. */
typedef struct translation {
    const batch *from;
    profile *to;
} translation;

static int text(const translation *in, uint32_t index, uint32_t *out)
{
    size_t length = 0;
    const char *words = string_table_at(&in->from->strings, index, &length);
    return string_table_add(&in->to->strings, words, length, out);
}

static int word(const translation *in, uint32_t index, uint32_t *out)
{
    size_t length = 0;
    const char *words = string_table_at(&in->from->dictionary, index, &length);
    return string_table_add(&in->to->strings, words, length, out);
}

static int copy_frames(const translation *in)
{
    const batch *from = in->from;
    profile *to = in->to;
    to->frames = calloc(from->frames.count + 1, sizeof(*to->frames));
    to->stacks = calloc(from->stack_ids.count + 1, sizeof(*to->stacks));
    to->stack_frames = calloc(from->stack_frame_count + 1, sizeof(*to->stack_frames));
    if (to->frames == NULL || to->stacks == NULL || to->stack_frames == NULL)
        return -1;
    for (size_t i = 0; i < from->frames.count; i++) {
        profile_frame frame;
        memcpy(&frame, from->frames.keys + i * sizeof(frame), sizeof(frame));
        to->frames[i] = frame;
        if (word(in, frame.class_name, &to->frames[i].class_name) != 0 ||
            word(in, frame.method, &to->frames[i].method) != 0 ||
            word(in, frame.file, &to->frames[i].file) != 0)
            return -1;
    }
    to->frame_count = from->frames.count;
    to->stack_count = from->stack_ids.count;
    to->stack_frame_count = from->stack_frame_count;
    if (to->stack_count > 0)
        memcpy(to->stacks, from->stacks, to->stack_count * sizeof(*to->stacks));
    if (to->stack_frame_count > 0)
        memcpy(to->stack_frames, from->stack_frames,
               to->stack_frame_count * sizeof(*to->stack_frames));
    return 0;
}

static int copy_window(const translation *in, uint32_t window)
{
    const batch *from = in->from;
    profile *to = in->to;
    to->parts = calloc(1, sizeof(*to->parts));
    to->rows = calloc(from->row_count + 1, sizeof(*to->rows));
    to->seconds = calloc(from->second_count + 1, sizeof(*to->seconds));
    to->threads = calloc(from->thread_count + 1, sizeof(*to->threads));
    if (to->parts == NULL || to->rows == NULL || to->seconds == NULL || to->threads == NULL)
        return -1;
    to->part_count = 1;
    to->parts[0] = from->windows[window].part;
    TEXT_OF(to->parts[0].engine, from, from->windows[window].engine_str);
    for (size_t i = 0; i < from->row_count; i++) {
        const batch_row *row = &from->rows[i];
        if (row->window != window)
            continue;
        profile_row *copy = &to->rows[to->row_count++];
        *copy = (profile_row){.stack = row->stack, .facet = row->facet, .sum = row->sum};
        if (text(in, row->pool_str, &copy->pool) != 0 ||
            text(in, row->object_str, &copy->object) != 0)
            return -1;
    }
    for (size_t i = 0; i < from->second_count; i++) {
        const batch_second *second = &from->seconds[i];
        if (second->window != window)
            continue;
        profile_second *copy = &to->seconds[to->second_count++];
        *copy = (profile_second){
            .second = second->second, .amount = second->amount, .count = second->count};
        if (text(in, second->pool_str, &copy->pool) != 0)
            return -1;
    }
    for (size_t i = 0; i < from->thread_count; i++) {
        const batch_thread *thread = &from->threads[i];
        if (thread->window != window)
            continue;
        profile_thread *copy = &to->threads[to->thread_count++];
        *copy = (profile_thread){
            .os_tid = thread->os_tid, .java_tid = thread->java_tid, .sum = thread->sum};
        if (text(in, thread->name_str, &copy->name) != 0 ||
            text(in, thread->pool_str, &copy->pool) != 0)
            return -1;
    }
    return 0;
}

static int move_window(const batch *from, uint32_t window, batch *to)
{
    profile one = {0};
    const translation in = {.from = from, .to = &one};
    int rc = copy_frames(&in);
    if (rc == 0)
        rc = copy_window(&in, window);
    if (rc == 0) {
        const batch_window *span = &from->windows[window];
        const window_span at = {span->start_ms, span->length_ms, span->covered_ms, span->reason};
        local_jvm jvm;
        target_labels labels = {0};
        jvm_of(from, &from->targets[span->target], &jvm, &labels);
        rc = batch_add(to, &jvm, &labels, &at, &one, 0);
    }
    profile_clear(&one);
    return rc;
}

static int move_snapshot(const batch *from, uint32_t snapshot, batch *to)
{
    local_jvm jvm;
    target_labels labels = {0};
    jvm_of(from, &from->targets[from->snapshots[snapshot].target], &jvm, &labels);
    return batch__copy_snapshot(to, &jvm, &labels, from, snapshot);
}

/* Whether window `i` goes to the first of the two batches. */
static bool window_to_first(const batch *one, const batch *first, uint32_t i)
{
    if (one->snapshot_count > 0)
        return true;
    bool last = i + 1 == one->window_count;
    return i == 0 ||
           (!last && first->row_count <= one->row_count / 2 && i < (one->window_count + 1) / 2);
}

static int split_windows(const batch *one, batch *first, batch *second)
{
    for (uint32_t i = 0; i < one->window_count; i++) {
        if (move_window(one, i, window_to_first(one, first, i) ? first : second) != 0)
            return -1;
    }
    return first->row_count + second->row_count == one->row_count ? 0 : -1;
}

static int split_snapshots(const batch *one, batch *first, batch *second)
{
    for (uint32_t i = 0; i < one->snapshot_count; i++) {
        bool to_first = one->window_count == 0 && i < (one->snapshot_count + 1) / 2;
        if (move_snapshot(one, i, to_first ? first : second) != 0)
            return -1;
    }
    return 0;
}

int batch_split(const batch *one, batch *first, batch *second,
                const uint8_t first_id[BATCH_ID_SIZE], const uint8_t second_id[BATCH_ID_SIZE])
{
    batch_begin(first, first_id, one->day);
    batch_begin(second, second_id, one->day);
    if (one->window_count + one->snapshot_count < 2)
        return -1;
    first->created_ms = second->created_ms = one->created_ms;
    if (split_windows(one, first, second) == 0 && split_snapshots(one, first, second) == 0)
        return 0;
    batch_clear(first);
    batch_clear(second);
    return -1;
}
