/* SPDX-License-Identifier: Apache-2.0 */
/* chsink/error.h: the error type of the library, and whether a failed call may be tried again. */
#ifndef CHSINK_ERROR_H
#define CHSINK_ERROR_H

#include <stdint.h>

#include <chsink/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Return codes. Every function that can fail returns 0 or one of these; the code is the class of
 * the error, so a caller switches on it without reading the text.
 */
enum {
    CHS_OK = 0,
    CHS_ERR_USAGE = -1,        /* an argument breaks this library's contract */
    CHS_ERR_NO_MEMORY = -2,    /* an allocation failed */
    CHS_ERR_LIMIT = -3,        /* a limit of the options was reached */
    CHS_ERR_FORMAT = -4,       /* bytes that do not match the format or the type */
    CHS_ERR_NETWORK = -5,      /* no connection, or it broke before the answer was whole */
    CHS_ERR_TIMEOUT = -6,      /* the call's deadline, or the server's execution time limit */
    CHS_ERR_AUTH = -7,         /* wrong user or password, or not allowed */
    CHS_ERR_SERVER_RETRY = -8, /* the server refused for a temporary reason (load, memory) */
    CHS_ERR_SERVER_FINAL =
        -9, /* the server refused for a permanent reason (syntax, type, no table) */
    CHS_ERR_UNAVAILABLE = -10, /* the embedded engine is not installed or will not start */
    CHS_ERR_CANCELLED = -11    /* chs_cancel was called, or a caller's function stopped the call */
};

/*
 * The details of an error. The caller owns the struct; functions fill it only when they fail, and
 * accept NULL. code: one of CHS_ERR_*. server_code: ClickHouse's own exception code, 0 if the
 * server gave none. offset: byte offset in the decoded stream for CHS_ERR_FORMAT and CHS_ERR_LIMIT
 * of the reader, else 0. message: a sentence, NUL-terminated, cut to fit. It never holds a
 * password.
 */
typedef struct chs_error {
    int code;
    int server_code;
    uint64_t offset;
    char message[512];
} chs_error;

/* Whether a failed call may be tried again. */
typedef enum chs_retry {
    CHS_RETRY_NEVER = 0,  /* the same call fails again */
    CHS_RETRY_FREELY = 1, /* the server did nothing: any call may be tried again */
    CHS_RETRY_SAME_TOKEN =
        2 /* in doubt: the call may have taken effect. A read may be tried again; an insert only
             with the same deduplication token and the same block bytes */
} chs_retry;

/*
 * Returns whether the failed call may be tried again. err: as the failed call filled it; NULL gives
 * CHS_RETRY_NEVER. Pure; any thread.
 */
CHS_EXPORT chs_retry chs_error_retry(const chs_error *err);

/*
 * Returns the class of a ClickHouse exception code: CHS_ERR_AUTH, CHS_ERR_TIMEOUT,
 * CHS_ERR_SERVER_RETRY or CHS_ERR_SERVER_FINAL (every code that is not known to be temporary).
 * Format source: ClickHouse src/Common/ErrorCodes.cpp. Pure; any thread.
 */
CHS_EXPORT int chs_server_code_class(int server_code);

/* Returns the stable lower-case name of a return code ("timeout"), "unknown" for other numbers.
 * Static; any thread. */
CHS_EXPORT const char *chs_code_name(int code);

#ifdef __cplusplus
}
#endif

#endif
