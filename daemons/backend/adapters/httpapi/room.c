/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

bool room_take(room *r, size_t share)
{
    size_t taken = atomic_load(&r->taken);

    do {
        if (share > r->most - taken)
            return false;
    } while (!atomic_compare_exchange_weak(&r->taken, &taken, taken + share));
    return true;
}

void room_give(room *r, size_t share)
{
    atomic_fetch_sub(&r->taken, share);
}
