/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/wire/message.h>

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef Hotstack__V1__TargetColumns wire_targets;
typedef Hotstack__V1__WindowColumns wire_windows;
typedef Hotstack__V1__SampleColumns wire_samples;
typedef Hotstack__V1__SecondColumns wire_seconds;
typedef Hotstack__V1__ThreadColumns wire_threads;
typedef Hotstack__V1__StackDictionary wire_stacks;

const column batch_target_columns[] = {
    COLUMN(batch_target, namespace_str, wire_targets, namespace_str),
    COLUMN(batch_target, workload_kind_str, wire_targets, workload_kind_str),
    COLUMN(batch_target, workload_str, wire_targets, workload_str),
    COLUMN(batch_target, pod_str, wire_targets, pod_str),
    COLUMN(batch_target, container_str, wire_targets, container_str),
    COLUMN(batch_target, pod_uid_str, wire_targets, pod_uid_str),
    COLUMN(batch_target, container_id_str, wire_targets, container_id_str),
    COLUMN(batch_target, boot_id_str, wire_targets, boot_id_str),
    COLUMN(batch_target, host_pid, wire_targets, host_pid),
    COLUMN(batch_target, ns_pid, wire_targets, ns_pid),
    COLUMN(batch_target, start_ticks, wire_targets, start_ticks),
    COLUMN(batch_target, start_ms, wire_targets, start_ms),
    COLUMN(batch_target, jvm_version_str, wire_targets, jvm_version_str),
    COLUMN(batch_target, jvm_vendor_str, wire_targets, jvm_vendor_str),
    COLUMN(batch_target, main_class_str, wire_targets, main_class_str),
    COLUMN(batch_target, app_version_str, wire_targets, app_version_str),
    COLUMN(batch_target, image_str, wire_targets, image_str),
};
const size_t batch_target_column_count = COUNT(batch_target_columns);

static const column window_columns[] = {
    COLUMN(batch_window, target, wire_windows, target),
    COLUMN(batch_window, totals.type, wire_windows, type),
    COLUMN(batch_window, start_ms, wire_windows, start_ms),
    COLUMN(batch_window, length_ms, wire_windows, length_ms),
    COLUMN(batch_window, covered_ms, wire_windows, covered_ms),
    COLUMN(batch_window, engine_str, wire_windows, engine_str),
    COLUMN(batch_window, totals.interval, wire_windows, interval),
    COLUMN(batch_window, totals.samples, wire_windows, samples),
    COLUMN(batch_window, totals.raw_total, wire_windows, raw_total),
    COLUMN(batch_window, totals.value_total, wire_windows, value_total),
    COLUMN(batch_window, totals.truncated_raw, wire_windows, truncated_raw),
    COLUMN(batch_window, totals.dropped_raw, wire_windows, dropped_raw),
    COLUMN(batch_window, totals.dropped_stacks, wire_windows, dropped_stacks),
    COLUMN(batch_window, totals.lost_events, wire_windows, lost_events),
};

static const column sample_columns[] = {
    COLUMN(batch_row, window, wire_samples, window),
    COLUMN(batch_row, pool_str, wire_samples, pool_str),
    COLUMN(batch_row, stack, wire_samples, stack),
    COLUMN(batch_row, raw_value, wire_samples, raw_value),
    COLUMN(batch_row, value, wire_samples, value),
    COLUMN(batch_row, samples, wire_samples, samples),
    COLUMN(batch_row, facet, wire_samples, facet),
    COLUMN(batch_row, object_str, wire_samples, object_str),
};

static const column second_columns[] = {
    COLUMN(batch_second, window, wire_seconds, window),
    COLUMN(batch_second, pool_str, wire_seconds, pool_str),
    COLUMN(batch_second, second, wire_seconds, second),
    COLUMN(batch_second, value, wire_seconds, value),
};

static const column thread_columns[] = {
    COLUMN(batch_thread, window, wire_threads, window),
    COLUMN(batch_thread, os_tid, wire_threads, os_tid),
    COLUMN(batch_thread, java_tid, wire_threads, java_tid),
    COLUMN(batch_thread, name_str, wire_threads, name_str),
    COLUMN(batch_thread, pool_str, wire_threads, pool_str),
    COLUMN(batch_thread, raw_value, wire_threads, raw_value),
    COLUMN(batch_thread, value, wire_threads, value),
    COLUMN(batch_thread, samples, wire_threads, samples),
};

static const column frame_columns[] = {
    COLUMN(profile_frame, class_name, wire_stacks, frame_class_str),
    COLUMN(profile_frame, method, wire_stacks, frame_method_str),
    COLUMN(profile_frame, file, wire_stacks, frame_file_str),
    COLUMN(profile_frame, line, wire_stacks, frame_line),
};

static const column stack_columns[] = {
    COLUMN(profile_stack, depth, wire_stacks, stack_depth),
};

