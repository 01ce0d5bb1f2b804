/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <attach/worker.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static attach_request request, again;
    static uint8_t bytes[ATTACH_REQUEST_MAX];
    size_t n = 0;
    if (attach_request_decode(&request, data, size, NULL) != ATTACH_OK)
        return 0;
    if (attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL) != ATTACH_OK ||
        attach_request_decode(&again, bytes, n, NULL) != ATTACH_OK)
        abort();
    return 0;
}
