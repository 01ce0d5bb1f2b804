/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/room.h: limits how much of something, such as the memory of payloads, running
 * calls take together. Each takes its share before it begins and gives it back at its end. Any
 * thread.
 */
#ifndef BACKEND_ROOM_H
#define BACKEND_ROOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct room {
    size_t most; /* set before use */
    atomic_size_t taken;
} room;

/* Returns false, and takes nothing, when less is left. */
bool room_take(room *r, size_t share);
void room_give(room *r, size_t share);

#endif
