/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private: a request in libmicrohttpd, an admitter and a worker, and its answer. Only one thread at
 * a time uses an exchange: libmicrohttpd's or, while its connection is suspended, an admitter's or
 * a worker's.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <stdatomic.h>

#include <microhttpd.h>

#include <http/server.h>

#include "front.h"
#include "pool.h"

struct http_server {
    http_server_options options;
    struct MHD_Daemon *engine;
    pool *admitters; /* threads that call admit */
    pool *workers;   /* threads that call handle */
    front front;
    atomic_uint_fast64_t requests;
    atomic_uint_fast64_t body_bytes; /* reserved by all exchanges */
};

/* libmicrohttpd's callbacks: the raw URI has arrived, the request continues, it is over. */
void *http__exchange_new(void *server, const char *uri, struct MHD_Connection *connection);
enum MHD_Result http__exchange_handle(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *data_size, void **exchange);
void http__exchange_completed(void *server, struct MHD_Connection *connection, void **exchange,
                              enum MHD_RequestTerminationCode code);

/* The jobs of an admitter and of a worker. */
void http__exchange_admit(void *exchange);
void http__exchange_work(void *exchange);

#endif
