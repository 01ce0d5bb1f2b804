/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_SATURATE_H
#define STACKAGG_SATURATE_H

#include <stdbool.h>
#include <stdint.h>

/* Adds to a sum of values, which saturates at 2^64 - 1, so that a part never exceeds its whole.
 * Returns false when it saturates. */
static inline bool sagg__add_to(uint64_t *sum, uint64_t value)
{
    if (!__builtin_add_overflow(*sum, value, sum))
        return true;
    *sum = UINT64_MAX;
    return false;
}

#endif
