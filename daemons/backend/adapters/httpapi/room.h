/*
 * adapters/httpapi/room.h: the memory that all payloads in work may take together. Each names its
 * share before it is unpacked and gives it back at its end. Any thread.
 */
#ifndef BACKEND_ROOM_H
#define BACKEND_ROOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct room {
    size_t most; /* bytes; set before use */
    atomic_size_t taken;
} room;

/* False when fewer bytes are left: then nothing is taken. */
bool room_take(room *r, size_t bytes);
void room_give(room *r, size_t bytes);

#endif
