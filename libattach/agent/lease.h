/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: each client that asks for snapshots holds one, with its end and the data kept for it. */
#ifndef HOTSTACK_THREADS_LEASE_H
#define HOTSTACK_THREADS_LEASE_H

#include <stdbool.h>

#include "history.h"
#include "protocol.h"

typedef struct lease {
    char id[THREADS_LEASE_ID_MAX]; /* not NUL-terminated when full; empty = free */
    uint64_t end_ns;
    bool contention; /* wants contention monitoring */
    history h;
} lease;

typedef struct leases {
    lease list[THREADS_LEASES];
} leases;

/* Returns the lease with that id, creating it where it is missing; NULL when there are too many. */
lease *leases_take(leases *l, const char *id);
/* Returns the lease with that id, or NULL. */
lease *leases_find(leases *l, const char *id);
void lease_drop(lease *item);
/* Drops the leases that have ended; returns how many are left. */
unsigned leases_expire(leases *l, uint64_t now_ns);
/* Returns when the next lease ends; UINT64_MAX when there is none. */
uint64_t leases_next_end(const leases *l);
bool leases_want_contention(const leases *l);

#endif
