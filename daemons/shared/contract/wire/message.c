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
typedef Hotstack__V1__SnapshotColumns wire_snapshots;
typedef Hotstack__V1__StateColumns wire_states;
typedef Hotstack__V1__LockColumns wire_locks;
typedef Hotstack__V1__HeldColumns wire_held;
typedef Hotstack__V1__DeadlockColumns wire_deadlocks;
typedef Hotstack__V1__StackDictionary wire_stacks;
typedef Hotstack__V1__StatusColumns wire_status;

static const column target_columns[] = {
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
    COLUMN(batch_target, service_str, wire_targets, service_str),
};

static const column window_columns[] = {
    COLUMN(batch_window, target, wire_windows, target),
    COLUMN(batch_window, part.source, wire_windows, source),
    COLUMN(batch_window, start_ms, wire_windows, start_ms),
    COLUMN(batch_window, length_ms, wire_windows, length_ms),
    COLUMN(batch_window, covered_ms, wire_windows, covered_ms),
    COLUMN(batch_window, engine_str, wire_windows, engine_str),
    COLUMN(batch_window, part.interval, wire_windows, interval),
    COLUMN(batch_window, part.total.raw_amount, wire_windows, raw_amount),
    COLUMN(batch_window, part.total.amount, wire_windows, amount),
    COLUMN(batch_window, part.total.raw_count, wire_windows, raw_count),
    COLUMN(batch_window, part.total.count, wire_windows, count),
    COLUMN(batch_window, part.truncated_amount, wire_windows, truncated_amount),
    COLUMN(batch_window, part.truncated_count, wire_windows, truncated_count),
    COLUMN(batch_window, part.dropped_amount, wire_windows, dropped_amount),
    COLUMN(batch_window, part.dropped_count, wire_windows, dropped_count),
    COLUMN(batch_window, part.dropped_stacks, wire_windows, dropped_stacks),
    COLUMN(batch_window, part.lost_events, wire_windows, lost_events),
    COLUMN(batch_window, reason, wire_windows, reason),
};

static const column sample_columns[] = {
    COLUMN(batch_row, window, wire_samples, window),
    COLUMN(batch_row, pool_str, wire_samples, pool_str),
    COLUMN(batch_row, stack, wire_samples, stack),
    COLUMN(batch_row, sum.raw_amount, wire_samples, raw_amount),
    COLUMN(batch_row, sum.amount, wire_samples, amount),
    COLUMN(batch_row, sum.raw_count, wire_samples, raw_count),
    COLUMN(batch_row, sum.count, wire_samples, count),
    COLUMN(batch_row, facet, wire_samples, facet),
    COLUMN(batch_row, object_str, wire_samples, object_str),
};

static const column second_columns[] = {
    COLUMN(batch_second, window, wire_seconds, window),
    COLUMN(batch_second, pool_str, wire_seconds, pool_str),
    COLUMN(batch_second, second, wire_seconds, second),
    COLUMN(batch_second, amount, wire_seconds, amount),
    COLUMN(batch_second, count, wire_seconds, count),
};

static const column thread_columns[] = {
    COLUMN(batch_thread, window, wire_threads, window),
    COLUMN(batch_thread, os_tid, wire_threads, os_tid),
    COLUMN(batch_thread, java_tid, wire_threads, java_tid),
    COLUMN(batch_thread, name_str, wire_threads, name_str),
    COLUMN(batch_thread, pool_str, wire_threads, pool_str),
    COLUMN(batch_thread, sum.raw_amount, wire_threads, raw_amount),
    COLUMN(batch_thread, sum.amount, wire_threads, amount),
    COLUMN(batch_thread, sum.raw_count, wire_threads, raw_count),
    COLUMN(batch_thread, sum.count, wire_threads, count),
};

static const column snapshot_columns[] = {
    COLUMN(batch_snapshot, target, wire_snapshots, target),
    COLUMN(batch_snapshot, taken_ms, wire_snapshots, taken_ms),
    COLUMN(batch_snapshot, interval_ms, wire_snapshots, interval_ms),
    COLUMN(batch_snapshot, threads_total, wire_snapshots, threads_total),
    COLUMN(batch_snapshot, reason, wire_snapshots, reason),
    COLUMN(batch_snapshot, cut, wire_snapshots, cut),
    COLUMN(batch_snapshot, offers, wire_snapshots, offers),
    COLUMN(batch_snapshot, longest_pause_ns, wire_snapshots, longest_pause_ns),
};

