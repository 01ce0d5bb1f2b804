/* SPDX-License-Identifier: Apache-2.0 */
/* load/client.h: the calls of many nodes at once over HTTP, each node on a connection of its own.
 */
#ifndef LOAD_CLIENT_H
#define LOAD_CLIENT_H

#include "node.h"

typedef struct client client;

/* `urls` of the backends, of which each call takes the next, as behind a balancer. NULL = no
 * memory. Strings are borrowed. */
client *client_new(const char *const *urls, size_t url_count, const char *token, uint32_t nodes,
                   uint64_t timeout_ms);
void client_free(client *c);

/* Begins a node's call; the bytes are borrowed until it ends. */
void client_begin(client *c, uint32_t node, call made, const uint8_t *bytes, size_t length);

/* Waits until a call ends, but not longer than wait_ms. */
void client_wait(client *c, uint64_t wait_ms);

/* Takes one call that has ended; *took_us: from its begin to its answer. False: there is none. */
bool client_take(client *c, uint32_t *node, answer *a, uint64_t *took_us);

#endif
