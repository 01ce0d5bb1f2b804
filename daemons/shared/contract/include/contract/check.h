/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract's validator: docs/formats/ingest.md, "Order of checks". The functions check in that
 * order, stop at the first failure and fill the verdict with its code and a message that names the
 * field, the entry, its value and what is allowed.
 *
 * All return 0 or -1 (verdict filled; running out of memory is a retry). Thread rule: one batch,
 * one thread.
 */
#ifndef CONTRACT_CHECK_H
#define CONTRACT_CHECK_H

#include <contract/payload.h>
#include <contract/verdict.h>

/* Makes the checks 5 to 13. now_ms: Unix time. The caller checks the scope (7), see
 * check_collector. */
int check_profile_batch(profile_batch *batch, const ingest_limits *limits, uint64_t now_ms,
                        verdict *v);

/* Makes the checks 5 to 11 that apply to a status report. */
int check_status_batch(status_batch *report, const ingest_limits *limits, uint64_t now_ms,
                       verdict *v);

/* Makes the checks 5 to 7, and checks that the heartbeat's data is bounded. */
int check_heartbeat(const heartbeat *beat, verdict *v);

/* Frees what the checks allocated inside. */
void profile_batch_clear(profile_batch *batch);
void status_batch_clear(status_batch *report);

/* ---- parts, each in its own file ---- */
int check_contract(uint32_t contract, verdict *v);
int check_collector(const collector_id *collector, verdict *v);
int check_strings(string_columns *table, const char *name, uint64_t max_bytes, verdict *v);
int check_targets(const target_columns *targets, const string_columns *strings,
                  const ingest_limits *limits, verdict *v);
int check_windows(const profile_batch *batch, verdict *v);
int check_rows(const profile_batch *batch, const ingest_limits *limits, verdict *v);
int check_snapshots(const profile_batch *batch, const ingest_limits *limits, verdict *v);
int check_times(const profile_batch *batch, const ingest_limits *limits, uint64_t now_ms,
                verdict *v);
int check_totals(const profile_batch *batch, verdict *v);
int check_texts(const char *name, const string_columns *strings, u32s column,
                const ingest_limits *limits, verdict *v);
int check_frame_texts(const stack_dictionary *d, const ingest_limits *limits, verdict *v);
int check_stacks(stack_dictionary *stacks, const ingest_limits *limits, verdict *v);

/* FRAME_TEXTS: the bytes that a dictionary's frames name, in multiples of strings_bytes. */
enum { FRAME_TEXTS = 4, TARGET_TEXT_MAX = 1024, ENGINE_TEXT_MAX = 253, DROP_CAUSES_MAX = 64 };

/* ---- the building blocks of the parts ---- */

/* A column with its name, for messages. */
typedef struct named_column {
    const char *name;
    size_t count;
} named_column;

/* Checks that all columns have as many entries as the first: bad_columns. */
int check_lengths(const char *group, const named_column *columns, size_t count, const char *code,
                  verdict *v);

/* Checks that every entry of a column is below bound; fails with the given code. */
int check_indexes(const char *name, u32s column, size_t bound, const char *code, verdict *v);

/* A column of numbers below bound, with its name. */
typedef struct ranged_column {
    const char *name;
    u32s column;
    size_t bound;
} ranged_column;

/* Makes check_indexes with bad_index for several columns. */
int check_ranged(const ranged_column *columns, size_t count, verdict *v);

/* A group with its name and the most entries that it may have. */
typedef struct counted_group {
    const char *name;
    size_t count;
    uint64_t most;
} counted_group;

/* Checks that every group is within its bound: too_many_rows. */
int check_group_counts(const counted_group *groups, size_t count, verdict *v);

/* Checks that no two of `count` entries are equal: duplicate_row; `what` names them. */
int check_unique(const char *what, size_t count, const void *context,
                 bool (*equal)(const void *, uint32_t, uint32_t),
                 uint64_t (*hash)(const void *, uint32_t), verdict *v);

int check_no_memory(verdict *v);

/* Tells the analyser, which sees one file at a time, that this never returns 0. */
#ifdef __clang_analyzer__
#define check_no_memory(v) (check_no_memory(v), -1)
#endif

#endif
