/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that wait for the backend, in a directory: one file each, written as a temporary file,
 * synced and renamed, oldest first by name. Survives restarts. Within a cap of bytes and of
 * entries; past it the oldest go, counted. Any number of threads.
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
    uint64_t damaged; /* files that could not be read back, removed */
} queue_stats;

/*
 * Opens, or makes, the queue in `directory` for this process alone. 0, or -1 with a sentence in
 * message (the directory cannot be used, or another collector holds it).
 */
int queue_open(queue **out, const char *directory, uint64_t max_bytes, uint64_t max_entries,
               char *message, size_t size);
void queue_close(queue *self);

/* Adds an entry at the end. 0, or -1: it could not be written even with the queue empty. */
int queue_push(queue *self, const uint8_t *bytes, size_t length);

/*
 * The oldest entry: *bytes is malloc'd and the caller's, *sequence names it. False when there is
 * none. It stays until queue_remove.
 */
bool queue_peek(queue *self, uint64_t *sequence, uint8_t **bytes, size_t *length);
void queue_remove(queue *self, uint64_t sequence);

queue_stats queue_get_stats(queue *self);

#endif
