/* SPDX-License-Identifier: Apache-2.0 */
/* chdb-http's listener. */
#ifndef CHDB_HTTP_SERVER_H
#define CHDB_HTTP_SERVER_H

#include <stdint.h>

#include "store.h"

typedef struct http_server http_server;

/* The user that may send requests; NULL user: everybody. It must live as long as the server. */
typedef struct http_credentials {
    const char *user;
    const char *password;
} http_credentials;

/* Listens on 127.0.0.1. port 0 takes a free one; *bound is the port. Returns NULL when it
 * cannot. */
http_server *server_start(http_store *store, const http_credentials *credentials, uint16_t port,
                          uint16_t *bound);

/* Refuses new requests, ends running SELECTs, waits for the other requests. */
void server_stop(http_server *server);

#endif
