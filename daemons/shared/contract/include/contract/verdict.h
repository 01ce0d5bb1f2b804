/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of checking or storing a payload, and the limits in force. */
#ifndef CONTRACT_VERDICT_H
#define CONTRACT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum outcome {
    OUTCOME_ACCEPTED,
    OUTCOME_DUPLICATE,
    OUTCOME_REJECTED,
    OUTCOME_RETRY,
    OUTCOME_NEED_STACKS,
    OUTCOME_COUNT
} outcome;

/* Returns "accepted" ..., for metrics and logs. */
const char *outcome_name(outcome value);

typedef struct verdict {
    outcome outcome;
    const char *code; /* static; "" for the good outcomes */
    char message[512];
    uint32_t retry_after_ms;
    uint64_t rows;
    uint32_t *need; /* owned: indexes into the body's stack_ids */
    size_t need_count;
} verdict;

/* Limits on one payload. Every limit applies; 0 does not mean "no limit". */
typedef struct ingest_limits {
    uint64_t compressed_bytes; /* of a body as sent */
    uint64_t payload_bytes;    /* decompressed */
    uint64_t rows_per_batch;
    uint64_t stacks_per_batch;
    uint64_t frames_per_stack;
    uint64_t strings_bytes;
    uint64_t targets_per_batch;
    uint64_t windows_per_batch;
    uint64_t retention_ms;
    uint64_t future_ms;
    /* Not checked but sent to collectors: the interval of one batch, and of status and heartbeat.
     */
    uint64_t flush_interval_ms, report_interval_ms;
} ingest_limits;

#define LIMITS_INIT                                                                                \
    {                                                                                              \
        16u << 20, 32u << 20, 100000, 100000, 2048, 16u << 20, 10000, 50000, 7ull * 86400000,      \
            300000, 60000, 60000                                                                   \
    }

/* Fills a rejection and returns -1. */
int verdict_reject(verdict *v, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills a retry and returns -1. */
int verdict_retry(verdict *v, const char *code, uint32_t after_ms, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Tells the analyser, which sees one file at a time, that these never return 0. */
#ifdef __clang_analyzer__
#define verdict_reject(...) (verdict_reject(__VA_ARGS__), -1)
#define verdict_retry(...)  (verdict_retry(__VA_ARGS__), -1)
#endif

void verdict_clear(verdict *v);

#endif
