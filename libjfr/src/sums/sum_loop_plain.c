/* SPDX-License-Identifier: Apache-2.0 */
/* The loops in C that any CPU runs; with SSE2, which each x86-64 has, a little faster. */
#include "sums/sum_loop_impl.h"

const uint8_t *jfr__sums_loop_plain(jfr__tally *sums, const uint8_t *p, const uint8_t *stop)
{
    return loop(sums, p, stop);
}

const uint8_t *jfr__frames_loop_plain(const jfr__frames *layout, const uint8_t *p,
                                      const uint8_t *stop, jfr_frame_ref **out, uint32_t *left)
{
    return frames(layout, p, stop, out, left);
}

const uint8_t *jfr__values_loop_plain(const jfr__memo_bucket *buckets, unsigned bits,
                                      const uint8_t *p, const uint8_t *stop, uint32_t **out,
                                      uint32_t *left)
{
    return values(buckets, bits, p, stop, out, left);
}

const uint8_t *jfr__skip_loop_plain(const uint8_t *p, const uint8_t *stop, uint64_t *count)
{
    return skip(p, stop, count);
}
