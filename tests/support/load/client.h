/* SPDX-License-Identifier: Apache-2.0 */
/* load/client.h: the calls of many nodes at the same time over HTTP, each on a connection of its
 * own. */
#ifndef LOAD_CLIENT_H
#define LOAD_CLIENT_H

#include "node.h"

typedef struct client client;

/* Makes a client of the backends `urls`, which the calls use in turn, as behind a balancer. Borrows
 * the strings. NULL = no memory. */
client *client_new(const char *const *urls, size_t url_count, const char *token, uint32_t nodes,
                   uint64_t timeout_ms);
void client_free(client *c);

/* Begins a node's call; the bytes are borrowed until it ends. */
void client_begin(client *c, uint32_t node, call made, const uint8_t *bytes, size_t length);

/* Waits until a call ends, at most wait_ms. */
void client_wait(client *c, uint64_t wait_ms);

/* Gets a call that has ended; *took_us: from its begin to its answer. Returns false if there is
 * none. */
bool client_take(client *c, uint32_t *node, answer *a, uint64_t *took_us);

#endif
