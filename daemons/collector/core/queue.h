/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to the queue: batches that wait for the backend, oldest first. It survives restarts, and
 * holds at most a number of bytes and of entries; past it the oldest go, counted. Any number of
 * threads. adapters/file_queue.h keeps it in a directory.
 */
#ifndef COLLECTOR_CORE_QUEUE_H
#define COLLECTOR_CORE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct queue queue;

typedef struct queue_stats {
    uint64_t bytes;
    uint64_t entries;
    uint64_t dropped; /* by the caps or for want of disk, since it was opened */
    uint64_t damaged; /* entries that could not be read back, removed */
    uint64_t newest;  /* sequence of the entry that was added last; 0 = none */
} queue_stats;

typedef struct queue_ops {
    /* Adds an entry at the end. 0, or -1: it could not be written even with the queue empty. */
    int (*push)(queue *self, const uint8_t *bytes, size_t length);
    /*
     * The oldest entry: *bytes is malloc'd and the caller's, *sequence names it. False when there
     * is none. It stays until it is removed.
     */
    bool (*peek)(queue *self, uint64_t *sequence, uint8_t **bytes, size_t *length);
    void (*remove)(queue *self, uint64_t sequence);
    queue_stats (*get_stats)(queue *self);
} queue_ops;

/* The first member of every queue. */
struct queue {
    const queue_ops *ops;
};

static inline int queue_push(queue *self, const uint8_t *bytes, size_t length)
{
    return self->ops->push(self, bytes, length);
}

static inline bool queue_peek(queue *self, uint64_t *sequence, uint8_t **bytes, size_t *length)
{
    return self->ops->peek(self, sequence, bytes, length);
}

static inline void queue_remove(queue *self, uint64_t sequence)
{
    self->ops->remove(self, sequence);
}

static inline queue_stats queue_get_stats(queue *self)
{
    return self->ops->get_stats(self);
}

#endif
