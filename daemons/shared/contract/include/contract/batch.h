/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch under construction: the windows of many targets within one UTC day, with the frames of
 * their stacks. contract/wire/message.h encodes it. The functions copy what they are given; one
 * thread at a time may use a batch.
 */
#ifndef CONTRACT_BATCH_H
#define CONTRACT_BATCH_H

#include <contract/intern.h>
#include <contract/sum.h>

enum {
    BATCH_ID_SIZE = 16,
    STACK_ID_SIZE = 16,
    STACK_TRUNCATED = 1 /* bit of profile_stack.flags */
};

/* One source of a window. */
typedef struct profile_part {
    uint32_t source; /* enum profile_source */
    char engine[16];
    uint64_t interval; /* in the source's unit, 0 = not known */
    profile_sum total;
    uint64_t truncated_amount,
        truncated_count;                    /* of the raw total: stacks cut by the depth limit */
    uint64_t dropped_amount, dropped_count; /* of the raw total: summed into [dropped] */
    uint64_t dropped_stacks;
    uint64_t lost_events;
} profile_part;

typedef struct profile_frame {
    uint32_t class_name; /* strings */
    uint32_t method;
    uint32_t file;
    uint32_t line;
    uint8_t kind;
} profile_frame;

typedef struct profile_stack {
    uint8_t id[STACK_ID_SIZE];
    uint8_t normaliser;
    uint8_t flags;
    uint32_t first; /* into stack_frames, leaf first */
    uint32_t depth;
} profile_stack;

typedef struct batch_target {
    uint32_t namespace_str, workload_kind_str, workload_str;
    uint32_t pod_str, container_str, pod_uid_str, container_id_str, boot_id_str;
    uint32_t host_pid, ns_pid;
    uint64_t start_ticks, start_ms;
    uint32_t jvm_version_str, jvm_vendor_str, main_class_str, app_version_str, image_str;
    uint32_t service_str;
} batch_target;

/* Returns the index of a target's text `i`, below TARGET_TEXTS, in the contract's order of
 * fields. */
enum { TARGET_TEXTS = 14 };
uint32_t *batch_target_text(const batch_target *target, size_t i);

typedef struct batch_window {
    uint32_t target;
    uint64_t start_ms;
    uint32_t length_ms, covered_ms;
    uint32_t reason; /* why nothing was recorded; 0 = something was */
    uint32_t engine_str;
    profile_part part; /* its engine text is not used */
} batch_window;

typedef struct batch_row {
    uint32_t window, pool_str, stack, facet, object_str;
    profile_sum sum;
} batch_row;

typedef struct batch_second {
    uint32_t window, pool_str, second;
    uint64_t amount, count; /* estimates */
} batch_second;

typedef struct batch_thread {
    uint32_t window, name_str, pool_str;
    uint64_t os_tid, java_tid;
    profile_sum sum;
} batch_thread;

/* A thread snapshot, and its threads; docs/formats/ingest.md has the fields' meaning. */
typedef struct batch_snapshot {
    uint32_t target;
    uint64_t taken_ms;
    uint32_t interval_ms, threads_total, reason, cut, offers;
    uint64_t longest_pause_ns;
} batch_snapshot;

typedef struct batch_state {
    uint32_t snapshot;
    uint64_t java_tid, os_tid;
    uint32_t name_str, pool_str, state, flags;
    uint64_t cpu_ns, allocated_bytes, blocked_ms, waited_ms; /* plus 1; 0 = unknown */
    uint32_t stack, lock;                                    /* plus 1; 0 = none */
    uint64_t owner_tid;
    uint32_t owner_str;
    uint64_t carries_tid;
    uint32_t carries_str;
} batch_state;

typedef struct batch_lock {
    uint32_t class_str, identity;
} batch_lock;

typedef struct batch_held {
    uint32_t thread; /* states */
    uint32_t lock;   /* locks */
    uint32_t kind, depth;
} batch_held;

typedef struct batch_deadlock {
    uint64_t cycle;
    uint32_t thread;   /* states */
    uint32_t inferred; /* 1: it is probable; 0: the JVM has found it */
} batch_deadlock;

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
    batch_snapshot *snapshots;
    size_t snapshot_count, snapshot_room;
    batch_state *states; /* by snapshot and java_tid */
    size_t state_count, state_room;
    batch_lock *locks;
    size_t lock_count, lock_room;
    batch_held *held;
    size_t held_count, held_room;
    batch_deadlock *deadlocks;
    size_t deadlock_count, deadlock_room;
    /* The dictionary: stack i of the rows is stacks[i]; it has strings and frames of its own. */
    string_table dictionary;
    key_table stack_ids;
    profile_stack *stacks; /* `first` points into stack_frames */
    size_t stack_room;
    key_table frames; /* profile_frame, as keys, padding zero */
    uint32_t *stack_frames;
    size_t stack_frame_count, stack_frame_room;
} batch;

/* Makes an empty batch of that day with that id. */
void batch_begin(batch *one, const uint8_t id[BATCH_ID_SIZE], uint32_t day);
void batch_clear(batch *one);

/* Copies entry `index` of another table to a batch's strings, and sets *out to its index there.
 * Returns 0 or -1 (no memory). */
int batch_move_string(string_table *to, const string_table *from, uint32_t index, uint32_t *out);

/* Appends an item to an array that begins as NULL with room 0. NULL = no memory. */
#define BATCH_NEXT(items, room, count)                                                             \
    (array_reserve((void **)&(items), &(room), (count), sizeof(*(items))) == 0 ? &(items)[count]   \
                                                                               : NULL)

/* Frames of another structure, from which batch_add_stack copies a stack. */
typedef struct frame_source {
    const string_table *strings;
    const profile_frame *frames;
    const uint32_t *stack_frames; /* of all stacks, leaf first */
} frame_source;

/* Adds a stack with its frames and strings to the dictionary, unless it is present. Returns 0 or
 * -1. */
int batch_add_stack(batch *one, const frame_source *from, const profile_stack *stack,
                    uint32_t *index);

/* Returns the frames of a batch, for batch_add_stack. */
frame_source batch_frames(const batch *one);

/*
 * Sorts rows, seconds, threads, targets, stacks and strings into the order that depends only on the
 * batch's content (docs/formats/ingest.md, "The order of a body"), which places equal values next
 * to each other so that they compress well. Windows, snapshots and their threads keep their order.
 * Unused targets, stacks and strings are removed; the dictionary's own strings and frames stay.
 * Every index must be in range. 0, or -1 (no memory; the batch must then be cleared).
 */
int batch_order(batch *one);

/* Returns an upper bound of the batch's size as the contract's messages, in bytes. */
uint64_t batch_bytes(const batch *one);

#endif
