/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "proc/proc_status_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach__status status;
    (void)attach__status_parse(&status, attach__span_of((const char *)data, size), NULL);
    return 0;
}
