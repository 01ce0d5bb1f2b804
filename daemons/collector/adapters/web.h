/* SPDX-License-Identifier: Apache-2.0 */
/* Serves /metrics, /healthz and /readyz, and profiles on demand. */
#ifndef COLLECTOR_ADAPTERS_WEB_H
#define COLLECTOR_ADAPTERS_WEB_H

#include "metrics.h"

#include <stdint.h>

typedef struct web web;

/*
 * Listens on a numeric address. With a token, metrics and calls require it as a bearer token;
 * without one, calls are refused. Returns 0, or -1 with a sentence in message.
 */
int web_start(web **out, const char *address, uint16_t port, const char *token,
              const shown_sources *sources, char *message, size_t size);
void web_stop(web *self);

/* Changes the token from the next request on; "" = none. Returns 0, or -1 with a sentence in
 * message: the old token stays. Any thread. */
int web_set_token(web *self, const char *token, char *message, size_t size);

#endif
