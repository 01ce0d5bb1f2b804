/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the API server over one kept connection: TLS, token, time limits. One thread. */
#ifndef COLLECTOR_KUBERNETES_CLIENT_H
#define COLLECTOR_KUBERNETES_CLIENT_H

#include "watch.h"

typedef struct client_options {
    const char *url;        /* https://host:port */
    const char *token_file; /* read anew for each request: the kubelet renews it; "" = no token */
    const char *ca_file;    /* PEM; "" = the system's */
    const char *user_agent;
    bool (*is_ending)(void *context); /* asked about every second during a request */
    void *context;
} client_options;

typedef struct client client;

/* NULL with a sentence in message. The texts are copied. */
client *client_new(const client_options *options, char *message, size_t size);
void client_free(client *self);

/* watch_ports.get */
void client_get(client *self, const watch_request *request, watch_answer *out);

#endif