static const column state_columns[] = {
    COLUMN(batch_state, snapshot, wire_states, snapshot),
    COLUMN(batch_state, java_tid, wire_states, java_tid),
    COLUMN(batch_state, os_tid, wire_states, os_tid),
    COLUMN(batch_state, name_str, wire_states, name_str),
    COLUMN(batch_state, pool_str, wire_states, pool_str),
    COLUMN(batch_state, state, wire_states, state),
    COLUMN(batch_state, flags, wire_states, flags),
    COLUMN(batch_state, cpu_ns, wire_states, cpu_ns),
    COLUMN(batch_state, allocated_bytes, wire_states, allocated_bytes),
    COLUMN(batch_state, blocked_ms, wire_states, blocked_ms),
    COLUMN(batch_state, waited_ms, wire_states, waited_ms),
    COLUMN(batch_state, stack, wire_states, stack),
    COLUMN(batch_state, lock, wire_states, lock),
    COLUMN(batch_state, owner_tid, wire_states, owner_tid),
    COLUMN(batch_state, owner_str, wire_states, owner_str),
    COLUMN(batch_state, carries_tid, wire_states, carries_tid),
    COLUMN(batch_state, carries_str, wire_states, carries_str),
};

static const column lock_columns[] = {
    COLUMN(batch_lock, class_str, wire_locks, class_str),
    COLUMN(batch_lock, identity, wire_locks, identity),
};

static const column held_columns[] = {
    COLUMN(batch_held, thread, wire_held, thread),
    COLUMN(batch_held, lock, wire_held, lock),
    COLUMN(batch_held, kind, wire_held, kind),
    COLUMN(batch_held, depth, wire_held, depth),
};

