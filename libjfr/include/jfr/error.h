/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_ERROR_H
#define JFR_ERROR_H

#include <stdint.h>

/*
 * Error codes, always negative. There are few classes, so that a binding can map each class to one
 * exception.
 */
enum jfr_error_code {
    JFR_OK = 0,
    JFR_ERR_IO = -1,     /* the file cannot be opened, read or mapped */
    JFR_ERR_FORMAT = -2, /* the bytes are not JFR, or are damaged at `offset` */
    JFR_ERR_LIMIT = -3,  /* a limit of jfr_options is passed; the message names it */
    JFR_ERR_USAGE = -4,  /* a wrong argument: an index out of range, unknown options */
    JFR_ERR_NOMEM = -5   /* the allocator returned NULL */
};

/*
 * Details of a failure. It is the optional last parameter (NULL is allowed) of every function that
 * can fail, and is written only on failure.
 */
typedef struct jfr_error {
    int code;          /* one of jfr_error_code */
    uint64_t offset;   /* byte of the recording where the failure was found; 0 when it has none */
    char message[256]; /* one sentence: what, where, what to do; UTF-8, always terminated */
} jfr_error;

#endif
