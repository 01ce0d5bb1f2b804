/* SPDX-License-Identifier: Apache-2.0 */
#include "stored_size.h"

typedef unsigned long long ull;

int check_stored_frames(const stack_dictionary *d, const stack_use *uses, size_t count, verdict *v)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += d->stack_depth.at[uses[i].stack];
    if (sum <= STORED_FRAMES_MAX)
        return 0;
    return verdict_reject(v, "payload_too_large",
                          "stacks: the frames of all stacks, under each workload that uses them, "
                          "are %llu; at most %u are allowed.",
                          (ull)sum, STORED_FRAMES_MAX);
}

int check_services(size_t count, verdict *v)
{
    if (count <= SERVICES_MAX)
        return 0;
    return verdict_reject(v, "too_many_rows",
                          "targets are of %zu workloads; at most %u are allowed in one batch.",
                          count, SERVICES_MAX);
}
