/* SPDX-License-Identifier: Apache-2.0 */
#include "collector_impl.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

collector *collector_new(const collector_ports *ports, const collector_options *options,
                         const rule_set *rules, queue *queued)
{
    collector *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    self->ports = *ports;
    self->options = *options;
    self->rules = rules;
    self->queued = queued;
    self->workloads = calloc((size_t)options->max_workloads + 1, sizeof(*self->workloads));
    self->workload_count = 1;
    if (self->workloads == NULL) {
        free(self);
        return NULL;
    }
    self->clock_apart_ms = ports->now_ms(ports->context) - ports->steady_ms(ports->context);
    self->flush_phase = (uint32_t)ports->random(ports->context);
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void collector_free(collector *self)
{
    if (self == NULL)
        return;
    while (self->targets != NULL) {
        target *one = self->targets;
        self->targets = one->next;
        collector__forget(self, one);
        free(one);
    }
    collector_exits_told(self, SIZE_MAX);
    if (self->has_pending)
        batch_clear(&self->pending);
    pthread_mutex_destroy(&self->lock);
    free(self->workloads);
    free(self);
}

void collector__say(collector *self, const char *format, ...)
{
    char message[640];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    self->ports.log(self->ports.context, message);
}

void collector__set_state(target *one, phase to, uint32_t reason, const char *detail)
{
    bool changed = one->phase != to || one->reason != reason;
    one->phase = to;
    one->reason = reason;
    if (detail != one->detail)
        (void)snprintf(one->detail, sizeof(one->detail), "%s", detail);
    if (changed)
        one->owner->ports.status_changed(one->owner->ports.context);
}

void collector__forget(collector *self, target *one)
{
    if (one->memory != NULL)
        self->ports.forget(self->ports.context, one->memory);
    if (one->snapshot_memory != NULL)
        self->ports.forget_snapshot(self->ports.context, one->snapshot_memory);
}

static uint64_t next_time(const collector *self, uint64_t now, uint64_t next_end)
{
    uint64_t next = self->discovering ? now + self->options.discovery_ms : self->next_discovery_ms;
    uint64_t due = collector__next_due(self);
    if (next_end < next)
        next = next_end;
    if (due < next)
        next = due;
    if (self->has_pending && collector__flush_due(self) < next)
        next = collector__flush_due(self);
    return next;
}

/* Starts a look at the host, which has a thread of its own besides the lanes. Without a thread the
 * next look is due as usual. */
static void discover(collector *self)
{
    if (self->ports.submit(self->ports.context, collector__discover, self))
        return;
    pthread_mutex_lock(&self->lock);
    self->discovering = false;
    self->jobs--;
    self->stats.thread_failures++;
    pthread_mutex_unlock(&self->lock);
}

static void run_lane(collector *self, lane_job due, uint64_t now)
{
    enum { AGAIN_MS = 1000 };
    if (self->ports.submit(self->ports.context, due.run, due.on))
        return;
    pthread_mutex_lock(&self->lock);
    collector__put_off(self, due, now + AGAIN_MS);
    pthread_mutex_unlock(&self->lock);
}

static void move(uint64_t *time_ms, int64_t by_ms)
{
    if (*time_ms != 0 && *time_ms != UINT64_MAX)
        *time_ms = (uint64_t)((int64_t)*time_ms + by_ms);
}

/*
 * After the clock was set, shifts all due times, so that everything happens when it would have
 * happened and the current windows keep their lengths. With the lock held.
 */
static void follow_clock(collector *self, uint64_t now)
{
    enum { STEP_MS = 2000 }; /* the two clocks are read one after the other */
    uint64_t apart = now - self->ports.steady_ms(self->ports.context);
    int64_t by = (int64_t)(apart - self->clock_apart_ms);
    if (by < STEP_MS && by > -STEP_MS)
        return;
    self->clock_apart_ms = apart;
    self->clock_moved_ms += by;
    collector__say(self, "the clock was set by %lld s; windows go on by the new time",
                   (long long)by / 1000);
    move(&self->next_discovery_ms, by);
    move(&self->pending_since_ms, by);
    for (target *one = self->targets; one != NULL; one = one->next) {
        move(&one->due_ms, by);
        move(&one->snapshot_due_ms, by);
        move(&one->window_start_ms, by);
        move(&one->told_ms, by);
        move(&one->failing_since_ms, by);
        move(&one->demand_until_ms, by);
    }
}

uint64_t collector_tick(collector *self)
{
    enum { AT_ONCE = 64 };
    lane_job due[AT_ONCE];
    uint64_t now = self->ports.now_ms(self->ports.context);
    pthread_mutex_lock(&self->lock);
    if (self->finishing) {
        pthread_mutex_unlock(&self->lock);
        return UINT64_MAX;
    }
    follow_clock(self, now);
    bool is_discovery_due = !self->discovering && now >= self->next_discovery_ms;
    if (is_discovery_due) {
        self->discovering = true;
        self->next_discovery_ms = now + self->options.discovery_ms;
        self->jobs++;
    }
    uint64_t next_end = collector__reconsider(self, now);
    size_t count = collector__take_due(self, now, due, AT_ONCE);
    if (self->has_pending && now >= collector__flush_due(self))
        collector__flush(self);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < count; i++)
        run_lane(self, due[i], now);
    if (is_discovery_due)
        discover(self);
    pthread_mutex_lock(&self->lock);
    uint64_t next = next_time(self, now, next_end);
    pthread_mutex_unlock(&self->lock);
    return next;
}

