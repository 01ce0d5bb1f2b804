/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "error_impl.h"
#include "profiler/ap_marker_impl.h"
#include "worker/wire_impl.h"
#include <attach/worker.h>

#define MAGIC "HSA1"

/* Tags of docs/formats/attach-worker.md; never reused. */
enum {
    TAG_OP = 1,
    TAG_BOOT_ID = 2,
    TAG_PID = 3,
    TAG_START_TICKS = 4,
    TAG_TIMEOUT_MS = 5,
    TAG_PROC_ROOT = 6,
    TAG_INSTALLATION = 7,
    TAG_LIBRARY = 8,
    TAG_ENGINE = 9,
    TAG_CPU_INTERVAL = 10,
    TAG_ALLOC = 11,
    TAG_LOCK = 12,
    TAG_MEMLIMIT = 13,
    TAG_OFFSET = 14,
    TAG_COMMAND = 15,
    TAG_ARG = 16,
    TAG_DIR = 17,
    TAG_MAX_SECONDS = 18,
    TAG_RECORDER = 30,
    TAG_OWNER = 31,
    TAG_LEASE_ID = 32,
    TAG_THREADS_FLAGS = 33,
    TAG_MAX_THREADS = 34,
    TAG_MAX_STACKS = 35,
    TAG_MAX_DEPTH = 36,
    TAG_MAX_BYTES = 37,
    TAG_LEASE_MS = 38,
    TAG_PAUSE_MS = 39,
    TAG_RATE_LIMIT = 40,
    TAG_WALL = 41,
    TAG_NATIVEMEM = 42,
    TAG_LIVE = 43,
    TAG_SETTLED = 44
};

static bool is_op(attach_op op)
{
    return (op >= ATTACH_OP_START && op <= ATTACH_OP_DISCARD) || op == ATTACH_OP_THREADS ||
           op == ATTACH_OP_THREADS_CLOSE || op == ATTACH_OP_EXAMINE;
}

/* Returns the field that makes a request unusable, or NULL. */
static const char *unusable_field(const attach_request *r)
{
    if (!is_op(r->op))
        return "op";
    if (r->identity.pid <= 0)
        return "pid";
    if (r->timeout_ms == 0 || r->timeout_ms > ATTACH_TIMEOUT_MAX_MS)
        return "timeout_ms";
    if ((unsigned)r->engine > ATTACH_AP_ENGINE_OFF)
        return "engine";
    if ((unsigned)r->recorder > ATTACH_AP_RECORDER_JFR)
        return "recorder";
    if (r->rate_limit > ATTACH_RATE_LIMIT_MAX)
        return "rate_limit";
    if (r->n_args > ATTACH_COMMAND_ARGS)
        return "n_args";
    if (r->n_dirs > ATTACH_REQUEST_DIRS)
        return "n_dirs";
    if (r->op == ATTACH_OP_COMMAND)
        return r->command[0] == '\0' ? "command" : NULL;
    attach__span id = attach__span_of(r->installation_id,
                                      strnlen(r->installation_id, sizeof(r->installation_id)));
    if (!attach__is_installation_id(id))
        return "installation_id";
    return r->op == ATTACH_OP_THREADS && r->library[0] == '\0' ? "library" : NULL;
}

static void put_fields(attach__writer *w, const attach_request *r)
{
    attach__put_number(w, TAG_OP, (uint64_t)r->op);
    attach__put_text(w, TAG_BOOT_ID, r->identity.boot_id);
    attach__put_number(w, TAG_PID, (uint64_t)r->identity.pid);
    attach__put_number(w, TAG_START_TICKS, r->identity.start_ticks);
    attach__put_number(w, TAG_TIMEOUT_MS, r->timeout_ms);
    attach__put_text(w, TAG_PROC_ROOT, r->proc_root);
    attach__put_text(w, TAG_INSTALLATION, r->installation_id);
    attach__put_text(w, TAG_LIBRARY, r->library);
    attach__put_number(w, TAG_ENGINE, (uint64_t)r->engine);
    attach__put_number(w, TAG_CPU_INTERVAL, r->cpu_interval_ns);
    attach__put_number(w, TAG_ALLOC, r->alloc_bytes);
    attach__put_number(w, TAG_LOCK, r->lock_ns);
    attach__put_number(w, TAG_MEMLIMIT, r->memlimit_bytes);
    attach__put_number(w, TAG_RATE_LIMIT, r->rate_limit);
    attach__put_number(w, TAG_WALL, r->wall_ns);
    attach__put_number(w, TAG_NATIVEMEM, r->nativemem_bytes);
    attach__put_number(w, TAG_LIVE, r->live);
    attach__put_number(w, TAG_OFFSET, r->offset);
    attach__put_number(w, TAG_SETTLED, r->settled);
    attach__put_number(w, TAG_MAX_SECONDS, r->max_seconds);
    attach__put_number(w, TAG_RECORDER, (uint64_t)r->recorder);
    attach__put_text(w, TAG_OWNER, r->owner);
    attach__put_text(w, TAG_LEASE_ID, r->lease_id);
    attach__put_number(w, TAG_THREADS_FLAGS, r->threads_flags);
    attach__put_number(w, TAG_MAX_THREADS, r->max_threads);
    attach__put_number(w, TAG_MAX_STACKS, r->max_stacks);
    attach__put_number(w, TAG_MAX_DEPTH, r->max_depth);
    attach__put_number(w, TAG_MAX_BYTES, r->max_bytes);
    attach__put_number(w, TAG_LEASE_MS, r->lease_ms);
    attach__put_number(w, TAG_PAUSE_MS, r->pause_ms);
    attach__put_text(w, TAG_COMMAND, r->command);
    for (uint32_t i = 0; i < r->n_args; i++) /* an empty argument counts too */
        attach__put_field(w, TAG_ARG, r->args[i], strlen(r->args[i]));
    for (uint32_t i = 0; i < r->n_dirs; i++)
        attach__put_text(w, TAG_DIR, r->dirs[i]);
}

