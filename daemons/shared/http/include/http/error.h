/* SPDX-License-Identifier: Apache-2.0 */
/* http/error.h: the error type of daemons/shared/http. */
#ifndef HTTP_ERROR_H
#define HTTP_ERROR_H

#include <stdint.h>

enum {
    HTTP_OK = 0,
    HTTP_ERR_USAGE = -1,     /* an argument or option breaks the contract */
    HTTP_ERR_NO_MEMORY = -2, /* an allocation failed */
    HTTP_ERR_IO = -3,        /* a file or socket call failed; the message holds its errno's text */
    HTTP_ERR_LIMIT = -4,     /* a limit of the options was reached */
    HTTP_ERR_FORMAT = -5     /* malformed bytes */
};

/* Filled by functions that fail; may be NULL. offset: position in the input, 0 where there is
 * none. */
typedef struct http_error {
    int code;
    uint64_t offset;
    char message[256];
} http_error;

#endif