static int pack_body(const batch *one, const Hotstack__V1__Collector *sender, arena *in,
                     uint8_t **out, size_t *length)
{
    Hotstack__V1__ProfileBody body = HOTSTACK__V1__PROFILE_BODY__INIT;
    wire_targets targets = HOTSTACK__V1__TARGET_COLUMNS__INIT;
    wire_windows windows = HOTSTACK__V1__WINDOW_COLUMNS__INIT;
    wire_samples samples = HOTSTACK__V1__SAMPLE_COLUMNS__INIT;
    wire_seconds seconds = HOTSTACK__V1__SECOND_COLUMNS__INIT;
    wire_threads threads = HOTSTACK__V1__THREAD_COLUMNS__INIT;
    body.contract = BATCH_CONTRACT;
    body.collector = (Hotstack__V1__Collector *)(uintptr_t)sender;
    body.day = one->day;
    body.created_ms = one->created_ms;
    body.strings = strings_out(in, &one->strings);
    body.targets = &targets;
    body.windows = &windows;
    body.samples = &samples;
    body.seconds = &seconds;
    body.threads = &threads;
    body.stack_ids = (ProtobufCBinaryData){.len = one->stack_ids.count * STACK_ID_SIZE,
                                           .data = one->stack_ids.keys};
    if (body.strings == NULL ||
        columns_out(in, &targets, one->targets, sizeof(batch_target), one->target_count,
                    batch_target_columns, COUNT(batch_target_columns)) != 0 ||
        columns_out(in, &windows, one->windows, sizeof(batch_window), one->window_count,
                    window_columns, COUNT(window_columns)) != 0 ||
        columns_out(in, &samples, one->rows, sizeof(batch_row), one->row_count, sample_columns,
                    COUNT(sample_columns)) != 0 ||
        columns_out(in, &seconds, one->seconds, sizeof(batch_second), one->second_count,
                    second_columns, COUNT(second_columns)) != 0 ||
        columns_out(in, &threads, one->threads, sizeof(batch_thread), one->thread_count,
                    thread_columns, COUNT(thread_columns)) != 0)
        return -1;
    return message_pack(&body.base, out, length);
}

static ProtobufCBinaryData byte_column(arena *in, const void *items, size_t item_size, size_t count,
                                       size_t offset)
{
    uint8_t *bytes = arena_take(in, count);
    for (size_t i = 0; bytes != NULL && i < count; i++)
        bytes[i] = *((const uint8_t *)items + i * item_size + offset);
    return (ProtobufCBinaryData){.len = bytes != NULL ? count : 0, .data = bytes};
}

wire_stacks *batch_dictionary(const batch *one, arena *in)
{
    wire_stacks *to = arena_take(in, sizeof(*to));
    if (to == NULL)
        return NULL;
    hotstack__v1__stack_dictionary__init(to);
    size_t stacks = one->stack_ids.count;
    to->strings = strings_out(in, &one->dictionary);
    to->frame_kind = byte_column(in, one->frames.keys, sizeof(profile_frame), one->frames.count,
                                 offsetof(profile_frame, kind));
    to->normaliser = byte_column(in, one->stacks, sizeof(profile_stack), stacks,
                                 offsetof(profile_stack, normaliser));
    to->stack_flags =
        byte_column(in, one->stacks, sizeof(profile_stack), stacks, offsetof(profile_stack, flags));
    to->stack_ids =
        (ProtobufCBinaryData){.len = stacks * STACK_ID_SIZE, .data = one->stack_ids.keys};
    to->stack_frame = one->stack_frames;
    to->n_stack_frame = one->stack_frame_count;
    if (to->strings == NULL || to->frame_kind.data == NULL || to->normaliser.data == NULL ||
        to->stack_flags.data == NULL ||
        columns_out(in, to, one->frames.keys, sizeof(profile_frame), one->frames.count,
                    frame_columns, COUNT(frame_columns)) != 0 ||
        columns_out(in, to, one->stacks, sizeof(profile_stack), stacks, stack_columns,
                    COUNT(stack_columns)) != 0)
        return NULL;
    return to;
}

int batch_pack(const batch *one, const Hotstack__V1__Collector *sender, uint8_t **out,
               size_t *length)
{
    Hotstack__V1__ProfileBatch message = HOTSTACK__V1__PROFILE_BATCH__INIT;
    XXH128_canonical_t digest;
    arena in = {0};
    uint8_t *body = NULL;
    size_t body_length = 0;
    *out = NULL;
    int rc = pack_body(one, sender, &in, &body, &body_length);
    message.stacks = rc == 0 ? batch_dictionary(one, &in) : NULL;
    if (message.stacks != NULL) {
        XXH128_canonicalFromHash(&digest, XXH3_128bits(body, body_length));
        message.batch_id =
            (ProtobufCBinaryData){.len = BATCH_ID_SIZE, .data = (uint8_t *)(uintptr_t)one->id};
        message.body = (ProtobufCBinaryData){.len = body_length, .data = body};
        message.digest = (ProtobufCBinaryData){.len = sizeof(digest.digest), .data = digest.digest};
        rc = message_pack(&message.base, out, length);
    } else {
        rc = -1;
    }
    free(body);
    arena_free(&in);
    return rc;
}