void collector_policy_changed(collector *self)
{
    pthread_mutex_lock(&self->lock);
    self->policy_changed = true;
    pthread_mutex_unlock(&self->lock);
    self->ports.wake(self->ports.context);
}

void collector_set_rules(collector *self, const rule_set *rules)
{
    pthread_mutex_lock(&self->lock);
    self->rules = rules;
    self->policy_changed = true;
    pthread_mutex_unlock(&self->lock);
    self->ports.wake(self->ports.context);
}

void collector_set_limits(collector *self, const batch_limits *limits, uint64_t flush_ms)
{
    pthread_mutex_lock(&self->lock);
    self->backend_limits = *limits;
    self->backend_flush_ms = flush_ms;
    pthread_mutex_unlock(&self->lock);
}

static unsigned running_jobs(collector *self)
{
    pthread_mutex_lock(&self->lock);
    unsigned jobs = self->jobs;
    pthread_mutex_unlock(&self->lock);
    return jobs;
}

void collector_finish(collector *self, bool leave, void (*idle)(void *context), void *context)
{
    pthread_mutex_lock(&self->lock);
    self->finishing = true;
    pthread_mutex_unlock(&self->lock);
    while (running_jobs(self) > 0)
        idle(context);
    /* The list no longer changes. A session that keeps running keeps its last window, too, which
     * the next collector takes whole: with a half each, there would be two windows with one
     * start. */
    for (target *one = leave ? NULL : self->targets; one != NULL; one = one->next) {
        while (running_jobs(self) >= self->options.max_lanes)
            idle(context);
        pthread_mutex_lock(&self->lock);
        one->busy = true;
        self->jobs++;
        pthread_mutex_unlock(&self->lock);
        if (!self->ports.submit(self->ports.context, collector__end_session, one))
            collector__end_session(one);
    }
    while (running_jobs(self) > 0)
        idle(context);
    pthread_mutex_lock(&self->lock);
    collector__flush(self);
    pthread_mutex_unlock(&self->lock);
}

uint32_t collector__state(const target *one)
{
    switch (one->phase) {
    case PHASE_WARMING:
    case PHASE_STARTING:
        return TARGET_STATE_WAITING;
    case PHASE_PROFILING:
    case PHASE_STOPPING:
        return TARGET_STATE_PROFILING;
    case PHASE_COOLDOWN:
        return TARGET_STATE_FAILED;
    case PHASE_OFF:
        break;
    }
    if (one->reason == REASON_NOT_HOTSPOT || one->reason == REASON_UNSUPPORTED_JVM)
        return TARGET_STATE_UNSUPPORTED;
    if (one->reason == REASON_POD_UNKNOWN)
        return TARGET_STATE_UNKNOWN;
    return one->rule.profiled ? TARGET_STATE_FAILED : TARGET_STATE_OFF;
}