int attach_request_encode(uint8_t *buf, size_t cap, size_t *n, const attach_request *request,
                          attach_error *err)
{
    const char *field = unusable_field(request);
    *n = 0;
    if (field != NULL)
        return attach__fail(err, ATTACH_ERR_USAGE, "attach_request.%s is out of its range", field);
    if (cap < ATTACH_REQUEST_HEADER)
        return attach__fail(err, ATTACH_ERR_LIMIT, "the buffer does not hold a request's header");
    attach__writer w = {buf + ATTACH_REQUEST_HEADER, 0, cap - ATTACH_REQUEST_HEADER, false};
    put_fields(&w, request);
    if (w.full || w.n > ATTACH_REQUEST_MAX - ATTACH_REQUEST_HEADER)
        return attach__fail(err, ATTACH_ERR_LIMIT, "the request does not fit its buffer");
    memcpy(buf, MAGIC, 4);
    attach__put_u32(buf + 4, (uint32_t)w.n);
    *n = ATTACH_REQUEST_HEADER + w.n;
    return ATTACH_OK;
}

int attach_request_body_length(size_t *n, const uint8_t header[ATTACH_REQUEST_HEADER],
                               attach_error *err)
{
    *n = 0;
    if (memcmp(header, MAGIC, 4) != 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0,
                               "this is no request: it does not begin with " MAGIC);
    uint32_t length = attach__get_u32(header + 4);
    if (length > ATTACH_REQUEST_MAX - ATTACH_REQUEST_HEADER)
        return attach__fail_at(err, ATTACH_ERR_LIMIT, 4, "the request states %u bytes", length);
    *n = length;
    return ATTACH_OK;
}

