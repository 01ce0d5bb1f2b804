/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/wire/decode.h>

#include <stdlib.h>
#include <string.h>

#include "ingest.pb-c.h"
#include <contract/check.h>
#include <contract/wire/budget.h>
#include <contract/wire/form.h>

enum { MESSAGES = 2 };

struct proto_decoded {
    size_t count;
    struct {
        budget budget;
        ProtobufCMessage *message;
    } parts[MESSAGES];
};

#define U32(message, field) ((u32s){(message)->field, (message)->n_##field})
#define U64(message, field) ((u64s){(message)->field, (message)->n_##field})
#define SUMS(message)                                                                              \
    {                                                                                              \
        U64(message, raw_amount), U64(message, amount), U64(message, raw_count),                   \
            U64(message, count)                                                                    \
    }
#define BYTES(message, field) ((text){(const char *)(message)->field.data, (message)->field.len})

/* Checks the form, unpacks into the next part and returns the message. NULL = the verdict is
 * filled. */
static void *unpack(proto_decoded *d, const char *name, const ProtobufCMessageDescriptor *type,
                    const void *data, size_t length, verdict *v)
{
    budget *b = &d->parts[d->count].budget;
    const char *problem;
    size_t offset;

    if (!wire_check(type, data, length, &problem, &offset)) {
        verdict_reject(v, "malformed", "%s: %s, at byte %zu.", name, problem, offset);
        return NULL;
    }
    budget_init(b, 8 * length + 65536); /* docs/formats/ingest.md */
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &b->allocator, length, data);
    if (message == NULL && b->exceeded)
        verdict_reject(v, "too_costly", "%s does not unpack within 8 bytes a byte.", name);
    else if (message == NULL && b->no_memory)
        check_no_memory(v);
    else if (message == NULL)
        verdict_reject(v, "malformed", "%s is not the protobuf message that belongs here.", name);
    d->parts[d->count].message = message;
    d->count += message != NULL ? 1 : 0;
    return message;
}

static int begin(proto_decoded **out, verdict *v)
{
    *out = calloc(1, sizeof(**out));
    return *out != NULL ? 0 : check_no_memory(v);
}

void proto_decoded_free(proto_decoded *decoded)
{
    if (decoded == NULL)
        return;
    for (size_t i = 0; i < decoded->count; i++)
        protobuf_c_message_free_unpacked(decoded->parts[i].message,
                                         &decoded->parts[i].budget.allocator);
    free(decoded);
}

/* ---- the groups ---- */

static void map_collector(collector_id *out, const Hotstack__V1__Collector *in)
{
    if (in != NULL)
        *out = (collector_id){text_of(in->cluster), text_of(in->node), text_of(in->instance),
                              text_of(in->version), in->run_id};
}

static void map_strings(string_columns *out, const Hotstack__V1__StringTable *in)
{
    if (in != NULL)
        *out = (string_columns){BYTES(in, data), U32(in, length), NULL};
}

static void map_targets(target_columns *out, const Hotstack__V1__TargetColumns *in)
{
    if (in == NULL)
        return;
    *out = (target_columns){
        .namespace_name = U32(in, namespace_str),
        .workload_kind = U32(in, workload_kind_str),
        .workload = U32(in, workload_str),
        .pod = U32(in, pod_str),
        .container = U32(in, container_str),
        .pod_uid = U32(in, pod_uid_str),
        .container_id = U32(in, container_id_str),
        .boot_id = U32(in, boot_id_str),
        .host_pid = U32(in, host_pid),
        .ns_pid = U32(in, ns_pid),
        .start_ticks = U64(in, start_ticks),
        .start_ms = U64(in, start_ms),
        .jvm_version = U32(in, jvm_version_str),
        .jvm_vendor = U32(in, jvm_vendor_str),
        .main_class = U32(in, main_class_str),
        .app_version = U32(in, app_version_str),
        .image = U32(in, image_str),
        .service = U32(in, service_str),
    };
}

