/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <attach/load_answer_impl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int code = 0;
    (void)attach__load_answer_read(&code, 0, attach__span_of((const char *)data, size), NULL);
    return 0;
}
