/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "error_impl.h"
#include "worker/wire_impl.h"
#include <attach/worker.h>

enum {
    TAG_CODE = 1, /* minus the code */
    TAG_REASON = 2,
    TAG_MESSAGE = 3,
    TAG_STATE = 4,
    TAG_RUNNING = 5,
    TAG_ENGINE = 6,
    TAG_ENGINE_REASON = 7,
    TAG_STARTED_MS = 8,
    TAG_OFFSET = 9,
    TAG_DIRECTORY = 10,
    TAG_REPLY_CODE = 11, /* as 32 bits */
    TAG_BYTES = 12,
    TAG_UNTIL_MS = 30,
    TAG_INSTALLATION = 31,
    TAG_OWNER = 32,
    TAG_PROFILER = 33,
    TAG_PROFILER_LIBRARY = 34,
    TAG_DROPPED = 35,
    TAG_ABSENT = 36,
    TAG_ABSENT_REASON = 37
};

int attach_answer_header_encode(uint8_t header[ATTACH_FRAME_HEADER], attach_frame_type type,
                                size_t n, attach_error *err)
{
    if (n > ATTACH_PIECE_MAX || type < ATTACH_FRAME_DATA || type > ATTACH_FRAME_RESULT)
        return attach__fail(err, ATTACH_ERR_USAGE, "a frame has type 1 or 2 and at most %zu bytes",
                            ATTACH_PIECE_MAX);
    attach__put_u32(header, (uint32_t)type);
    attach__put_u32(header + 4, (uint32_t)n);
    return ATTACH_OK;
}

int attach_answer_header_decode(attach_frame_type *type, size_t *n,
                                const uint8_t header[ATTACH_FRAME_HEADER], attach_error *err)
{
    uint32_t stated = attach__get_u32(header), length = attach__get_u32(header + 4);
    *n = 0;
    if (stated != ATTACH_FRAME_DATA && stated != ATTACH_FRAME_RESULT)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0, "the worker sent a frame of type %u",
                               stated);
    if (length > ATTACH_PIECE_MAX)
        return attach__fail_at(err, ATTACH_ERR_LIMIT, 4, "the worker sent a frame of %u bytes",
                               length);
    *type = (attach_frame_type)stated;
    *n = length;
    return ATTACH_OK;
}

int attach_answer_result_encode(uint8_t *buf, size_t cap, size_t *n, const attach_result *result,
                                attach_error *err)
{
    attach__writer w = {buf, 0, cap, false};
    const attach_ap_info *info = &result->info;
    attach__put_number(&w, TAG_CODE, (uint64_t)-result->code);
    if (result->reason != ATTACH_REASON_NONE)
        attach__put_text(&w, TAG_REASON, attach_reason_name(result->reason));
    attach__put_text(&w, TAG_MESSAGE, result->message);
    attach__put_number(&w, TAG_STATE, (uint64_t)info->state);
    attach__put_number(&w, TAG_RUNNING, info->running);
    attach__put_number(&w, TAG_ENGINE, (uint64_t)info->engine);
    attach__put_text(&w, TAG_ENGINE_REASON, info->engine_reason);
    attach__put_number(&w, TAG_STARTED_MS, (uint64_t)info->started_ms);
    attach__put_number(&w, TAG_OFFSET, info->offset);
    attach__put_text(&w, TAG_DIRECTORY, info->directory);
    attach__put_number(&w, TAG_UNTIL_MS, (uint64_t)info->until_ms);
    attach__put_text(&w, TAG_INSTALLATION, info->installation);
    attach__put_text(&w, TAG_OWNER, info->owner);
    attach__put_text(&w, TAG_PROFILER, info->profiler);
    attach__put_text(&w, TAG_PROFILER_LIBRARY, info->profiler_library);
    attach__put_number(&w, TAG_DROPPED, info->dropped);
    attach__put_number(&w, TAG_ABSENT, info->absent);
    attach__put_text(&w, TAG_ABSENT_REASON, info->absent_reason);
    attach__put_number(&w, TAG_REPLY_CODE, (uint32_t)result->reply_code);
    attach__put_number(&w, TAG_BYTES, result->bytes);
    *n = w.n;
    return w.full ? attach__fail(err, ATTACH_ERR_LIMIT, "the result does not fit its buffer")
                  : ATTACH_OK;
}