static void map_windows(window_columns *out, const Hotstack__V1__WindowColumns *in)
{
    if (in == NULL)
        return;
    *out = (window_columns){
        .target = U32(in, target),
        .source = U32(in, source),
        .start_ms = U64(in, start_ms),
        .length_ms = U32(in, length_ms),
        .covered_ms = U32(in, covered_ms),
        .engine = U32(in, engine_str),
        .interval = U64(in, interval),
        .total = SUMS(in),
        .truncated_amount = U64(in, truncated_amount),
        .truncated_count = U64(in, truncated_count),
        .dropped_amount = U64(in, dropped_amount),
        .dropped_count = U64(in, dropped_count),
        .dropped_stacks = U64(in, dropped_stacks),
        .lost_events = U64(in, lost_events),
        .reason = U32(in, reason),
    };
}

static void map_rows(profile_batch *out, const Hotstack__V1__ProfileBody *in)
{
    if (in->samples != NULL)
        out->samples = (sample_columns){U32(in->samples, window), U32(in->samples, pool_str),
                                        U32(in->samples, stack),  SUMS(in->samples),
                                        U32(in->samples, facet),  U32(in->samples, object_str)};
    if (in->seconds != NULL)
        out->seconds = (second_columns){U32(in->seconds, window), U32(in->seconds, pool_str),
                                        U32(in->seconds, second), U64(in->seconds, amount),
                                        U64(in->seconds, count)};
    if (in->threads != NULL)
        out->threads = (thread_columns){U32(in->threads, window),   U64(in->threads, os_tid),
                                        U64(in->threads, java_tid), U32(in->threads, name_str),
                                        U32(in->threads, pool_str), SUMS(in->threads)};
}

static void map_snapshots(profile_batch *out, const Hotstack__V1__ProfileBody *in)
{
    const Hotstack__V1__SnapshotColumns *n = in->snapshots;
    const Hotstack__V1__StateColumns *s = in->states;

    if (n != NULL)
        out->snapshots = (snapshot_columns){
            .target = U32(n, target),
            .taken_ms = U64(n, taken_ms),
            .interval_ms = U32(n, interval_ms),
            .threads_total = U32(n, threads_total),
            .reason = U32(n, reason),
            .cut = U32(n, cut),
            .offers = U32(n, offers),
            .longest_pause_ns = U64(n, longest_pause_ns),
        };
    if (s != NULL)
        out->states = (state_columns){
            .snapshot = U32(s, snapshot),
            .java_tid = U64(s, java_tid),
            .os_tid = U64(s, os_tid),
            .name = U32(s, name_str),
            .pool = U32(s, pool_str),
            .state = U32(s, state),
            .flags = U32(s, flags),
            .cpu_ns = U64(s, cpu_ns),
            .allocated_bytes = U64(s, allocated_bytes),
            .blocked_ms = U64(s, blocked_ms),
            .waited_ms = U64(s, waited_ms),
            .stack = U32(s, stack),
            .lock = U32(s, lock),
            .owner_tid = U64(s, owner_tid),
            .owner = U32(s, owner_str),
            .carries_tid = U64(s, carries_tid),
            .carries = U32(s, carries_str),
        };
}

static void map_locks(profile_batch *out, const Hotstack__V1__ProfileBody *in)
{
    if (in->locks != NULL)
        out->locks = (lock_columns){U32(in->locks, class_str), U32(in->locks, identity)};
    if (in->held != NULL)
        out->held = (held_columns){U32(in->held, thread), U32(in->held, lock), U32(in->held, kind),
                                   U32(in->held, depth)};
    if (in->deadlocks != NULL)
        out->deadlocks = (deadlock_columns){U64(in->deadlocks, cycle), U32(in->deadlocks, thread),
                                            U32(in->deadlocks, inferred)};
}

static void map_dictionary(stack_dictionary *out, const Hotstack__V1__StackDictionary *in)
{
    if (in == NULL)
        return;
    map_strings(&out->strings, in->strings);
    out->frame_class = U32(in, frame_class_str);
    out->frame_method = U32(in, frame_method_str);
    out->frame_file = U32(in, frame_file_str);
    out->frame_line = U32(in, frame_line);
    out->frame_kind = BYTES(in, frame_kind);
    out->stack_ids = BYTES(in, stack_ids);
    out->normaliser = BYTES(in, normaliser);
    out->stack_depth = U32(in, stack_depth);
    out->stack_flags = BYTES(in, stack_flags);
    out->stack_frame = U32(in, stack_frame);
}

