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
    self->drops_seen = queue_get_stats(queued).dropped;
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
    if (self->has_pending)
        batch_clear(&self->pending);
    pthread_mutex_destroy(&self->lock);
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

static bool is_due(const target *one, uint64_t now)
{
    return one->phase != PHASE_OFF && !one->busy && now >= one->due_ms;
}

static bool wants_snapshot(const target *one)
{
    return one->phase == PHASE_PROFILING && one->rule.threads_ms > 0 && !one->snapping;
}

/* A job that is due. */
typedef struct due_job {
    void (*run)(void *argument);
    target *on;
} due_job;

/* Marks what is due as running: up to `room` jobs. */
static size_t take_due(collector *self, uint64_t now, due_job *due, size_t room)
{
    size_t count = 0;
    for (target *one = self->targets; one != NULL && count + 1 < room; one = one->next) {
        if (is_due(one, now)) {
            one->busy = true;
            due[count++] = (due_job){collector__step, one};
        }
        if (wants_snapshot(one) && now >= one->snapshot_due_ms) {
            one->snapping = true;
            due[count++] = (due_job){collector__take_snapshot, one};
        }
    }
    self->jobs += (unsigned)count;
    return count;
}

static uint64_t next_time(const collector *self, uint64_t now, uint64_t next_end)
{
    uint64_t next = self->discovering ? now + self->options.discovery_ms : self->next_discovery_ms;
    if (next_end < next)
        next = next_end;
    for (const target *one = self->targets; one != NULL; one = one->next) {
        if (one->phase != PHASE_OFF && !one->busy && one->due_ms < next)
            next = one->due_ms;
        if (wants_snapshot(one) && one->snapshot_due_ms < next)
            next = one->snapshot_due_ms;
    }
    if (self->has_pending && self->pending_since_ms + self->options.flush_ms < next)
        next = self->pending_since_ms + self->options.flush_ms;
    return next;
}

uint64_t collector_tick(collector *self)
{
    enum { AT_ONCE = 64 };
    due_job due[AT_ONCE];
    uint64_t now = self->ports.now_ms(self->ports.context);
    pthread_mutex_lock(&self->lock);
    if (self->finishing) {
        pthread_mutex_unlock(&self->lock);
        return UINT64_MAX;
    }
    bool discover = !self->discovering && now >= self->next_discovery_ms;
    if (discover) {
        self->discovering = true;
        self->next_discovery_ms = now + self->options.discovery_ms;
        self->jobs++;
    }
    uint64_t next_end = collector__reconsider(self, now);
    size_t count = take_due(self, now, due, AT_ONCE);
    if (self->has_pending && now >= self->pending_since_ms + self->options.flush_ms)
        collector__flush(self);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < count; i++)
        self->ports.submit(self->ports.context, due[i].run, due[i].on);
    if (discover)
        self->ports.submit(self->ports.context, collector__discover, self);
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

void collector_set_limits(collector *self, const batch_limits *limits)
{
    pthread_mutex_lock(&self->lock);
    self->backend_limits = *limits;
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
    /* Nothing changes the list any more. A session that is left running keeps its last window,
     * which the next collector takes whole: two collectors' halves would be two windows of one
     * start. */
    for (target *one = leave ? NULL : self->targets; one != NULL; one = one->next) {
        pthread_mutex_lock(&self->lock);
        one->busy = true;
        self->jobs++;
        pthread_mutex_unlock(&self->lock);
        self->ports.submit(self->ports.context, collector__end_session, one);
    }
    while (running_jobs(self) > 0)
        idle(context);
    pthread_mutex_lock(&self->lock);
    collector__flush(self);
    pthread_mutex_unlock(&self->lock);
}

static uint32_t state_of(const target *one)
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
                           .state = state_of(one),
                           .reason = one->reason,
                           .session = one->session,
                           .mode = collector__mode(one),
                           .until_ms = one->until_ms,
                           .last_window_ms = one->last_window_ms,
                           .last_length_ms = one->last_length_ms,
                           .last_covered_ms = one->last_covered_ms};
    (void)snprintf(out->detail, sizeof(out->detail), "%s", one->detail);
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

void collector_snapshot(collector *self, status_report *out)
{
    *out = (status_report){0};
    uint64_t now = self->ports.now_ms(self->ports.context);
    pthread_mutex_lock(&self->lock);
    size_t count = 0;
    for (const target *one = self->targets; one != NULL; one = one->next)
        count++;
    out->targets = calloc(count + 1, sizeof(*out->targets));
    for (const target *one = self->targets; one != NULL && out->targets != NULL; one = one->next) {
        target_status *to = &out->targets[out->count++];
        tell(self, one, now, to);
        out->profiled += to->state == TARGET_STATE_PROFILING;
    }
    pthread_mutex_unlock(&self->lock);
}

collector_stats collector_get_stats(collector *self)
{
    pthread_mutex_lock(&self->lock);
    collector_stats stats = self->stats;
    for (const target *one = self->targets; one != NULL; one = one->next) {
        stats.jvms++;
        stats.profiling += one->phase == PHASE_PROFILING;
        stats.unknown_pods += one->reason == REASON_POD_UNKNOWN;
    }
    pthread_mutex_unlock(&self->lock);
    return stats;
}
