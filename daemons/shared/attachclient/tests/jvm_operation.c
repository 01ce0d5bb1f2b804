/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm_operation.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 120000 /* for a machine that is busy with other tests */

const char *operation_installation(void)
{
    static char id[ATTACH_INSTALLATION_MAX + 1];
    (void)snprintf(id, sizeof(id), "t%d", (int)getpid());
    return id;
}

int operation_leftovers(const char *path)
{
    char prefix[64];
    (void)snprintf(prefix, sizeof(prefix), "hotstack-%s-", operation_installation());
    return jvm_fixture_entries(path, prefix);
}

int operation_collect(void *ctx, const uint8_t *bytes, size_t n)
{
    operation_bytes *c = ctx;
    if (c == NULL)
        return 0;
    c->bytes = realloc(c->bytes, c->n + n);
    ck_assert_ptr_nonnull(c->bytes);
    memcpy(c->bytes + c->n, bytes, n);
    c->n += n;
    return 0;
}

static uint64_t big_endian(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

static uint64_t chunk_size(const uint8_t *header)
{
    return big_endian(header + 8);
}

/* Returns how many whole JFR chunks the bytes are; fails when they are anything else. */
int operation_whole_chunks(const operation_bytes *c)
{
    size_t at = 0;
    int n = 0;
    while (at < c->n) {
        ck_assert_uint_ge(c->n - at, 68);
        ck_assert_mem_eq(c->bytes + at, "FLR\0", 4);
        ck_assert_uint_le(chunk_size(c->bytes + at), c->n - at);
        at += chunk_size(c->bytes + at);
        n++;
    }
    return n;
}

uint64_t operation_gap_ns(const operation_bytes *c)
{
    uint64_t largest = 0, end = 0;
    for (size_t at = 0; at < c->n; at += chunk_size(c->bytes + at)) {
        uint64_t start = big_endian(c->bytes + at + 32);
        if (at > 0 && start > end && start - end > largest)
            largest = start - end;
        end = start + big_endian(c->bytes + at + 40);
    }
    return largest;
}

attach_request *operation_request(const jvm_fixture *jvm, attach_op op)
{
    attach_request *r = calloc(1, sizeof(*r));
    ck_assert_ptr_nonnull(r);
    r->op = op;
    r->identity = jvm->identity;
    r->timeout_ms = TIMEOUT_MS;
    r->offset = r->settled = UINT64_MAX;
    r->alloc_bytes = 524288;
    r->lock_ns = 1000000;
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "%s", operation_installation());
    (void)snprintf(r->library, sizeof(r->library), "%s", jvm_fixture_profiler());
    return r;
}

attach_result operation_run(const jvm_fixture *jvm, attach_op op, operation_bytes *c)
{
    attach_result result;
    attach_request *r = operation_request(jvm, op);
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, c, NULL, NULL), result.code);
    free(r);
    return result;
}

attach_result operation_must(const jvm_fixture *jvm, attach_op op, operation_bytes *c)
{
    attach_result result = operation_run(jvm, op, c);
    ck_assert_msg(result.code == ATTACH_OK, "op %d: %s: %s", (int)op,
                  attach_reason_name(result.reason), result.message);
    return result;
}

void operation_expect(const attach_result *result, attach_reason reason)
{
    ck_assert_msg(result->code == ATTACH_ERR_TARGET && result->reason == reason,
                  "wanted %s, got code %d, %s: %s", attach_reason_name(reason), result->code,
                  attach_reason_name(result->reason), result->message);
    ck_assert_str_ne(result->message, "");
}

attach_result operation_send(attach_request *r, operation_bytes *c)
{
    attach_result result;
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, c, NULL, NULL), result.code);
    free(r);
    return result;
}

/* Starts a session that may use async-profiler only. */
attach_result operation_start_strictly(const jvm_fixture *jvm)
{
    attach_request *r = operation_request(jvm, ATTACH_OP_START);
    r->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    return operation_send(r, NULL);
}

/* Runs a session with the JDK's recorder, which must say why it was chosen; both windows must be
 * whole. */
void operation_whole_jfr_session(const jvm_fixture *jvm, const char *why)
{
    operation_bytes recording = {0};
    attach_result started = operation_must(jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(started.info.state, ATTACH_AP_OWNED);
    ck_assert_int_eq(started.info.engine, ATTACH_AP_ENGINE_JFR);
    ck_assert_msg(strstr(started.info.engine_reason, why) != NULL, "%s",
                  started.info.engine_reason);
    ck_assert_int_eq(jvm_fixture_mapped(jvm, "libasyncProfiler"), 0);
    (void)operation_must(jvm, ATTACH_OP_WINDOW, &recording);
    (void)operation_must(jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    ck_assert_int_eq(operation_must(jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    free(recording.bytes);
}

void operation_whole_session(const jvm_fixture *jvm, const char *directory)
{
    operation_bytes recording = {0};
    attach_result started = operation_must(jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(started.info.state, ATTACH_AP_OWNED);
    ck_assert_mem_eq(started.info.directory, directory, strlen(directory));
    (void)operation_must(jvm, ATTACH_OP_WINDOW, &recording);
    (void)operation_must(jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(operation_whole_chunks(&recording), 2);
    free(recording.bytes);
}
