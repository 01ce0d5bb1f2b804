/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to the queue of entries that wait for the backend, oldest first. It survives restarts.
 * It holds at most a number of bytes and of entries; over that the oldest are dropped and counted.
 * Drops that have not been reported survive a restart, too. Any number of threads.
 * adapters/queue/file_queue.h keeps it in a directory.
 */
#ifndef COLLECTOR_CORE_QUEUE_H
#define COLLECTOR_CORE_QUEUE_H

#include "batches/batch.h"

#include <catalogue/drop_cause.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct queue queue;

/* The kind of an entry. File names contain the numbers. */
typedef enum queue_kind {
    QUEUE_PROFILES = 1, /* a ProfileBatch of the contract, compressed */
    QUEUE_KINDS_END
} queue_kind;

typedef struct queue_entry {
    uint64_t sequence; /* identifies the entry */
    queue_kind kind;
    uint8_t *bytes; /* malloc'd, owned by the caller */
    size_t length;
} queue_entry;

/* Entries lost for one cause. */
typedef struct queue_drops {
    uint64_t entries; /* since the queue was opened, and those not reported before that */
    /* Unix ms when the oldest and the newest of the drops were added that queue_forget_drops has
     * not been told of; 0 = none. */
    uint64_t oldest_ms, newest_ms;
    uint64_t first_ms; /* the oldest of all drops, reported or not; 0 = none */
} queue_drops;

typedef struct queue_stats {
    uint64_t bytes;
    uint64_t entries;
    uint64_t max_bytes;
    uint64_t oldest_ms; /* when the oldest entry was added; 0 = there is none */
    uint64_t pushed;    /* since the queue was opened; includes both halves of a replaced entry */
    uint64_t newest;    /* sequence of the entry added last; 0 = none */
    queue_drops drops[DROP_END];
} queue_stats;

/* How far the entries contain the recording of a JVM's session, and the labels with which the rest
 * is reported as lost. */
typedef struct queue_position {
    local_jvm jvm; /* only the members that a batch contains */
    target_labels labels;
    event_intervals events; /* recorded by the session */
    uint64_t threads_ms;    /* interval of its thread snapshots; 0 = none are taken */
    uint64_t session_ms;    /* Unix ms at which the session began; 0 = none runs */
    uint64_t offset;        /* position in its recording */
    uint64_t told_ms;       /* Unix ms up to which the entries have windows of it */
} queue_position;

typedef struct queue_positions {
    const queue_position *all; /* NULL = no entry came with positions yet */
    size_t count;
} queue_positions;

typedef struct queue_bytes {
    const uint8_t *bytes;
    size_t length;
} queue_bytes;

typedef struct queue_ops {
    /* Adds an entry at the end, and drops the oldest if there is no room. Returns 0, or -1: it
     * could not be written and is counted as dropped. After a crash the queue has either both the
     * entry and `positions` (NULL = no change), or neither. */
    int (*push)(queue *self, queue_kind kind, const uint8_t *bytes, size_t length,
                const queue_positions *positions);
    /* Returns the positions from when the queue was opened; borrowed until it is closed. */
    queue_positions (*get_positions)(queue *self);
    /* Gets the oldest entry, which stays until it is removed. Returns false when there is none. */
    bool (*peek)(queue *self, queue_entry *out);
    /*
     * Replaces an entry with two. The first keeps its place and the second goes to the end. Returns
     * 0, or -1: the entry is unchanged. After a crash the queue may have the entry and the second.
     */
    int (*replace)(queue *self, uint64_t sequence, const queue_bytes halves[2]);
    /* DROP_NONE: it was delivered. */
    void (*remove)(queue *self, uint64_t sequence, enum drop_cause cause);
    queue_stats (*get_stats)(queue *self);
    /* Says that the drops in these stats have been reported. */
    void (*forget_drops)(queue *self, const queue_stats *told);
} queue_ops;

/* The first member of every queue. */
struct queue {
    const queue_ops *ops;
};

static inline int queue_push(queue *self, queue_kind kind, const uint8_t *bytes, size_t length,
                             const queue_positions *positions)
{
    return self->ops->push(self, kind, bytes, length, positions);
}

static inline queue_positions queue_get_positions(queue *self)
{
    return self->ops->get_positions(self);
}

static inline bool queue_peek(queue *self, queue_entry *out)
{
    return self->ops->peek(self, out);
}

static inline int queue_replace(queue *self, uint64_t sequence, const queue_bytes halves[2])
{
    return self->ops->replace(self, sequence, halves);
}

static inline void queue_remove(queue *self, uint64_t sequence)
{
    self->ops->remove(self, sequence, DROP_NONE);
}

static inline void queue_drop(queue *self, uint64_t sequence, enum drop_cause cause)
{
    self->ops->remove(self, sequence, cause);
}

static inline queue_stats queue_get_stats(queue *self)
{
    return self->ops->get_stats(self);
}

static inline void queue_forget_drops(queue *self, const queue_stats *told)
{
    self->ops->forget_drops(self, told);
}

/* Returns all entries lost since the queue was opened. */
static inline uint64_t queue_dropped(const queue_stats *stats)
{
    uint64_t all = 0;
    for (unsigned cause = 0; cause < DROP_END; cause++)
        all += stats->drops[cause].entries;
    return all;
}

#endif
