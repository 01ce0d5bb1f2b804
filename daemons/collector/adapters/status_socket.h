/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the collector's status to `hotstack collector status`: a JSON document
 * (docs/reference/cli-json.md) over a socket of this host. */
#ifndef COLLECTOR_ADAPTERS_STATUS_SOCKET_H
#define COLLECTOR_ADAPTERS_STATUS_SOCKET_H

#include "web.h"

typedef struct status_socket status_socket;

/* Facts in the document that the sources do not have. The struct is copied, its texts are
 * borrowed. */
typedef struct status_about {
    const char *cluster, *node, *instance, *version, *backend_url;
    uint64_t started_ms;
    const local_finding *lacks; /* findings of the collector's own self-check; borrowed */
    size_t lack_count;
} status_about;

/* Serves root and this process's own user at a path. `sources` is borrowed. Returns 0, or -1 with a
 * sentence in message. */
int status_socket_start(status_socket **out, const char *path, const shown_sources *sources,
                        const status_about *about, char *message, size_t size);
/* NULL is allowed. */
void status_socket_stop(status_socket *self);

/* Makes the document: malloc'd, *length bytes; NULL = no memory. */
char *status_document(const shown_sources *sources, const status_about *about, size_t *length);

#endif
