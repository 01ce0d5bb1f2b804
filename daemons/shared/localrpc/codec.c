/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes the messages of local.proto. */
#include <localrpc/message.h>

#include <stdlib.h>
#include <string.h>

#include "local.pb-c.h"

typedef Hotstack__Local__V1__Request wire_request;
typedef Hotstack__Local__V1__Answer wire_answer;
typedef Hotstack__Local__V1__Finding wire_finding;
typedef Hotstack__Local__V1__Jvm wire_jvm;
typedef Hotstack__Local__V1__Identity wire_identity;

static void copy_text(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

#define COPY_TEXT(to, from) copy_text((to), sizeof(to), (from))

/* protobuf-c takes texts as char *, but only reads them. */
#define WIRE_TEXT(text) ((char *)(uintptr_t)(text))

static ProtobufCBinaryData wire_bytes(const uint8_t *bytes, size_t length)
{
    return (ProtobufCBinaryData){.len = length, .data = (uint8_t *)(uintptr_t)bytes};
}

static bool copy_id(uint8_t *to, const ProtobufCBinaryData *from)
{
    if (from->len != LOCAL_ID_SIZE)
        return false;
    memcpy(to, from->data, LOCAL_ID_SIZE);
    return true;
}

static wire_identity identity_out(const local_identity *from)
{
    wire_identity to = HOTSTACK__LOCAL__V1__IDENTITY__INIT;
    to.boot_id = WIRE_TEXT(from->boot_id);
    to.host_pid = from->host_pid;
    to.start_ticks = from->start_ticks;
    return to;
}

static bool identity_in(local_identity *to, const wire_identity *from)
{
    if (from == NULL)
        return false;
    COPY_TEXT(to->boot_id, from->boot_id);
    to->host_pid = from->host_pid;
    to->start_ticks = from->start_ticks;
    return true;
}

static int pack(uint8_t **out, size_t *length, const ProtobufCMessage *message)
{
    *length = protobuf_c_message_get_packed_size(message);
    *out = malloc(*length + 1);
    if (*out == NULL)
        return -1;
    protobuf_c_message_pack(message, *out);
    return 0;
}

static void start_out(Hotstack__Local__V1__StartRequest *to, const event_intervals *from)
{
    to->cpu_interval_ns = from->of[EVENT_CPU];
    to->alloc_interval_bytes = from->of[EVENT_ALLOC];
    to->lock_interval_ns = from->of[EVENT_LOCK];
    to->wall_interval_ns = from->of[EVENT_WALL];
    to->live_interval_bytes = from->of[EVENT_LIVE];
    to->nativemem_interval_bytes = from->of[EVENT_NATIVEMEM];
}

int local_request_encode(uint8_t **out, size_t *length, const local_request *request)
{
    wire_request wire = HOTSTACK__LOCAL__V1__REQUEST__INIT;
    wire_identity jvm = identity_out(&request->jvm);
    Hotstack__Local__V1__ListRequest list = HOTSTACK__LOCAL__V1__LIST_REQUEST__INIT;
    Hotstack__Local__V1__StartRequest start = HOTSTACK__LOCAL__V1__START_REQUEST__INIT;
    Hotstack__Local__V1__WindowRequest window = HOTSTACK__LOCAL__V1__WINDOW_REQUEST__INIT;
    Hotstack__Local__V1__StopRequest stop = HOTSTACK__LOCAL__V1__STOP_REQUEST__INIT;
    Hotstack__Local__V1__ReadRequest read = HOTSTACK__LOCAL__V1__READ_REQUEST__INIT;
    Hotstack__Local__V1__SessionRequest session = HOTSTACK__LOCAL__V1__SESSION_REQUEST__INIT;
    Hotstack__Local__V1__ThreadsRequest threads = HOTSTACK__LOCAL__V1__THREADS_REQUEST__INIT;
    Hotstack__Local__V1__StatusRequest status = HOTSTACK__LOCAL__V1__STATUS_REQUEST__INIT;
    wire.protocol = LOCAL_PROTOCOL;
    wire.id = wire_bytes(request->id, LOCAL_ID_SIZE);
    wire.deadline_ms = request->deadline_ms;
    start.jvm = window.jvm = stop.jvm = session.jvm = threads.jvm = &jvm;
    switch (request->op) {
    case LOCAL_LIST:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_LIST;
        wire.list = &list;
        break;
    case LOCAL_START:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_START;
        wire.start = &start;
        start_out(&start, &request->events);
        start.memlimit_bytes = request->memlimit_bytes;
        start.rate_limit = request->rate_limit;
        break;
    case LOCAL_WINDOW:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_WINDOW;
        wire.window = &window;
        window.offset = request->offset;
        window.settled = request->settled;
        break;
    case LOCAL_STOP:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_STOP;
        wire.stop = &stop;
        stop.offset = request->offset;
        break;
    case LOCAL_READ:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_READ;
        wire.read = &read;
        read.handle = wire_bytes(request->handle, LOCAL_ID_SIZE);
        read.offset = request->offset;
        read.length = request->length;
        read.done = request->done;
        break;
    case LOCAL_SESSION:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_SESSION;
        wire.session = &session;
        break;
    case LOCAL_THREADS:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_THREADS;
        wire.threads = &threads;
        threads.lease_ms = request->lease_ms;
        threads.contention = request->contention;
        threads.max_threads = request->max_threads;
        break;
    case LOCAL_STATUS:
        wire.op_case = HOTSTACK__LOCAL__V1__REQUEST__OP_STATUS;
        wire.status = &status;
        break;
    default:
        return -1;
    }
    return pack(out, length, &wire.base);
}

static bool read_in(local_request *to, const Hotstack__Local__V1__ReadRequest *from)
{
    to->op = LOCAL_READ;
    to->offset = from->offset;
    to->length = from->length;
    to->done = from->done != 0;
    return from->length <= LOCAL_PIECE_MAX && copy_id(to->handle, &from->handle);
}

static bool start_in(local_request *to, const Hotstack__Local__V1__StartRequest *from)
{
    to->op = LOCAL_START;
    to->events = (event_intervals){{[EVENT_CPU] = from->cpu_interval_ns,
                                    [EVENT_ALLOC] = from->alloc_interval_bytes,
                                    [EVENT_LOCK] = from->lock_interval_ns,
                                    [EVENT_WALL] = from->wall_interval_ns,
                                    [EVENT_LIVE] = from->live_interval_bytes,
                                    [EVENT_NATIVEMEM] = from->nativemem_interval_bytes}};
    to->memlimit_bytes = from->memlimit_bytes;
    to->rate_limit = from->rate_limit;
    return identity_in(&to->jvm, from->jvm);
}

static bool op_in(local_request *to, const wire_request *from)
{
    switch (from->op_case) {
    case HOTSTACK__LOCAL__V1__REQUEST__OP_LIST:
        to->op = LOCAL_LIST;
        return true;
    case HOTSTACK__LOCAL__V1__REQUEST__OP_START:
        return start_in(to, from->start);
    case HOTSTACK__LOCAL__V1__REQUEST__OP_WINDOW:
        to->op = LOCAL_WINDOW;
        to->offset = from->window->offset;
        to->settled = from->window->settled;
        return identity_in(&to->jvm, from->window->jvm);
    case HOTSTACK__LOCAL__V1__REQUEST__OP_STOP:
        to->op = LOCAL_STOP;
        to->offset = from->stop->offset;
        return identity_in(&to->jvm, from->stop->jvm);
    case HOTSTACK__LOCAL__V1__REQUEST__OP_SESSION:
        to->op = LOCAL_SESSION;
        return identity_in(&to->jvm, from->session->jvm);
    case HOTSTACK__LOCAL__V1__REQUEST__OP_THREADS:
        to->op = LOCAL_THREADS;
        to->lease_ms = from->threads->lease_ms;
        to->contention = from->threads->contention != 0;
        to->max_threads = from->threads->max_threads;
        return identity_in(&to->jvm, from->threads->jvm);
    case HOTSTACK__LOCAL__V1__REQUEST__OP_READ:
        return read_in(to, from->read);
    case HOTSTACK__LOCAL__V1__REQUEST__OP_STATUS:
        to->op = LOCAL_STATUS;
        return true;
    default:
        return false;
    }
}

int local_request_decode(local_request *out, const uint8_t *bytes, size_t length)
{
    *out = (local_request){0};
    if (length > LOCAL_REQUEST_MAX)
        return -1;
    wire_request *wire = hotstack__local__v1__request__unpack(NULL, length, bytes);
    if (wire == NULL)
        return -1;
    int rc = -1;
    if (copy_id(out->id, &wire->id)) {
        out->deadline_ms = wire->deadline_ms;
        if (wire->protocol != LOCAL_PROTOCOL)
            rc = 1;
        else if (op_in(out, wire))
            rc = 0;
    }
    hotstack__local__v1__request__free_unpacked(wire, NULL);
    if (rc < 0)
        *out = (local_request){0};
    return rc;
}

/* The JVMs of a LIST answer: protobuf-c takes an array of pointers to messages. */
typedef struct wire_jvms {
    wire_jvm *all;
    wire_identity *ids;
    wire_jvm **pointers;
} wire_jvms;

static void free_jvms(wire_jvms *jvms)
{
    free(jvms->all);
    free(jvms->ids);
    free(jvms->pointers);
}

static void jvm_out(wire_jvm *to, wire_identity *id, const local_jvm *from)
{
    hotstack__local__v1__jvm__init(to);
    *id = identity_out(&from->id);
    to->id = id;
    to->ns_pid = from->ns_pid;
    to->uid = from->uid;
    to->gid = from->gid;
    to->start_ms = from->start_ms;
    to->main_class = WIRE_TEXT(from->main_class);
    to->command_line = WIRE_TEXT(from->command_line);
    to->jvm_version = WIRE_TEXT(from->version);
    to->jvm_vendor = WIRE_TEXT(from->vendor);
    to->cgroup = WIRE_TEXT(from->cgroup);
    to->container_id = WIRE_TEXT(from->container_id);
    to->pod_uid = WIRE_TEXT(from->pod_uid);
    to->verdict = from->verdict;
    to->detail = WIRE_TEXT(from->detail);
}

static int jvms_out(wire_jvms *jvms, const local_answer *answer)
{
    size_t count = answer->jvm_count;
    jvms->all = calloc(count + 1, sizeof(*jvms->all));
    jvms->ids = calloc(count + 1, sizeof(*jvms->ids));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    jvms->pointers = calloc(count + 1, sizeof(*jvms->pointers));
    if (jvms->all == NULL || jvms->ids == NULL || jvms->pointers == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        jvm_out(&jvms->all[i], &jvms->ids[i], &answer->jvms[i]);
        jvms->pointers[i] = &jvms->all[i];
    }
    return 0;
}

static void finding_out(wire_finding *to, const local_finding *from)
{
    hotstack__local__v1__finding__init(to);
    to->check = WIRE_TEXT(from->check);
    to->message = WIRE_TEXT(from->message);
    to->fix = WIRE_TEXT(from->fix);
}

int local_answer_encode(uint8_t **out, size_t *length, const local_answer *answer)
{
    wire_answer wire = HOTSTACK__LOCAL__V1__ANSWER__INIT;
    wire_jvms jvms = {0};
    wire_finding lacks[LOCAL_FINDINGS_MAX];
    wire_finding *lack_pointers[LOCAL_FINDINGS_MAX];
    wire.id = wire_bytes(answer->id, LOCAL_ID_SIZE);
    wire.reason = answer->reason;
    wire.detail = WIRE_TEXT(answer->detail);
    wire.handle = wire_bytes(answer->handle, answer->has_handle ? LOCAL_ID_SIZE : 0);
    wire.size = answer->size;
    wire.data = wire_bytes(answer->data, answer->length);
    wire.window_start_ms = answer->window_start_ms;
    wire.window_end_ms = answer->window_end_ms;
    wire.engine = WIRE_TEXT(answer->engine);
    wire.engine_reason = WIRE_TEXT(answer->engine_reason);
    wire.session = answer->session;
    wire.session_ms = answer->session_ms;
    wire.offset = answer->offset;
    wire.gap_ms = answer->gap_ms;
    wire.dropped_events = answer->dropped_events;
    wire.workers_unreaped = answer->workers_unreaped;
    wire.absent = answer->absent;
    for (size_t i = 0; i < answer->lack_count; i++) {
        finding_out(&lacks[i], &answer->lacks[i]);
        lack_pointers[i] = &lacks[i];
    }
    wire.n_lacks = answer->lack_count;
    wire.lacks = lack_pointers;
    wire.absent_reason = WIRE_TEXT(answer->absent_reason);
    int rc = answer->jvm_count <= LOCAL_JVMS_MAX ? jvms_out(&jvms, answer) : -1;
    wire.n_jvms = answer->jvm_count;
    wire.jvms = jvms.pointers;
    if (rc == 0)
        rc = pack(out, length, &wire.base);
    free_jvms(&jvms);
    return rc;
}

static bool jvm_in(local_jvm *to, const wire_jvm *from)
{
    to->ns_pid = from->ns_pid;
    to->uid = from->uid;
    to->gid = from->gid;
    to->start_ms = from->start_ms;
    COPY_TEXT(to->main_class, from->main_class);
    COPY_TEXT(to->command_line, from->command_line);
    COPY_TEXT(to->version, from->jvm_version);
    COPY_TEXT(to->vendor, from->jvm_vendor);
    COPY_TEXT(to->cgroup, from->cgroup);
    COPY_TEXT(to->container_id, from->container_id);
    COPY_TEXT(to->pod_uid, from->pod_uid);
    to->verdict = from->verdict;
    COPY_TEXT(to->detail, from->detail);
    return identity_in(&to->id, from->id);
}

static bool jvms_in(local_answer *to, const wire_answer *from)
{
    if (from->n_jvms > LOCAL_JVMS_MAX)
        return false;
    to->jvms = calloc(from->n_jvms + 1, sizeof(*to->jvms));
    if (to->jvms == NULL)
        return false;
    to->jvm_count = from->n_jvms;
    for (size_t i = 0; i < from->n_jvms; i++) {
        if (!jvm_in(&to->jvms[i], from->jvms[i]))
            return false;
    }
    return true;
}

static bool lacks_in(local_answer *to, const wire_answer *from)
{
    if (from->n_lacks > LOCAL_FINDINGS_MAX)
        return false;
    to->lack_count = from->n_lacks;
    for (size_t i = 0; i < from->n_lacks; i++) {
        COPY_TEXT(to->lacks[i].check, from->lacks[i]->check);
        COPY_TEXT(to->lacks[i].message, from->lacks[i]->message);
        COPY_TEXT(to->lacks[i].fix, from->lacks[i]->fix);
    }
    return true;
}

static bool data_in(local_answer *to, const ProtobufCBinaryData *from)
{
    if (from->len > LOCAL_STATUS_MAX)
        return false;
    to->data = malloc(from->len + 1);
    if (to->data == NULL)
        return false;
    if (from->len > 0)
        memcpy(to->data, from->data, from->len);
    to->length = from->len;
    return true;
}

static bool answer_in(local_answer *to, const wire_answer *from)
{
    to->reason = from->reason;
    COPY_TEXT(to->detail, from->detail);
    to->has_handle = from->handle.len > 0;
    to->size = from->size;
    to->window_start_ms = from->window_start_ms;
    to->window_end_ms = from->window_end_ms;
    COPY_TEXT(to->engine, from->engine);
    COPY_TEXT(to->engine_reason, from->engine_reason);
    to->session = from->session;
    to->session_ms = from->session_ms;
    to->offset = from->offset;
    to->gap_ms = from->gap_ms;
    to->dropped_events = from->dropped_events;
    to->workers_unreaped = from->workers_unreaped;
    to->absent = from->absent;
    COPY_TEXT(to->absent_reason, from->absent_reason);
    return copy_id(to->id, &from->id) && (!to->has_handle || copy_id(to->handle, &from->handle)) &&
           lacks_in(to, from) && jvms_in(to, from) && data_in(to, &from->data);
}

int local_answer_decode(local_answer *out, const uint8_t *bytes, size_t length)
{
    *out = (local_answer){0};
    if (length > LOCAL_ANSWER_MAX)
        return -1;
    wire_answer *wire = hotstack__local__v1__answer__unpack(NULL, length, bytes);
    if (wire == NULL)
        return -1;
    bool fits = answer_in(out, wire);
    hotstack__local__v1__answer__free_unpacked(wire, NULL);
    if (!fits)
        local_answer_clear(out);
    return fits ? 0 : -1;
}
