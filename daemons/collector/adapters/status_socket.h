/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector does, for `hotstack collector status`: a JSON document
 * (docs/reference/cli-json.md) over a socket of this host. */
#ifndef COLLECTOR_ADAPTERS_STATUS_SOCKET_H
#define COLLECTOR_ADAPTERS_STATUS_SOCKET_H

#include "web.h"

typedef struct status_socket status_socket;

/* What the document says beside the sources' words; copied, the texts are borrowed. */
typedef struct status_about {
    const char *cluster, *node, *instance, *version, *backend_url;
    uint64_t started_ms;
} status_about;

/* Answers root and this process's own user at a path. `sources` is borrowed. 0, or -1 with a
 * sentence in message. */
int status_socket_start(status_socket **out, const char *path, const shown_sources *sources,
                        const status_about *about, char *message, size_t size);
/* NULL is taken. */
void status_socket_stop(status_socket *self);

/* The document: malloc'd, *length bytes; NULL = no memory. */
char *status_document(const shown_sources *sources, const status_about *about, size_t *length);

#endif
