/* SPDX-License-Identifier: Apache-2.0 */
/* The table of targets, on each of which one operation of a kind runs at a time. */
#include "core_impl.h"

#include <base/thread.h>
#include <catalogue/reason.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static target *find(attachd *self, const local_identity *jvm)
{
    target *one = self->targets;
    while (one != NULL && !local_identity_equal(&one->id, jvm))
        one = one->next;
    return one;
}

static target *find_or_add(attachd *self, const local_identity *jvm)
{
    target *one = find(self, jvm);
    if (one != NULL)
        return one;
    one = calloc(1, sizeof(*one));
    if (one == NULL)
        return NULL;
    one->id = *jvm;
    one->next = self->targets;
    self->targets = one;
    return one;
}

/* Removes a target that has no session and no users. */
static void forget_if_idle(attachd *self, target *one)
{
    if (one->running || one->users > 0)
        return;
    target **at = &self->targets;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    free(one);
}

static bool wait_until(attachd *self, uint64_t deadline_monotonic_ms)
{
    uint64_t now = self->ports.monotonic_ms(self->ports.context);
    if (now >= deadline_monotonic_ms)
        return false;
    struct timespec until = thread_deadline(deadline_monotonic_ms - now);
    return pthread_cond_timedwait(&self->freed, &self->lock, &until) != ETIMEDOUT;
}

target *attachd__take(attachd *self, const local_identity *jvm, lane on,
                      uint64_t deadline_monotonic_ms)
{
    pthread_mutex_lock(&self->lock);
    target *one = find_or_add(self, jvm);
    if (one != NULL) {
        one->users++;
        bool in_time = true;
        while (one->busy[on] && in_time)
            in_time = wait_until(self, deadline_monotonic_ms);
        if (one->busy[on]) {
            one->users--;
            one = NULL;
        } else {
            one->busy[on] = true;
        }
    }
    pthread_mutex_unlock(&self->lock);
    return one;
}

void attachd__give_back(attachd *self, target *one, lane on)
{
    pthread_mutex_lock(&self->lock);
    one->busy[on] = false;
    one->users--;
    forget_if_idle(self, one);
    pthread_cond_broadcast(&self->freed);
    pthread_mutex_unlock(&self->lock);
}

bool attachd__has_ended(uint32_t reason)
{
    return reason == REASON_PROCESS_EXITED || reason == REASON_IDENTITY_CHANGED;
}
