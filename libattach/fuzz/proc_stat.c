/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "proc/proc_stat_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach__stat stat;
    (void)attach__stat_parse(&stat, attach__span_of((const char *)data, size), NULL);
    return 0;
}
