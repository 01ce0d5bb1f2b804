/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "proc/cgroup_limits_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach__span text = attach__span_of((const char *)data, size);
    uint64_t bytes;
    uint32_t millis;
    (void)attach__limit_bytes(text, &bytes);
    (void)attach__limit_cpu(text, &millis);
    return 0;
}
