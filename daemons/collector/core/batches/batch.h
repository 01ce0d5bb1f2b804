/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds batches of the ingest contract (contract/batch.h) from profiles of JVMs, and splits them.
 */
#ifndef COLLECTOR_CORE_BATCH_H
#define COLLECTOR_CORE_BATCH_H

#include "profile.h"
#include "snapshot.h"

#include <localrpc/message.h>

enum { MS_PER_DAY = 86400000 };

/* The facts about a JVM in a batch that attachd does not know. */
typedef struct target_labels {
    char namespace_name[64];
    char workload_kind[32];
    char workload[254];
    /* "" outside of Kubernetes */
    char pod[254];
    char container[64];
    char app_version[128];
    char image[256];
    char service[128];
} target_labels;

/* The window that a profile of one JVM fills. */
typedef struct window_span {
    uint64_t start_ms;   /* Unix ms, nominal */
    uint32_t length_ms;  /* 1..MS_PER_DAY, within one UTC day */
    uint32_t covered_ms; /* time that was recorded, <= length_ms */
    uint32_t reason;     /* why nothing was recorded; 0 = something was */
} window_span;

/* Limits of one batch; 0 = none. */
typedef struct batch_limits {
    uint64_t rows, stacks, string_bytes, targets, windows, payload_bytes;
} batch_limits;

/*
 * Adds part `part` of a profile, whole, with its rows, seconds, threads and stacks. Returns 0, or
 * -1 (no memory; the batch must then be cleared).
 */
int batch_add(batch *one, const local_jvm *jvm, const target_labels *labels,
              const window_span *span, const profile *from, uint32_t part);

#define BATCH_ALL_PARTS UINT32_MAX

/* Whether the batch would exceed a limit with this part added, or with the whole profile for
 * BATCH_ALL_PARTS, judged by counts alone. */
bool batch_would_pass(const batch *one, const batch_limits *limits, const profile *from,
                      uint32_t part);

/* Adds a thread snapshot, whole. Returns 0, or -1 (no memory; the batch must then be cleared). */
int batch_add_snapshot(batch *one, const local_jvm *jvm, const target_labels *labels,
                       const thread_snapshot *from);

/* Whether the batch would exceed a limit with this snapshot added, judged by counts alone. */
bool batch_would_pass_snapshot(const batch *one, const batch_limits *limits,
                               const thread_snapshot *from);

/*
 * Copies the windows and snapshots, whole, into two batches with new ids, about half each; if there
 * are both, one gets all windows and the other all snapshots. Returns 0, or -1: no memory, or there
 * is only one of them.
 */
int batch_split(const batch *one, batch *first, batch *second,
                const uint8_t first_id[BATCH_ID_SIZE], const uint8_t second_id[BATCH_ID_SIZE]);

#endif
