/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to the API server over one persistent connection: TLS, token, time limits. One
 * thread. */
#ifndef COLLECTOR_KUBERNETES_CLIENT_H
#define COLLECTOR_KUBERNETES_CLIENT_H

#include "watch.h"

typedef struct client_options {
    const char *url;        /* https://host:port */
    const char *token_file; /* read for each request, as the kubelet renews it; "" = no token */
    const char *ca_file;    /* PEM; "" = the system's certificates */
    const char *user_agent;
    bool (*is_ending)(void *context); /* called every second during a request */
    void *context;
} client_options;

typedef struct client client;

/* Copies the texts. Returns NULL with a sentence in message. */
client *client_new(const client_options *options, char *message, size_t size);
void client_free(client *self);

/* watch_ports.get */
void client_get(client *self, const watch_request *request, watch_answer *out);

#endif
