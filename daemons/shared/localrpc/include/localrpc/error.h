/* SPDX-License-Identifier: Apache-2.0 */
/* Return codes and the error record of localrpc. */
#ifndef LOCALRPC_ERROR_H
#define LOCALRPC_ERROR_H

#include <stdint.h>

enum localrpc_code {
    LOCALRPC_OK = 0,
    LOCALRPC_ERR_USAGE = -1,       /* wrong arguments or socket path */
    LOCALRPC_ERR_UNREACHABLE = -2, /* no server listens, or it refused the connection */
    LOCALRPC_ERR_TIMEOUT = -3, /* no answer in time; the server may still have run the request */
    LOCALRPC_ERR_FORMAT = -4,  /* an invalid answer */
    LOCALRPC_ERR_IO = -5,
};

typedef struct localrpc_error {
    int code;
    uint64_t offset; /* always 0 */
    char message[256];
} localrpc_error;

#endif
