/*
 * A batch of the ingest contract in plain form: the windows of many targets within one UTC day.
 * adapters/wire turns it into ProfileBatch and back.
 */
#ifndef COLLECTOR_CORE_BATCH_H
#define COLLECTOR_CORE_BATCH_H

#include "profile.h"

#include <localrpc/message.h>

enum { BATCH_ID_SIZE = 16, MS_PER_DAY = 86400000 };

/* What a batch says of a JVM beside what attachd said. */
typedef struct target_labels {
    char namespace_name[64];
    char workload_kind[32];
    char workload[254];
} target_labels;

typedef struct batch_target {
    uint32_t namespace_str, workload_kind_str, workload_str;
    uint32_t pod_str, container_str, pod_uid_str, container_id_str, boot_id_str;
    uint32_t host_pid, ns_pid;
    uint64_t start_ticks, start_ms;
    uint32_t jvm_version_str, jvm_vendor_str, main_class_str, app_version_str, image_str;
} batch_target;

typedef struct batch_window {
    uint32_t target;
    uint64_t start_ms;
    uint32_t length_ms, covered_ms;
    uint32_t engine_str;
    profile_part totals; /* type, interval, samples and all sums; its engine text is not used */
} batch_window;

typedef struct batch_row {
    uint32_t window, pool_str, stack, facet, object_str;
    uint64_t raw_value, value, samples;
} batch_row;

typedef struct batch_second {
    uint32_t window, pool_str, second;
    uint64_t value;
} batch_second;

typedef struct batch_thread {
    uint32_t window, name_str, pool_str;
    uint64_t os_tid, java_tid, raw_value, value, samples;
} batch_thread;

typedef struct batch {
    uint8_t id[BATCH_ID_SIZE];
    uint32_t day;
    uint64_t created_ms;
    string_table strings;
    batch_target *targets;
    size_t target_count, target_room;
    batch_window *windows;
    size_t window_count, window_room;
    batch_row *rows;
    size_t row_count, row_room;
    batch_second *seconds;
    size_t second_count, second_room;
    batch_thread *threads;
    size_t thread_count, thread_room;
    /* The dictionary: stack i of the rows is stacks[i]; its strings and frames are its own. */
    string_table dictionary;
    key_table stack_ids;
    profile_stack *stacks; /* `first` points into stack_frames */
    size_t stack_room;
    key_table frames; /* profile_frame, as keys, padding zero */
    uint32_t *stack_frames;
    size_t stack_frame_count, stack_frame_room;
} batch;

/* The window of one JVM that a profile fills. */
typedef struct window_span {
    uint64_t start_ms;   /* Unix ms, nominal */
    uint32_t length_ms;  /* 1..MS_PER_DAY, within one UTC day */
    uint32_t covered_ms; /* really recorded, <= length_ms */
} window_span;

/* Limits of one batch; 0 = none. */
typedef struct batch_limits {
    uint64_t rows, stacks, string_bytes, targets, windows, payload_bytes;
} batch_limits;

/* An empty batch of that day with that id. */
void batch_begin(batch *one, const uint8_t id[BATCH_ID_SIZE], uint32_t day);
void batch_clear(batch *one);

/*
 * Adds part `part` of a profile, whole, with its rows, seconds, threads and stacks. 0, or -1 (no
 * memory; the batch must then be cleared).
 */
int batch_add(batch *one, const local_jvm *jvm, const target_labels *labels,
              const window_span *span, const profile *from, uint32_t part);

/* Whether the batch would pass a limit with this part added, judged from counts alone. */
bool batch_would_pass(const batch *one, const batch_limits *limits, const profile *from,
                      uint32_t part);

/* Bytes that the batch may take on the wire, from above. */
uint64_t batch_bytes(const batch *one);

/*
 * Moves about half of the windows, whole, into two batches with new ids. 0, or -1: no memory, or
 * there is one window only.
 */
int batch_split(const batch *one, batch *first, batch *second,
                const uint8_t first_id[BATCH_ID_SIZE], const uint8_t second_id[BATCH_ID_SIZE]);

/*
 * Checks a batch by the rules of docs/formats/ingest.md that a collector can break. NULL, or the
 * code that the backend would answer with; detail gets a sentence.
 */
const char *batch_check(const batch *one, char *detail, size_t size);

#endif
