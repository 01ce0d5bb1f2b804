/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lanes of targets. Each target has two: one for its recording session, one for its thread
 * snapshots. A lane runs one job at a time, on a thread of its own, so that a JVM that hangs delays
 * no other. When more lanes are due than may run, those that have been due longest go first.
 */
#include "collector_impl.h"

/* Returns the Unix ms at which a target's session needs a job; UINT64_MAX = never. */
static uint64_t session_due(const target *one)
{
    return one->phase == PHASE_OFF || one->busy ? UINT64_MAX : one->due_ms;
}

static uint64_t snapshot_due(const target *one)
{
    bool wanted = one->phase == PHASE_PROFILING && one->rule.threads_ms > 0 && !one->snapping;
    return wanted ? one->snapshot_due_ms : UINT64_MAX;
}

unsigned collector__lanes_running(const collector *self)
{
    unsigned running = 0;
    for (const target *one = self->targets; one != NULL; one = one->next)
        running += (unsigned)one->busy + (unsigned)one->snapping;
    return running;
}

unsigned collector__lanes_waiting(const collector *self, uint64_t now)
{
    unsigned waiting = 0;
    for (const target *one = self->targets; one != NULL; one = one->next)
        waiting += (unsigned)(session_due(one) <= now) + (unsigned)(snapshot_due(one) <= now);
    return waiting;
}

static lane_status lane_of(bool running, uint64_t due_ms)
{
    return (lane_status){.running = running, .due_ms = due_ms == UINT64_MAX ? 0 : due_ms};
}

void collector__tell_lanes(const target *one, target_status *out)
{
    out->session_lane = lane_of(one->busy, session_due(one));
    out->snapshot_lane = lane_of(one->snapping, snapshot_due(one));
}

static bool find_longest_due(const collector *self, uint64_t now, lane_job *out)
{
    uint64_t since = now + 1;
    for (target *one = self->targets; one != NULL; one = one->next) {
        if (session_due(one) < since) {
            since = session_due(one);
            *out = (lane_job){collector__step, one};
        }
        if (snapshot_due(one) < since) {
            since = snapshot_due(one);
            *out = (lane_job){collector__take_snapshot, one};
        }
    }
    return since <= now;
}

static void mark(lane_job due, bool running)
{
    if (due.run == collector__take_snapshot)
        due.on->snapping = running;
    else
        due.on->busy = running;
}

size_t collector__take_due(collector *self, uint64_t now, lane_job *due, size_t room)
{
    unsigned running = collector__lanes_running(self);
    size_t count = 0;
    while (count < room && running + count < self->options.max_lanes &&
           find_longest_due(self, now, &due[count]))
        mark(due[count++], true);
    self->jobs += (unsigned)count;
    return count;
}

void collector__put_off(collector *self, lane_job due, uint64_t until_ms)
{
    mark(due, false);
    if (due.run == collector__take_snapshot)
        due.on->snapshot_due_ms = until_ms;
    else
        due.on->due_ms = until_ms;
    self->jobs--;
    self->stats.thread_failures++;
}

uint64_t collector__next_due(const collector *self)
{
    uint64_t next = UINT64_MAX;
    if (collector__lanes_running(self) >= self->options.max_lanes)
        return next; /* the end of a job wakes the scheduler */
    for (const target *one = self->targets; one != NULL; one = one->next) {
        uint64_t session = session_due(one), snapshot = snapshot_due(one);
        uint64_t first = session < snapshot ? session : snapshot;
        next = first < next ? first : next;
    }
    return next;
}
