/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chsink/transport.h: the port to a ClickHouse, over HTTP or embedded.
 *
 * chsink/http.h and chsink/embedded.h open transports; chs_transport_new makes one from a caller's
 * own functions (a fake for tests, another protocol).
 *
 * Thread rule: one thread at a time per transport; only chs_cancel may come from another. Several
 * threads open a transport each.
 */
#ifndef CHSINK_TRANSPORT_H
#define CHSINK_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include <chsink/bytes.h>
#include <chsink/error.h>
#include <chsink/export.h>
#include <chsink/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct chs_transport chs_transport;

/* A ClickHouse setting for one call. name: [A-Za-z_][A-Za-z0-9_]*; value: text without control
 * bytes. */
typedef struct chs_setting {
    const char *name;
    const char *value;
} chs_setting;

/* The form in which a query parameter's value is passed. */
typedef enum chs_param_kind {
    CHS_PARAM_SCALAR = 0,  /* one value: items[0], or text when items is NULL */
    CHS_PARAM_STRINGS = 1, /* an Array of String or FixedString: items, item_count */
    CHS_PARAM_NUMBERS = 2  /* an Array of numbers: items in decimal, item_count */
} chs_param_kind;

/*
 * The value of a `{name:Type}` in the SQL. The text is the raw value: the library escapes it and
 * the server binds it to Type, so that no value can become SQL. Bytes may be binary (FixedString).
 */
typedef struct chs_param {
    const char *name; /* [A-Za-z_][A-Za-z0-9_]* */
    chs_param_kind kind;
    const char *text; /* NUL-terminated; for CHS_PARAM_SCALAR when items is NULL */
    const chs_bytes *items;
    size_t item_count;
} chs_param;

/* The parameters, settings and timeout of a call. NULL for the defaults. Borrowed for the call. */
typedef struct chs_call {
    size_t size; /* sizeof(chs_call); an unknown tail must be zero */
    const chs_param *params;
    size_t param_count;
    const chs_setting *settings; /* added to the transport's own; the call's override them */
    size_t setting_count;
    uint32_t timeout_ms; /* 0: the transport's default. Ends with CHS_ERR_TIMEOUT */
} chs_call;

#define CHS_CALL_INIT                                                                              \
    {                                                                                              \
        sizeof(chs_call), NULL, 0, NULL, 0, 0                                                      \
    }

/*
 * One insert = one Native block.
 * database: NULL for the transport's. columns: names in the block's order.
 * block: the bytes of chs_block_encode. token: insert_deduplication_token, NULL for none; a block
 * sent again with the same token and bytes is stored once, on tables and view targets that have a
 * deduplication window (the library sets deduplicate_blocks_in_dependent_materialized_views with
 * every token).
 */
typedef struct chs_insert_request {
    size_t size; /* sizeof(chs_insert_request); an unknown tail must be zero */
    const char *database;
    const char *table;
    const char *const *columns;
    size_t column_count;
    chs_bytes block;
    const char *token;
} chs_insert_request;

#define CHS_INSERT_REQUEST_INIT                                                                    \
    {                                                                                              \
        sizeof(chs_insert_request), NULL, NULL, NULL, 0, {NULL, 0}, NULL                           \
    }

/*
 * Receives each block of an answer; the block is borrowed for the call. Returns 0 to continue or a
 * negative code to stop: chs_query then ends the query on the server and returns that code. The
 * function reports details through its context.
 */
typedef int (*chs_block_fn)(void *context, const chs_result *block);

/*
 * The port. Every function receives the pointer that was passed to chs_transport_new. Arguments are
 * already checked by the chs_* functions below. cancel may be called from another thread during a
 * call.
 */
typedef struct chs_transport_ops {
    size_t size; /* sizeof(chs_transport_ops) */
    int (*ping)(void *self, const chs_call *call, chs_error *err);
    int (*exec)(void *self, const char *sql, const chs_call *call, chs_error *err);
    int (*insert)(void *self, const chs_insert_request *request, const chs_call *call,
                  chs_error *err);
    int (*query)(void *self, const char *sql, const chs_call *call, chs_block_fn on_block,
                 void *context, chs_error *err);
    void (*cancel)(void *self);
    void (*close)(void *self);
} chs_transport_ops;

/*
 * Wraps a caller's functions. ops is borrowed for the transport's life; every function must be set.
 * Errors: CHS_ERR_USAGE, CHS_ERR_NO_MEMORY (self is then still the caller's).
 */
CHS_EXPORT CHS_MUST_USE int chs_transport_new(chs_transport **out, const chs_transport_ops *ops,
                                              void *self, chs_error *err);

/* Closes and frees; takes NULL. No call may be under way. */
CHS_EXPORT void chs_transport_close(chs_transport *transport);

/* Checks that the server answers and accepts the credentials. Errors: as chs_exec. */
CHS_EXPORT CHS_MUST_USE int chs_ping(chs_transport *transport, const chs_call *call,
                                     chs_error *err);

/*
 * Runs one statement without a result (DDL, ALTER, SYSTEM ...). sql: one statement, no FORMAT.
 * Errors: CHS_ERR_NETWORK, TIMEOUT, AUTH, SERVER_RETRY, SERVER_FINAL, CANCELLED, USAGE, NO_MEMORY.
 */
CHS_EXPORT CHS_MUST_USE int chs_exec(chs_transport *transport, const char *sql,
                                     const chs_call *call, chs_error *err);

/*
 * Inserts one block. call's params are not used. Success means that the block is stored, in the
 * table and in its views. Errors: as chs_exec; chs_error_retry says which may be tried again.
 */
CHS_EXPORT CHS_MUST_USE int chs_insert(chs_transport *transport, const chs_insert_request *request,
                                       const chs_call *call, chs_error *err);

/*
 * Runs one SELECT (no FORMAT clause) and passes its blocks to on_block in order, empty blocks
 * included. Errors: as chs_exec, and CHS_ERR_FORMAT or CHS_ERR_LIMIT of the reader. A call may fail
 * after some blocks were passed; the caller then discards them.
 */
CHS_EXPORT CHS_MUST_USE int chs_query(chs_transport *transport, const char *sql,
                                      const chs_call *call, chs_block_fn on_block, void *context,
                                      chs_error *err);

/*
 * Ends the call that runs in another thread, which then returns CHS_ERR_CANCELLED; without such a
 * call it does nothing. Any thread, not from a signal handler.
 */
CHS_EXPORT void chs_cancel(chs_transport *transport);

#ifdef __cplusplus
}
#endif

#endif
