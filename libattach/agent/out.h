/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an answer: columns of hotstack.threads.v1 with interned strings, locks and frames, joined
 * into one protobuf message at the end. Knows nothing of Java. Not thread-safe. */
#ifndef HOTSTACK_THREADS_OUT_H
#define HOTSTACK_THREADS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

enum column_id {
    COL_STRINGS_DATA,
    COL_STRINGS_LENGTH,
    COL_THREAD_JAVA_TID,
    COL_THREAD_NAME,
    COL_THREAD_STATE,
    COL_THREAD_FLAGS,
    COL_THREAD_WHY,
    COL_THREAD_CPU,
    COL_THREAD_USER,
    COL_THREAD_ALLOCATED,
    COL_THREAD_BLOCKED_COUNT,
    COL_THREAD_WAITED_COUNT,
    COL_THREAD_BLOCKED_MS,
    COL_THREAD_WAITED_MS,
    COL_THREAD_LOCK,
    COL_THREAD_OWNER,
    COL_THREAD_OWNER_NAME,
    COL_THREAD_CARRIES,
    COL_THREAD_CARRIES_NAME,
    COL_LOCK_CLASS,
    COL_LOCK_HASH,
    COL_FRAME_CLASS,
    COL_FRAME_METHOD,
    COL_FRAME_FILE,
    COL_FRAME_LINE,
    COL_FRAME_NATIVE,
    COL_STACK_THREAD,
    COL_STACK_DEPTH,
    COL_STACK_FRAME,
    COL_HELD_THREAD,
    COL_HELD_KIND,
    COL_HELD_DEPTH,
    COL_HELD_LOCK,
    COL_DEADLOCKED,
    COL_END
};

typedef struct column {
    uint8_t *p;
    size_t n;
    size_t cap;
} column;

/* An open-addressing table of indexes + 1; the caller compares the entries that they refer to. */
typedef struct intern_table {
    uint32_t *slots;
    size_t cap; /* a power of two, or 0 */
    uint32_t n;
} intern_table;

typedef struct out_frame {
    uint32_t class_str;
    uint32_t method_str;
    uint32_t file_str;
    uint32_t line;
    uint32_t native;
} out_frame;

typedef struct out_lock {
    uint32_t class_str;
    uint32_t identity_hash;
} out_lock;

typedef struct out_meta {
    uint64_t wall_ms;
    uint64_t cpu_read_ns;
    uint64_t cpu_read_took_ns;
    uint64_t interval_ns;
    uint64_t info_took_ns;
    uint64_t deadlock_took_ns;
    uint64_t stacks_took_ns;
    uint64_t total_took_ns;
    uint64_t paused_ns;
    uint64_t longest_pause_ns;
    uint32_t pauses;
    uint32_t threads_total;
    uint32_t stacks_wanted;
    uint32_t cut;
    uint32_t offers;
    bool full;
} out_meta;

typedef struct wire_out {
    out_meta meta;
    column columns[COL_END];
    intern_table strings;
    intern_table locks;
    intern_table frames;
    uint32_t *string_end; /* where each string ends in COL_STRINGS_DATA */
    out_lock *lock_list;
    out_frame *frame_list;
    size_t string_cap, lock_cap, frame_cap;
    size_t bytes; /* in all columns together; compared with `limit` */
    size_t limit;
    bool failed; /* no memory: the answer cannot be sent */
} wire_out;

/* Makes an empty answer, in which string 0 is the empty string. */
void out_init(wire_out *o, size_t limit);
void out_free(wire_out *o);

/* Returns whether the limit is reached; the caller then begins no further entry. */
bool out_is_full(const wire_out *o);

void out_number(wire_out *o, enum column_id id, uint64_t value);
void out_byte(wire_out *o, enum column_id id, uint8_t value);
/* Adds value + 1, or 0 ("not known") for a negative value. */
void out_known(wire_out *o, enum column_id id, int64_t value);

uint32_t out_string(wire_out *o, const char *text, size_t n);
uint32_t out_add_frame(wire_out *o, const out_frame *frame);
/* Returns the lock's index + 1, the form of COL_THREAD_LOCK; COL_HELD_LOCK takes one less. */
uint32_t out_add_lock(wire_out *o, const out_lock *lock);

/* Returns the whole message, which the caller frees with free(); NULL without memory. */
uint8_t *out_finish(const wire_out *o, size_t *n);

#endif
