/* SPDX-License-Identifier: Apache-2.0 */
#include "spans.h"

#include "batches/batch.h"

uint32_t span_jitter(const local_identity *jvm, uint32_t range_ms)
{
    if (range_ms == 0)
        return 0;
    uint64_t hash =
        (jvm->start_ticks ^ ((uint64_t)jvm->host_pid << 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)((hash >> 32) % range_ms);
}

uint64_t span_next(uint64_t ms, uint32_t length_ms, uint32_t jitter_ms)
{
    uint64_t midnight = (ms / MS_PER_DAY + 1) * MS_PER_DAY;
    uint64_t shifted = ms + length_ms - jitter_ms % length_ms;
    uint64_t border = ms + length_ms - shifted % length_ms;
    return border < midnight ? border : midnight;
}

uint64_t span_last(uint64_t ms, uint32_t length_ms, uint32_t jitter_ms)
{
    uint64_t midnight = ms / MS_PER_DAY * MS_PER_DAY;
    uint64_t shifted = ms + length_ms - jitter_ms % length_ms;
    uint64_t border = ms - shifted % length_ms;
    return border > midnight ? border : midnight;
}
