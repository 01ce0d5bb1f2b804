/* SPDX-License-Identifier: Apache-2.0 */
/* chsink/error.h: one error type for the whole library, and what a caller may do about an error. */
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
    CHS_ERR_FORMAT = -4,       /* bytes that are not what the format or the type says */
    CHS_ERR_NETWORK = -5,      /* no connection, or it broke before the answer was whole */
    CHS_ERR_TIMEOUT = -6,      /* the call's deadline, or the server's execution time limit */
    CHS_ERR_AUTH = -7,         /* wrong user, password, or not allowed */
    CHS_ERR_SERVER_RETRY = -8, /* the server refused for a reason that passes (load, memory) */
    CHS_ERR_SERVER_FINAL = -9, /* the server refused and will again (syntax, type, no table) */
    CHS_ERR_UNAVAILABLE = -10, /* the embedded engine is not installed or will not start */
    CHS_ERR_CANCELLED = -11    /* chs_cancel, or the caller's block function said stop */
};

/*
 * What went wrong. The caller owns the struct; functions fill it only when they fail, and take
 * NULL. code: one of CHS_ERR_*. server_code: ClickHouse's own exception code, 0 if the server gave
 * none. offset: byte offset in the decoded stream for CHS_ERR_FORMAT and CHS_ERR_LIMIT of the
 * reader, else 0. message: a sentence, NUL-terminated, cut to fit. It never holds a password.
 */
typedef struct chs_error {
    int code;
    int server_code;
    uint64_t offset;
    char message[512];
} chs_error;

/* What a caller may do after an error. */
typedef enum chs_retry {
    CHS_RETRY_NEVER = 0,  /* the same call fails again */
    CHS_RETRY_FREELY = 1, /* the server did nothing: any call may be tried again */
    CHS_RETRY_SAME_TOKEN =
        2 /* in doubt: it may have happened. Reads may be tried again; an insert only
             with the same deduplication token and the very same block bytes */
} chs_retry;

/*
 * Says whether the failed call may be tried again.
 * err: as a failed call filled it; NULL gives CHS_RETRY_NEVER.
 * Pure; any thread.
 */
CHS_EXPORT chs_retry chs_error_retry(const chs_error *err);

/*
 * The class that a ClickHouse exception code belongs to: CHS_ERR_AUTH, CHS_ERR_TIMEOUT,
 * CHS_ERR_SERVER_RETRY or CHS_ERR_SERVER_FINAL (every code that is not known to pass).
 * Format source: ClickHouse src/Common/ErrorCodes.cpp. Pure; any thread.
 */
CHS_EXPORT int chs_server_code_class(int server_code);

/* The stable lower-case name of a return code ("timeout"), "unknown" for others. Static; any
 * thread. */
CHS_EXPORT const char *chs_code_name(int code);

#ifdef __cplusplus
}
#endif

#endif
