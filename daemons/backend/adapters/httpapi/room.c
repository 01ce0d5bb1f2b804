#include "room.h"

bool room_take(room *r, size_t bytes)
{
    size_t taken = atomic_load(&r->taken);

    do {
        if (bytes > r->most - taken)
            return false;
    } while (!atomic_compare_exchange_weak(&r->taken, &taken, taken + bytes));
    return true;
}

void room_give(room *r, size_t bytes)
{
    atomic_fetch_sub(&r->taken, bytes);
}
