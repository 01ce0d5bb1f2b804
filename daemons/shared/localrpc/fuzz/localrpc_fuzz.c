/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as a request and as an answer: they are refused or decoded, never a crash. */
#include <localrpc/message.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    local_request request;
    (void)local_request_decode(&request, data, size);
    local_answer answer;
    if (local_answer_decode(&answer, data, size) == 0)
        local_answer_clear(&answer);
    return 0;
}
