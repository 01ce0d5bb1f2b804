/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *outcome_name(outcome value)
{
    static const char *const names[OUTCOME_COUNT] = {
        [OUTCOME_ACCEPTED] = "accepted",       [OUTCOME_DUPLICATE] = "duplicate",
        [OUTCOME_REJECTED] = "rejected",       [OUTCOME_RETRY] = "retry",
        [OUTCOME_NEED_STACKS] = "need_stacks",
    };

    return names[value];
}

/* The status of a rejection's code, where it is not 422. */
static int status_of(const char *code)
{
    static const struct {
        const char *code;
        int status;
    } table[] = {
        {"malformed", 400},       {"unsupported_encoding", 400}, {"bad_compression", 400},
        {"digest_mismatch", 400}, {"payload_too_large", 413},    {"too_costly", 413},
        {"too_many_rows", 413},   {"batch_id_reused", 409},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].code, code) == 0)
            return table[i].status;
    }
    return 422;
}

static int fill(verdict *v, outcome value, const char *code, int http_status, const char *format,
                va_list args) __attribute__((format(printf, 5, 0)));

static int fill(verdict *v, outcome value, const char *code, int http_status, const char *format,
                va_list args)
{
    vsnprintf(v->message, sizeof(v->message), format, args);
    v->outcome = value;
    v->code = code;
    v->http_status = http_status;
    return -1;
}

int(verdict_reject)(verdict *v, const char *code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = fill(v, OUTCOME_REJECTED, code, status_of(code), format, args);
    va_end(args);
    return rc;
}

int(verdict_retry)(verdict *v, const char *code, uint32_t after_ms, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = fill(v, OUTCOME_RETRY, code, strcmp(code, "store_unavailable") == 0 ? 503 : 429,
                  format, args);
    va_end(args);
    v->retry_after_ms = after_ms;
    return rc;
}

void verdict_clear(verdict *v)
{
    free(v->need);
    memset(v, 0, sizeof(*v));
    v->code = "";
}