static const column deadlock_columns[] = {
    COLUMN(batch_deadlock, cycle, wire_deadlocks, cycle),
    COLUMN(batch_deadlock, thread, wire_deadlocks, thread),
    COLUMN(batch_deadlock, inferred, wire_deadlocks, inferred),
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

/* The columns of one group of a body: an array of the batch, and a message. */
typedef struct group {
    size_t items, count, room, item_size;         /* of batch */
    size_t message;                               /* of the body: a pointer */
    const ProtobufCMessageDescriptor *descriptor; /* of that message */
    const column *table;
    size_t columns;
} group;

#define GROUP(items, count, room, field, wire_name, table)                                         \
    {                                                                                              \
        offsetof(batch, items), offsetof(batch, count), offsetof(batch, room),                     \
            sizeof(*((batch *)0)->items), offsetof(Hotstack__V1__ProfileBody, field),              \
            &hotstack__v1__##wire_name##__descriptor, table, COUNT(table)                          \
    }

static const group groups[] = {
    GROUP(targets, target_count, target_room, targets, target_columns, target_columns),
    GROUP(windows, window_count, window_room, windows, window_columns, window_columns),
    GROUP(rows, row_count, row_room, samples, sample_columns, sample_columns),
    GROUP(seconds, second_count, second_room, seconds, second_columns, second_columns),
    GROUP(threads, thread_count, thread_room, threads, thread_columns, thread_columns),
    GROUP(snapshots, snapshot_count, snapshot_room, snapshots, snapshot_columns, snapshot_columns),
    GROUP(states, state_count, state_room, states, state_columns, state_columns),
    GROUP(locks, lock_count, lock_room, locks, lock_columns, lock_columns),
    GROUP(held, held_count, held_room, held, held_columns, held_columns),
    GROUP(deadlocks, deadlock_count, deadlock_room, deadlocks, deadlock_columns, deadlock_columns),
};

/* Fills the columns of one group, borrowed from the batch and the arena. Returns 0 or -1. */
static int group_out(const group *g, const batch *one, Hotstack__V1__ProfileBody *body, arena *in)
{
    const void *items = NULL;
    size_t count = 0;
    ProtobufCMessage *message = arena_take(in, g->descriptor->sizeof_message);
    if (message == NULL)
        return -1;
    protobuf_c_message_init(g->descriptor, message);
    memcpy(&items, (const char *)one + g->items, sizeof(items));
    memcpy(&count, (const char *)one + g->count, sizeof(count));
    memcpy((char *)body + g->message, &message, sizeof(message));
    return columns_out(in, message, items, g->item_size, count, g->table, g->columns);
}

static int pack_body(const batch *one, const Hotstack__V1__Collector *sender, arena *in,
                     uint8_t **out, size_t *length)
{
    Hotstack__V1__ProfileBody body = HOTSTACK__V1__PROFILE_BODY__INIT;
    body.contract = BATCH_CONTRACT;
    body.collector = (Hotstack__V1__Collector *)(uintptr_t)sender;
    body.day = one->day;
    body.created_ms = one->created_ms;
    body.strings = strings_out(in, &one->strings);
    body.stack_ids = (ProtobufCBinaryData){.len = one->stack_ids.count * STACK_ID_SIZE,
                                           .data = one->stack_ids.keys};
    if (body.strings == NULL)
        return -1;
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (group_out(&groups[i], one, &body, in) != 0)
            return -1;
    }
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
        rc = rc == 0 && !is_new ? -1 : rc; /* a repeated one would shift every later index */
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

/* Does the reverse of group_out: fills the batch's array. Returns 0 or -1. */
static int group_in(const group *g, batch *out, const Hotstack__V1__ProfileBody *from)
{
    const void *message = NULL;
    void *items = NULL;
    size_t count = 0;
    memcpy(&message, (const char *)from + g->message, sizeof(message));
    if (message == NULL ||
        columns_in(&items, g->item_size, &count, message, g->table, g->columns) != 0)
        return -1;
    memcpy((char *)out + g->items, &items, sizeof(items));
    memcpy((char *)out + g->count, &count, sizeof(count));
    memcpy((char *)out + g->room, &count, sizeof(count));
    return 0;
}

static int body_in(batch *out, const Hotstack__V1__ProfileBody *from)
{
    out->day = from->day;
    out->created_ms = from->created_ms;
    int rc = strings_in(&out->strings, from->strings);
    for (size_t i = 0; i < COUNT(groups) && rc == 0; i++)
        rc = group_in(&groups[i], out, from);
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

static const column status_columns[] = {
    COLUMN(status_row, observed_ms, wire_status, observed_ms),
    COLUMN(status_row, state, wire_status, state),
    COLUMN(status_row, reason, wire_status, reason),
    COLUMN(status_row, detail_str, wire_status, detail_str),
    COLUMN(status_row, last_window_ms, wire_status, last_window_ms),
    COLUMN(status_row, session, wire_status, session),
    COLUMN(status_row, mode, wire_status, mode),
    COLUMN(status_row, until_ms, wire_status, until_ms),
    COLUMN(status_row, last_length_ms, wire_status, last_length_ms),
    COLUMN(status_row, last_covered_ms, wire_status, last_covered_ms),
    COLUMN(status_row, collector_ns, wire_status, collector_ns),
};

int status_pack(const status_rows *from, const Hotstack__V1__Collector *sender, uint8_t **out,
                size_t *length)
{
    Hotstack__V1__StatusReport message = HOTSTACK__V1__STATUS_REPORT__INIT;
    wire_targets targets = HOTSTACK__V1__TARGET_COLUMNS__INIT;
    wire_status status = HOTSTACK__V1__STATUS_COLUMNS__INIT;
    arena in = {0};

    message.contract = BATCH_CONTRACT;
    message.collector = (Hotstack__V1__Collector *)(uintptr_t)sender;
    message.strings = strings_out(&in, from->strings);
    message.targets = &targets;
    message.status = &status;
    int rc = message.strings != NULL ? 0 : -1;
    if (rc == 0)
        rc = columns_out(&in, &targets, from->targets, sizeof(*from->targets), from->count,
                         target_columns, COUNT(target_columns));
    if (rc == 0)
        rc = columns_out(&in, &status, from->rows, sizeof(*from->rows), from->count, status_columns,
                         COUNT(status_columns));
    if (rc == 0)
        rc = message_pack(&message.base, out, length);
    arena_free(&in);
    return rc;
}