static int dictionary_in(batch *out, const wire_stacks *from)
{
    void *frames = NULL;
    void *stacks = NULL;
    size_t frame_count = 0;
    size_t stack_count = 0;
    int rc = strings_in(&out->dictionary, from->strings);
    if (rc == 0)
        rc = columns_in(&frames, sizeof(profile_frame), &frame_count, from, frame_columns,
                        COUNT(frame_columns));
    if (rc == 0)
        rc = columns_in(&stacks, sizeof(profile_stack), &stack_count, from, stack_columns,
                        COUNT(stack_columns));
    if (rc == 0 && (from->frame_kind.len != frame_count || from->normaliser.len != stack_count ||
                    from->stack_flags.len != stack_count ||
                    from->stack_ids.len != stack_count * STACK_ID_SIZE))
        rc = -1;
    uint32_t index = 0;
    bool is_new = false;
    for (size_t i = 0; i < frame_count && rc == 0; i++) {
        profile_frame *frame = (profile_frame *)frames + i;
        frame->kind = from->frame_kind.data[i];
        bool in_range = frame->class_name < out->dictionary.count &&
                        frame->method < out->dictionary.count &&
                        frame->file < out->dictionary.count;
        rc = in_range ? key_table_add(&out->frames, frame, &index, &is_new) : -1;
        rc = rc == 0 && !is_new ? -1 : rc; /* a repeated one would move every index behind it */
    }
    uint32_t first = 0;
    for (size_t i = 0; i < stack_count && rc == 0; i++) {
        profile_stack *stack = (profile_stack *)stacks + i;
        memcpy(stack->id, from->stack_ids.data + i * STACK_ID_SIZE, STACK_ID_SIZE);
        stack->normaliser = from->normaliser.data[i];
        stack->flags = from->stack_flags.data[i];
        stack->first = first;
        first += stack->depth;
        rc = key_table_add(&out->stack_ids, stack->id, &index, &is_new);
        rc = rc == 0 && !is_new ? -1 : rc;
    }
    for (size_t i = 0; i < from->n_stack_frame && rc == 0; i++)
        rc = from->stack_frame[i] < frame_count ? 0 : -1;
    free(frames);
    out->stacks = stacks;
    out->stack_room = stack_count;
    out->stack_frames = calloc(from->n_stack_frame + 1, sizeof(uint32_t));
    if (rc != 0 || first != from->n_stack_frame || out->stack_frames == NULL)
        return -1;
    if (first > 0)
        memcpy(out->stack_frames, from->stack_frame, first * sizeof(uint32_t));
    out->stack_frame_count = out->stack_frame_room = first;
    return 0;
}

static int body_in(batch *out, const Hotstack__V1__ProfileBody *from)
{
    void *items[5] = {NULL};
    if (from->targets == NULL || from->windows == NULL || from->samples == NULL ||
        from->seconds == NULL || from->threads == NULL)
        return -1;
    out->day = from->day;
    out->created_ms = from->created_ms;
    int rc = strings_in(&out->strings, from->strings);
    if (rc == 0)
        rc = columns_in(&items[0], sizeof(batch_target), &out->target_count, from->targets,
                        batch_target_columns, COUNT(batch_target_columns));
    if (rc == 0)
        rc = columns_in(&items[1], sizeof(batch_window), &out->window_count, from->windows,
                        window_columns, COUNT(window_columns));
    if (rc == 0)
        rc = columns_in(&items[2], sizeof(batch_row), &out->row_count, from->samples,
                        sample_columns, COUNT(sample_columns));
    if (rc == 0)
        rc = columns_in(&items[3], sizeof(batch_second), &out->second_count, from->seconds,
                        second_columns, COUNT(second_columns));
    if (rc == 0)
        rc = columns_in(&items[4], sizeof(batch_thread), &out->thread_count, from->threads,
                        thread_columns, COUNT(thread_columns));
    out->targets = items[0];
    out->windows = items[1];
    out->rows = items[2];
    out->seconds = items[3];
    out->threads = items[4];
    return rc;
}

int batch_unpack(batch *out, const Hotstack__V1__ProfileBatch *message)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    batch_begin(out, no_id, 0);
    Hotstack__V1__ProfileBody *body =
        hotstack__v1__profile_body__unpack(NULL, message->body.len, message->body.data);
    int rc = -1;
    if (body != NULL && message->stacks != NULL && message->batch_id.len == BATCH_ID_SIZE) {
        memcpy(out->id, message->batch_id.data, BATCH_ID_SIZE);
        rc = body_in(out, body);
        if (rc == 0)
            rc = dictionary_in(out, message->stacks);
    }
    if (body != NULL)
        hotstack__v1__profile_body__free_unpacked(body, NULL);
    if (rc != 0)
        batch_clear(out);
    return rc;
}