/* ---- the payloads ---- */

int proto_decode_batch(proto_decoded **out, profile_batch *batch, const void *data, size_t length,
                       verdict *v)
{
    memset(batch, 0, sizeof(*batch));
    if (begin(out, v) != 0)
        return -1;
    const Hotstack__V1__ProfileBatch *outer =
        unpack(*out, "ProfileBatch", &hotstack__v1__profile_batch__descriptor, data, length, v);
    if (outer == NULL)
        return -1;
    const Hotstack__V1__ProfileBody *body =
        unpack(*out, "ProfileBody", &hotstack__v1__profile_body__descriptor, outer->body.data,
               outer->body.len, v);
    if (body == NULL)
        return -1;
    batch->batch_id = BYTES(outer, batch_id);
    batch->body = BYTES(outer, body);
    batch->digest = BYTES(outer, digest);
    batch->attempt = outer->attempt;
    batch->waited_ms = outer->waited_ms;
    map_dictionary(&batch->stacks, outer->stacks);
    batch->contract = body->contract;
    map_collector(&batch->collector, body->collector);
    batch->day = body->day;
    batch->created_ms = body->created_ms;
    map_strings(&batch->strings, body->strings);
    map_targets(&batch->targets, body->targets);
    map_windows(&batch->windows, body->windows);
    map_rows(batch, body);
    map_snapshots(batch, body);
    map_locks(batch, body);
    batch->stack_ids = BYTES(body, stack_ids);
    return 0;
}

int proto_decode_status(proto_decoded **out, status_batch *report, const void *data, size_t length,
                        verdict *v)
{
    memset(report, 0, sizeof(*report));
    if (begin(out, v) != 0)
        return -1;
    const Hotstack__V1__StatusReport *in =
        unpack(*out, "StatusReport", &hotstack__v1__status_report__descriptor, data, length, v);
    if (in == NULL)
        return -1;
    report->contract = in->contract;
    map_collector(&report->collector, in->collector);
    map_strings(&report->strings, in->strings);
    map_targets(&report->targets, in->targets);
    if (in->status != NULL)
        report->status =
            (status_columns){U64(in->status, observed_ms),    U32(in->status, state),
                             U32(in->status, reason),         U32(in->status, detail_str),
                             U64(in->status, last_window_ms), U32(in->status, session),
                             U32(in->status, mode),           U64(in->status, until_ms),
                             U32(in->status, last_length_ms), U32(in->status, last_covered_ms),
                             U64(in->status, collector_ns)};
    return 0;
}

int proto_decode_heartbeat(proto_decoded **out, heartbeat *beat, const void *data, size_t length,
                           verdict *v)
{
    memset(beat, 0, sizeof(*beat));
    if (begin(out, v) != 0)
        return -1;
    const Hotstack__V1__Heartbeat *in =
        unpack(*out, "Heartbeat", &hotstack__v1__heartbeat__descriptor, data, length, v);
    if (in == NULL)
        return -1;
    *beat = (heartbeat){.contract = in->contract,
                        .sent_ms = in->sent_ms,
                        .started_ms = in->started_ms,
                        .engine = text_of(in->engine),
                        .queued_bytes = in->queued_bytes,
                        .queued_batches = in->queued_batches,
                        .queue_bytes = in->queue_bytes,
                        .oldest_queued_ms = in->oldest_queued_ms,
                        .cut_batches = in->cut_batches,
                        .last_success_ms = in->last_success_ms,
                        .jvms_seen = in->jvms_seen,
                        .jvms_profiled = in->jvms_profiled};
    map_collector(&beat->collector, in->collector);
    if (in->drops != NULL)
        beat->drops = (drop_columns){U32(in->drops, cause), U64(in->drops, batches),
                                     U64(in->drops, oldest_ms), U64(in->drops, newest_ms)};
    return 0;
}
