/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/httpapi/query_params.h: turns a request's parameters into the core's filter. */
#ifndef BACKEND_QUERY_PARAMS_H
#define BACKEND_QUERY_PARAMS_H

#include <http/query.h>

#include "store.h"

typedef enum query_kind {
    QUERY_LIST,
    QUERY_STATUS,
    QUERY_INGESTION,
    QUERY_RETENTION,
    QUERY_FLAMEGRAPH,
    QUERY_TOP,
    QUERY_TIMELINE,
    QUERY_THREADS,
    QUERY_LANES,
    QUERY_THREAD,
    QUERY_DEADLOCKS
} query_kind;

typedef struct query_params {
    http_query raw; /* the filter's strings point into it */
    store_filter filter;
    bool lines;
} query_params;

/*
 * Reads the parameters of docs/reference/query-api.md. Returns 0, or -1 with a sentence for the
 * client in err. Free with query_params_clear in both cases.
 */
int query_params_parse(query_params *out, query_kind kind, const char *input, uint64_t now_ms,
                       http_error *err);
void query_params_clear(query_params *params);

/* Reads RFC 3339 or milliseconds since 1970; returns 0, or -1. */
int query_time_parse(uint64_t *out, const char *input);

/* Writes RFC 3339, UTC, with milliseconds; 25 bytes. */
void query_time_print(char out[25], uint64_t unix_ms);

#endif
