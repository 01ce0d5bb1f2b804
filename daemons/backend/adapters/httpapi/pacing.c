/* SPDX-License-Identifier: Apache-2.0 */
#include "pacing.h"

/* Moves to the second of now_ms. After a jump of the clock it starts from zero. */
static void pass(pacing *p, uint64_t now_ms)
{
    uint64_t second = now_ms / 1000;

    if (second == p->second)
        return;
    p->before = second == p->second + 1 ? p->now : (pacing_second){0};
    p->now = (pacing_second){0};
    p->second = second;
}

void pacing_admit(pacing *p, uint64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    pass(p, now_ms);
    p->now.admitted++;
    pthread_mutex_unlock(&p->lock);
}

uint32_t pacing_refuse(pacing *p, uint64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    pass(p, now_ms);
    p->now.refused++;
    uint64_t admitted = p->now.admitted + p->before.admitted;
    uint64_t wait_ms = 1000 * (p->now.refused + p->before.refused) / (admitted > 0 ? admitted : 1);
    pthread_mutex_unlock(&p->lock);
    if (wait_ms < PACING_LEAST_MS)
        return PACING_LEAST_MS;
    return wait_ms < PACING_MOST_MS ? (uint32_t)wait_ms : PACING_MOST_MS;
}
