/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "proc/proc_cgroup_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach_jvm jvm = {0};
    attach__cgroup_read(&jvm, attach__span_of((const char *)data, size));
    return 0;
}
