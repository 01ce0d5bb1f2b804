/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as the body of POST /v1/session, and as query parameters. */
#include <stdlib.h>
#include <string.h>

#include "query_params.h"
#include "session_body.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *copy = malloc(size + 1);
    session_body body;
    query_params params;
    http_error err;

    memcpy(copy, data, size);
    copy[size] = '\0';
    if (session_body_parse(&body, copy, size) == 0 &&
        (body.token[0] != '\0') == (body.code[0] != '\0'))
        abort();
    for (int kind = QUERY_LIST; kind <= QUERY_TOP; kind++) {
        if (query_params_parse(&params, (query_kind)kind, copy, 1769850900000, &err) == 0 &&
            params.filter.from_ms >= params.filter.to_ms)
            abort();
        query_params_clear(&params);
    }
    free(copy);
    return 0;
}
