/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "ingest.pb-c.h"
#include <contract/wire/decode.h>

static Hotstack__V1__Outcome wire_outcome(outcome value)
{
    static const Hotstack__V1__Outcome numbers[OUTCOME_COUNT] = {
        [OUTCOME_ACCEPTED] = HOTSTACK__V1__OUTCOME__OUTCOME_ACCEPTED,
        [OUTCOME_DUPLICATE] = HOTSTACK__V1__OUTCOME__OUTCOME_DUPLICATE,
        [OUTCOME_REJECTED] = HOTSTACK__V1__OUTCOME__OUTCOME_REJECTED,
        [OUTCOME_RETRY] = HOTSTACK__V1__OUTCOME__OUTCOME_RETRY,
        [OUTCOME_NEED_STACKS] = HOTSTACK__V1__OUTCOME__OUTCOME_NEED_STACKS,
    };

    return numbers[value];
}

static Hotstack__V1__Limits wire_limits(const ingest_limits *limits)
{
    Hotstack__V1__Limits out = HOTSTACK__V1__LIMITS__INIT;

    out.payload_bytes = limits->payload_bytes;
    out.rows_per_batch = limits->rows_per_batch;
    out.stacks_per_batch = limits->stacks_per_batch;
    out.frames_per_stack = limits->frames_per_stack;
    out.strings_bytes = limits->strings_bytes;
    out.retention_ms = limits->retention_ms;
    out.future_ms = limits->future_ms;
    out.targets_per_batch = limits->targets_per_batch;
    out.windows_per_batch = limits->windows_per_batch;
    out.compressed_bytes = limits->compressed_bytes;
    out.flush_interval_ms = limits->flush_interval_ms;
    out.report_interval_ms = limits->report_interval_ms;
    return out;
}

void *proto_encode_answer(size_t *length, const verdict *v, const ingest_limits *in_force)
{
    Hotstack__V1__IngestAnswer answer = HOTSTACK__V1__INGEST_ANSWER__INIT;
    Hotstack__V1__Limits limits;

    answer.outcome = wire_outcome(v->outcome);
    /* protobuf-c only reads the texts of its char pointers. */
    answer.code = (char *)(uintptr_t)(v->code != NULL ? v->code : "");
    answer.message = (char *)(uintptr_t)v->message;
    answer.retry_after_ms = v->retry_after_ms;
    answer.n_need_stack = v->need_count;
    answer.need_stack = v->need;
    answer.rows = v->rows;
    if (in_force != NULL) {
        limits = wire_limits(in_force);
        answer.limits = &limits;
    }
    uint8_t *out = malloc(hotstack__v1__ingest_answer__get_packed_size(&answer) + 1);
    if (out != NULL)
        *length = hotstack__v1__ingest_answer__pack(&answer, out);
    return out;
}
