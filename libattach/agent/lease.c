/* SPDX-License-Identifier: Apache-2.0 */
#include "lease.h"

#include <stdlib.h>
#include <string.h>

void history_free(history *h)
{
    free(h->tids);
    free(h->cpu_ns);
    memset(h, 0, sizeof(*h));
}

lease *leases_find(leases *l, const char *id)
{
    for (int i = 0; i < THREADS_LEASES; i++)
        if (l->list[i].id[0] != '\0' && memcmp(l->list[i].id, id, THREADS_LEASE_ID_MAX) == 0)
            return &l->list[i];
    return NULL;
}

lease *leases_take(leases *l, const char *id)
{
    lease *item = leases_find(l, id);
    for (int i = 0; item == NULL && i < THREADS_LEASES; i++)
        if (l->list[i].id[0] == '\0') {
            item = &l->list[i];
            memcpy(item->id, id, THREADS_LEASE_ID_MAX);
        }
    return item;
}

void lease_drop(lease *item)
{
    history_free(&item->h);
    memset(item, 0, sizeof(*item));
}

unsigned leases_expire(leases *l, uint64_t now_ns)
{
    unsigned left = 0;
    for (int i = 0; i < THREADS_LEASES; i++) {
        lease *item = &l->list[i];
        if (item->id[0] != '\0' && item->end_ns <= now_ns)
            lease_drop(item);
        left += item->id[0] != '\0';
    }
    return left;
}

uint64_t leases_next_end(const leases *l)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < THREADS_LEASES; i++)
        if (l->list[i].id[0] != '\0' && l->list[i].end_ns < next)
            next = l->list[i].end_ns;
    return next;
}

bool leases_want_contention(const leases *l)
{
    for (int i = 0; i < THREADS_LEASES; i++)
        if (l->list[i].id[0] != '\0' && l->list[i].contention)
            return true;
    return false;
}