static void tell(const collector *self, const target *one, uint64_t now, target_status *out)
{
    *out = (target_status){.jvm = one->jvm,
                           .labels = one->rule.labels,
                           .observed_ms = now,
                           .state = collector__state(one),
                           .reason = one->reason,
                           .session = one->session,
                           .mode = collector__mode(one),
                           .until_ms = one->until_ms,
                           .last_window_ms = one->last_window_ms,
                           .last_length_ms = one->last_length_ms,
                           .collector_ns = one->last_collector_ns,
                           .last_covered_ms = one->last_covered_ms};
    if (one->exited_ms != 0) {
        out->state = TARGET_STATE_EXITED;
        out->reason = REASON_PROCESS_EXITED;
        out->session = SESSION_STATE_NONE;
        return;
    }
    (void)snprintf(out->detail, sizeof(out->detail), "%s", one->detail);
    collector__tell_lanes(one, out);
    if (out->state == TARGET_STATE_PROFILING && one->rule.threads_ms > 0 &&
        one->snapshot_failure[0] != '\0')
        (void)snprintf(out->detail, sizeof(out->detail), "%.200s%sno thread snapshot: %s",
                       one->detail, one->detail[0] != '\0' ? "; " : "", one->snapshot_failure);
    if (one->rule.profiled && !self->stats.attachd_reachable) {
        out->state = TARGET_STATE_FAILED;
        out->reason = REASON_ATTACHD_UNREACHABLE;
        (void)snprintf(out->detail, sizeof(out->detail), "%s", self->attachd_detail);
    } else if (out->state == TARGET_STATE_PROFILING && out->reason == REASON_NONE &&
               self->queue_full) {
        out->reason = REASON_QUEUE_FULL;
    }
}

void collector_exits_told(collector *self, size_t count)
{
    pthread_mutex_lock(&self->lock);
    for (; count > 0 && self->exited != NULL; count--) {
        target *one = self->exited;
        self->exited = one->next;
        free(one);
    }
    pthread_mutex_unlock(&self->lock);
}

void collector_snapshot(collector *self, status_report *out)
{
    *out = (status_report){0};
    uint64_t now = self->ports.now_ms(self->ports.context);
    pthread_mutex_lock(&self->lock);
    size_t count = 0;
    (void)snprintf(out->engine, sizeof(out->engine), "%s", self->engine);
    (void)snprintf(out->attachd, sizeof(out->attachd), "%s", self->attachd_detail);
    out->lack_count = self->stats.attachd_lacks;
    memcpy(out->lacks, self->lacks, sizeof(out->lacks));
    for (const target *one = self->targets; one != NULL; one = one->next)
        count++;
    for (const target *one = self->exited; one != NULL; one = one->next)
        count++;
    out->targets = calloc(count + 1, sizeof(*out->targets));
    for (const target *one = self->targets; one != NULL && out->targets != NULL; one = one->next) {
        target_status *to = &out->targets[out->count++];
        tell(self, one, now, to);
        out->profiled += to->state == TARGET_STATE_PROFILING;
    }
    for (const target *one = self->exited; one != NULL && out->targets != NULL; one = one->next) {
        tell(self, one, one->exited_ms, &out->targets[out->count++]);
        out->exited++;
    }
    pthread_mutex_unlock(&self->lock);
}

collector_stats collector_get_stats(collector *self)
{
    pthread_mutex_lock(&self->lock);
    collector_stats stats = self->stats;
    stats.lanes_running = collector__lanes_running(self);
    stats.lanes_waiting = collector__lanes_waiting(self, self->ports.now_ms(self->ports.context));
    for (const target *one = self->targets; one != NULL; one = one->next)
        stats.unknown_pods += one->reason == REASON_POD_UNKNOWN;
    pthread_mutex_unlock(&self->lock);
    return stats;
}
