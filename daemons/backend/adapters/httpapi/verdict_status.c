/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_status.h"

#include <string.h>

/* Codes whose status differs from that of their outcome. */
static const struct {
    const char *code;
    int status;
} codes[] = {
    {"malformed", 400},       {"unsupported_encoding", 400}, {"bad_compression", 400},
    {"digest_mismatch", 400}, {"payload_too_large", 413},    {"too_costly", 413},
    {"too_many_rows", 413},   {"batch_id_reused", 409},      {"store_unavailable", 503},
};

int verdict_status(const verdict *v)
{
    if (v->outcome != OUTCOME_REJECTED && v->outcome != OUTCOME_RETRY)
        return 200;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(codes[i].code, v->code) == 0)
            return codes[i].status;
    }
    return v->outcome == OUTCOME_RETRY ? 429 : 422;
}
