/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load/fleet.h: the data that a simulated fleet of nodes records. Everything depends only on the
 * fleet's numbers: the batch of a node's window is the same in every run, and so are the rows that
 * must be in the store once it is acknowledged.
 */
#ifndef LOAD_FLEET_H
#define LOAD_FLEET_H

#include "stock.h"

enum { WINDOW_MS = 60000, NAME_SIZE = 64 };

typedef struct fleet {
    const stock *from;
    const char *cluster;
    uint64_t seed;
    uint64_t start_ms; /* of the first window; a whole minute */
    uint32_t nodes, windows;
    uint32_t jvms;     /* of a node */
    uint32_t services; /* to which the JVMs of a node belong */
    uint32_t rows;     /* of a JVM's window, all sources together */
    uint32_t threads;  /* of a JVM's snapshot; 0 = no snapshots */
    bool apart;        /* profiles and snapshots are in batches of their own */
} fleet;

/* Identifies a batch: the `part` of a node's window. Part 0 has the profiles and, unless they are
 * apart, the snapshots; part 1 has the snapshots. */
typedef struct batch_name {
    uint32_t node, window, part;
} batch_name;

/* Returns the number of batches of a node's window. */
uint32_t fleet_parts(const fleet *f);

/* Gets the name of the service to which that JVM of any node belongs. */
void fleet_service(const fleet *f, uint32_t jvm, char out[NAME_SIZE]);
void fleet_node(const fleet *f, uint32_t node, char out[NAME_SIZE]);

/* Makes a batch's id, which depends only on the fleet's seed and the name. */
void fleet_batch_id(const fleet *f, batch_name name, uint8_t id[BATCH_ID_SIZE]);

/* Makes a batch, in the contract's order. Returns 0, or -1 (no memory). */
int fleet_batch(const fleet *f, batch_name name, batch *out);

/* Makes a batch that contains only a node's JVMs. Returns 0, or -1 (no memory). */
int fleet_targets(const fleet *f, uint32_t node, batch *out);

/* Returns a target's key in the store (docs/formats/storage.md, Keys). */
uint64_t fleet_target_id(const batch *one, uint32_t target);

#endif
