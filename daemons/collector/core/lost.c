/* SPDX-License-Identifier: Apache-2.0 */
/* Time in which nothing was recorded becomes windows without rows, with the reason. */
#include "collector_impl.h"

#include <catalogue/reason.h>

void collector__add_lost(target *one, const event_intervals *events, uint64_t from_ms,
                         uint64_t to_ms, uint32_t reason)
{
    collector *self = one->owner;
    profile_part parts[EVENTS];
    profile nothing = {.parts = parts};
    for (unsigned i = 0; i < EVENTS; i++) {
        if (events->of[i] != 0)
            parts[nothing.part_count++] = (profile_part){.source = event_source((event_id)i)};
    }
    for (uint64_t at = from_ms; at < to_ms;) {
        uint64_t midnight = (at / MS_PER_DAY + 1) * MS_PER_DAY;
        uint64_t end = to_ms < midnight ? to_ms : midnight;
        const window_span span = {.start_ms = at,
                                  .length_ms = (uint32_t)(end - at),
                                  .reason = reason != REASON_NONE ? reason : REASON_INTERNAL};
        if (collector__add_profile(self, &one->jvm, &one->rule.labels, &span, &nothing) != 0)
            return; /* the queue counts the failure */
        one->told_ms = end;
        self->stats.windows_lost++;
        self->stats.window_ms += span.length_ms;
        collector__workload(self, &one->rule.labels)->window_ms += span.length_ms;
        at = end;
    }
}

void collector__lose_snapshots(target *one, uint64_t time_ms)
{
    collector *self = one->owner;
    thread_snapshot lost;
    if (one->rule.threads_ms == 0)
        return;
    thread_snapshot_failed(&lost, time_ms, REASON_COLLECTOR_RESTARTED);
    (void)collector__add_snapshot(self, &one->jvm, &one->rule.labels, &lost);
}

void collector__lose_gap(target *one, uint64_t until_ms, uint32_t reason)
{
    uint64_t since = one->window_start_ms != 0 ? one->window_start_ms : one->failing_since_ms;
    if (since != 0)
        collector__add_lost(one, &one->rule.events, since, until_ms, reason);
    one->failing_since_ms = 0;
}