static bool take_reason(attach_result *out, const attach__field *field)
{
    char name[64];
    if (!attach__field_text(field, name, sizeof(name)))
        return false;
    out->reason = attach_reason_from_name(name);
    return out->reason != ATTACH_REASON_NONE;
}

static bool take_small(attach_result *out, const attach__field *field)
{
    uint64_t value = 0;
    if (!attach__field_number(field, 255, &value))
        return false;
    switch (field->tag) {
    case TAG_CODE:
        out->code = -(int)value;
        return value <= (uint64_t)-ATTACH_ERR_TARGET;
    case TAG_STATE:
        out->info.state = (attach_ap_state)value;
        return value <= ATTACH_AP_UNKNOWN;
    case TAG_ABSENT:
        out->info.absent = (uint32_t)value;
        return value <= ATTACH_AP_EVENTS;
    case TAG_ENGINE:
        out->info.engine = (attach_ap_engine)value;
        return value <= ATTACH_AP_ENGINE_JFR;
    default:
        out->info.running = value != 0;
        return value <= 1;
    }
}

static bool take_time(int64_t *out, const attach__field *field)
{
    uint64_t value = 0;
    if (!attach__field_number(field, INT64_MAX, &value))
        return false;
    *out = (int64_t)value;
    return true;
}

static bool take_field(attach_result *out, const attach__field *field)
{
    attach_ap_info *info = &out->info;
    uint64_t value = 0;
    switch (field->tag) {
    case TAG_CODE:
    case TAG_STATE:
    case TAG_ENGINE:
    case TAG_RUNNING:
    case TAG_ABSENT:
        return take_small(out, field);
    case TAG_REASON:
        return take_reason(out, field);
    case TAG_MESSAGE:
        return attach__field_text(field, out->message, sizeof(out->message));
    case TAG_ENGINE_REASON:
        return attach__field_text(field, info->engine_reason, sizeof(info->engine_reason));
    case TAG_DIRECTORY:
        return attach__field_text(field, info->directory, sizeof(info->directory));
    case TAG_OFFSET:
        return attach__field_number(field, UINT64_MAX, &info->offset);
    case TAG_ABSENT_REASON:
        return attach__field_text(field, info->absent_reason, sizeof(info->absent_reason));
    case TAG_DROPPED:
        return attach__field_number(field, UINT64_MAX, &info->dropped);
    case TAG_BYTES:
        return attach__field_number(field, UINT64_MAX, &out->bytes);
    case TAG_STARTED_MS:
        return take_time(&info->started_ms, field);
    case TAG_UNTIL_MS:
        return take_time(&info->until_ms, field);
    case TAG_INSTALLATION:
        return attach__field_text(field, info->installation, sizeof(info->installation));
    case TAG_OWNER:
        return attach__field_text(field, info->owner, sizeof(info->owner));
    case TAG_PROFILER:
        return attach__field_text(field, info->profiler, sizeof(info->profiler));
    case TAG_PROFILER_LIBRARY:
        return attach__field_text(field, info->profiler_library, sizeof(info->profiler_library));
    case TAG_REPLY_CODE:
        if (!attach__field_number(field, UINT32_MAX, &value))
            return false;
        out->reply_code = (int32_t)(uint32_t)value;
        return true;
    default:
        return false;
    }
}

int attach_answer_result_decode(attach_result *out, const uint8_t *buf, size_t n, attach_error *err)
{
    attach__reader r = {buf, n, 0};
    attach__field field;
    int more;
    memset(out, 0, sizeof(*out));
    while ((more = attach__next_tagged(&r, &field)) > 0)
        if (!take_field(out, &field))
            return attach__fail_at(err, ATTACH_ERR_FORMAT, field.at,
                                   "field %u of the worker's result has a bad value", field.tag);
    if (more < 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, r.at,
                               "the worker's result ends within a field");
    return ATTACH_OK;
}
