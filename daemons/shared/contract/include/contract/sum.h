/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of events of one source. The profile types are views of them (catalogue/profile_type.h).
 */
#ifndef CONTRACT_SUM_H
#define CONTRACT_SUM_H

#include <stdint.h>

typedef struct profile_sum {
    uint64_t raw_amount; /* in the source's unit, as recorded */
    uint64_t amount;     /* the estimate */
    uint64_t raw_count;  /* events recorded */
    uint64_t count;      /* the estimate */
} profile_sum;

static inline void profile_sum_add(profile_sum *to, const profile_sum *more)
{
    to->raw_amount += more->raw_amount;
    to->amount += more->amount;
    to->raw_count += more->raw_count;
    to->count += more->count;
}

#endif
