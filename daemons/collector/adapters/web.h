/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics, /healthz and /readyz, and profiles on demand. Labels never hold a pid, a stack or a
 * thread. */
#ifndef COLLECTOR_ADAPTERS_WEB_H
#define COLLECTOR_ADAPTERS_WEB_H

#include "../core/collector.h"
#include "../core/uploader.h"
#include "kubernetes/kubernetes.h"
#include "transport.h"
#include "wire.h"

#include <stdint.h>

/* What is shown; all borrowed for the server's life. */
typedef struct web_sources {
    collector *core;
    uploader *uploads;
    queue *queued;
    const transport *http;
    const wire *contract;
    const kubernetes *kubernetes; /* NULL = not in Kubernetes mode */
} web_sources;

typedef struct web web;

/*
 * Listens on a numeric address. With a token, metrics and calls take it as a bearer token; without
 * one, calls are closed. 0, or -1 with a sentence in message.
 */
int web_start(web **out, const char *address, uint16_t port, const char *token,
              const web_sources *sources, char *message, size_t size);
void web_stop(web *self);

/* Another token is in force from the next request on; "" = none. 0, or -1 with a sentence in
 * message: the token before stays. Any thread. */
int web_set_token(web *self, const char *token, char *message, size_t size);

/* The text of /metrics: malloc'd, *length bytes; NULL = no memory. */
char *web_metrics(const web_sources *sources, size_t *length);

#endif
