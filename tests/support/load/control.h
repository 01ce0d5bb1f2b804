/* SPDX-License-Identifier: Apache-2.0 */
/* load/control.h: the heartbeats and status reports of a simulated node, compressed. */
#ifndef LOAD_CONTROL_H
#define LOAD_CONTROL_H

#include "payload.h"

/* The state of a node's queue in a heartbeat. */
typedef struct control_queue {
    uint32_t cut, waiting; /* batches */
} control_queue;

/* Each makes a payload without stacks; now_ms: Unix time. Returns 0, or -1 (no memory). */
int control_heartbeat(const fleet *f, uint32_t node, const control_queue *queue, uint64_t now_ms,
                      payload *out);
int control_status(const fleet *f, uint32_t node, uint64_t now_ms, payload *out);

#endif