static bool take_u32(const attach__field *field, uint64_t max, uint32_t *out)
{
    uint64_t value = 0;
    if (!attach__field_number(field, max, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool take_flag(const attach__field *field, bool *out)
{
    uint64_t value = 0;
    if (!attach__field_number(field, 1, &value))
        return false;
    *out = value != 0;
    return true;
}

static bool take_identity(attach_request *out, const attach__field *field)
{
    uint32_t pid = 0;
    switch (field->tag) {
    case TAG_BOOT_ID:
        return attach__field_text(field, out->identity.boot_id, sizeof(out->identity.boot_id));
    case TAG_PID:
        if (!take_u32(field, INT32_MAX, &pid))
            return false;
        out->identity.pid = (int32_t)pid;
        return true;
    default:
        return attach__field_number(field, UINT64_MAX, &out->identity.start_ticks);
    }
}

static bool take_list_item(attach_request *out, const attach__field *field)
{
    if (field->tag == TAG_ARG)
        return out->n_args < ATTACH_COMMAND_ARGS &&
               attach__field_text(field, out->args[out->n_args++], sizeof(out->args[0]));
    return out->n_dirs < ATTACH_REQUEST_DIRS &&
           attach__field_text(field, out->dirs[out->n_dirs++], sizeof(out->dirs[0]));
}

static bool take_choice(attach_request *out, const attach__field *field)
{
    uint32_t value = 0;
    if (!take_u32(field, 255, &value))
        return false;
    if (field->tag == TAG_OP)
        out->op = (attach_op)value;
    else if (field->tag == TAG_RECORDER)
        out->recorder = (attach_ap_recorder)value;
    else
        out->engine = (attach_ap_engine)value;
    return true;
}

static bool take_threads(attach_request *out, const attach__field *field)
{
    switch (field->tag) {
    case TAG_LEASE_ID:
        return attach__field_text(field, out->lease_id, sizeof(out->lease_id));
    case TAG_THREADS_FLAGS:
        return take_u32(field, UINT32_MAX, &out->threads_flags);
    case TAG_MAX_THREADS:
        return take_u32(field, UINT32_MAX, &out->max_threads);
    case TAG_MAX_STACKS:
        return take_u32(field, UINT32_MAX, &out->max_stacks);
    case TAG_MAX_DEPTH:
        return take_u32(field, UINT32_MAX, &out->max_depth);
    case TAG_MAX_BYTES:
        return take_u32(field, UINT32_MAX, &out->max_bytes);
    case TAG_LEASE_MS:
        return take_u32(field, UINT32_MAX, &out->lease_ms);
    case TAG_PAUSE_MS:
        return take_u32(field, UINT32_MAX, &out->pause_ms);
    default:
        return false; /* worker and client are installed together: an unknown field is an error */
    }
}

static bool take_field(attach_request *out, const attach__field *field)
{
    switch (field->tag) {
    case TAG_BOOT_ID:
    case TAG_PID:
    case TAG_START_TICKS:
        return take_identity(out, field);
    case TAG_OP:
    case TAG_ENGINE:
    case TAG_RECORDER:
        return take_choice(out, field);
    case TAG_TIMEOUT_MS:
        return take_u32(field, ATTACH_TIMEOUT_MAX_MS, &out->timeout_ms);
    case TAG_MAX_SECONDS:
        return take_u32(field, UINT32_MAX, &out->max_seconds);
    case TAG_PROC_ROOT:
        return attach__field_text(field, out->proc_root, sizeof(out->proc_root));
    case TAG_INSTALLATION:
        return attach__field_text(field, out->installation_id, sizeof(out->installation_id));
    case TAG_LIBRARY:
        return attach__field_text(field, out->library, sizeof(out->library));
    case TAG_CPU_INTERVAL:
        return attach__field_number(field, UINT64_MAX, &out->cpu_interval_ns);
    case TAG_ALLOC:
        return attach__field_number(field, UINT64_MAX, &out->alloc_bytes);
    case TAG_LOCK:
        return attach__field_number(field, UINT64_MAX, &out->lock_ns);
    case TAG_MEMLIMIT:
        return attach__field_number(field, UINT64_MAX, &out->memlimit_bytes);
    case TAG_WALL:
        return attach__field_number(field, UINT64_MAX, &out->wall_ns);
    case TAG_NATIVEMEM:
        return attach__field_number(field, UINT64_MAX, &out->nativemem_bytes);
    case TAG_LIVE:
        return take_flag(field, &out->live);
    case TAG_RATE_LIMIT:
        return take_u32(field, ATTACH_RATE_LIMIT_MAX, &out->rate_limit);
    case TAG_OFFSET:
        return attach__field_number(field, UINT64_MAX, &out->offset);
    case TAG_SETTLED:
        return attach__field_number(field, UINT64_MAX, &out->settled);
    case TAG_OWNER:
        return attach__field_text(field, out->owner, sizeof(out->owner));
    case TAG_COMMAND:
        return attach__field_text(field, out->command, sizeof(out->command));
    case TAG_ARG:
    case TAG_DIR:
        return take_list_item(out, field);
    default:
        return take_threads(out, field);
    }
}

int attach_request_decode(attach_request *out, const uint8_t *buf, size_t n, attach_error *err)
{
    size_t body = 0;
    attach__field field;
    memset(out, 0, sizeof(*out));
    if (n < ATTACH_REQUEST_HEADER)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, n, "the request ends within its header");
    int rc = attach_request_body_length(&body, buf, err);
    if (rc != ATTACH_OK)
        return rc;
    if (body != n - ATTACH_REQUEST_HEADER)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, n,
                               "the request's length is not its header's");
    attach__reader r = {buf, n, ATTACH_REQUEST_HEADER};
    int more;
    while ((more = attach__next_tagged(&r, &field)) > 0)
        if (!take_field(out, &field))
            return attach__fail_at(err, ATTACH_ERR_FORMAT, field.at,
                                   "field %u of the request has a bad value", field.tag);
    if (more < 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, r.at, "the request ends within a field");
    const char *bad = unusable_field(out);
    if (bad != NULL)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, n, "the request has no usable %s", bad);
    return ATTACH_OK;
}
