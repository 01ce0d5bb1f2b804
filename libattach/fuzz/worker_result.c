/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>

#include <attach/worker.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach_result result;
    attach_frame_type type;
    size_t n = 0;
    uint8_t bytes[4096];
    if (size >= ATTACH_FRAME_HEADER &&
        attach_answer_header_decode(&type, &n, data, NULL) == ATTACH_OK && n > ATTACH_PIECE_MAX)
        abort();
    if (attach_answer_result_decode(&result, data, size, NULL) == ATTACH_OK &&
        attach_answer_result_encode(bytes, sizeof(bytes), &n, &result, NULL) != ATTACH_OK)
        abort();
    return 0;
}
