/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/verdict.h>

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

static int fill(verdict *v, outcome value, const char *code, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

static int fill(verdict *v, outcome value, const char *code, const char *format, va_list args)
{
    vsnprintf(v->message, sizeof(v->message), format, args);
    v->outcome = value;
    v->code = code;
    return -1;
}

int(verdict_reject)(verdict *v, const char *code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = fill(v, OUTCOME_REJECTED, code, format, args);
    va_end(args);
    return rc;
}

int(verdict_retry)(verdict *v, const char *code, uint32_t after_ms, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = fill(v, OUTCOME_RETRY, code, format, args);
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
