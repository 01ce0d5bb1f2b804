/* SPDX-License-Identifier: Apache-2.0 */
/* The engine behind chdb-http: runs one request as ClickHouse's HTTP handler would. */
#ifndef CHDB_HTTP_STORE_H
#define CHDB_HTTP_STORE_H

#include <chsink/embedded.h>

#include "request.h"

typedef struct http_store http_store;

/* Starts the engine. Returns false with a sentence in err. */
bool store_open(http_store **out, const chs_embedded_options *options, chs_error *err);

/* Stops the engine, which writes its data to the disk. */
void store_close(http_store *store);

/* Ends running SELECTs with an exception. Any thread. */
void store_interrupt(http_store *store);

/* Runs a request, whose user has been checked. Any thread. */
void store_run(http_store *store, const http_request *request, http_reply *reply);

#endif
