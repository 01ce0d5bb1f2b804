/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread snapshots of targets. They are independent of the session's windows, but are only taken
 * while a session runs: from JDK 21 on the JVM prints a warning if our agent is loaded before the
 * profiler's.
 */
#include "collector_impl.h"
#include "spans.h"

#include <catalogue/reason.h>
#include <stdio.h>
#include <stdlib.h>

/* The agent ends by itself after so many intervals without a snapshot. */
enum { LEASE_INTERVALS = 3 };

static uint32_t lease_of(const rule_verdict *rule)
{
    uint64_t lease = rule->threads_ms * LEASE_INTERVALS;
    return lease < UINT32_MAX ? (uint32_t)lease : UINT32_MAX;
}

/* Reads a snapshot's bytes into its plain form; a failure sets the reason and a sentence. */
static void read_bytes(const job *now, void **memory, const local_answer *answer,
                       thread_snapshot *out, uint32_t *reason, char *message, size_t size)
{
    const collector_ports *ports = &now->self->ports;
    int fd = ports->new_file(ports->context);
    if (fd < 0) {
        *reason = REASON_INTERNAL;
        (void)snprintf(message, size, "no file for the thread snapshot");
        return;
    }
    if (collector__fetch(now, answer, fd, message, size) != 0)
        *reason = REASON_INTERNAL;
    else if (ports->read_snapshot(ports->context, memory, fd, answer->size, out, message, size) !=
             0)
        *reason = REASON_PARSE_FAILED;
    ports->close_file(ports->context, fd);
}

/* Sets in the JVM's status why there is no snapshot, while its profiles go on. */
static void tell_failure(target *one, const char *message)
{
    bool changed = (one->snapshot_failure[0] != '\0') != (message[0] != '\0');
    (void)snprintf(one->snapshot_failure, sizeof(one->snapshot_failure), "%s", message);
    if (changed)
        one->owner->ports.status_changed(one->owner->ports.context);
}

/* Adds a snapshot to the batch, also one that failed, with its reason. */
static void deliver(const job *now, thread_snapshot *taken, uint32_t reason, const char *message)
{
    collector *self = now->self;
    target *one = now->on;
    uint64_t time = self->ports.now_ms(self->ports.context);
    if (reason != REASON_NONE) {
        thread_snapshot_clear(taken);
        thread_snapshot_failed(taken, time, reason);
    }
    pthread_mutex_lock(&self->lock);
    workload_stats *of = collector__workload(self, &now->rule.labels);
    of->snapshots++;
    self->stats.snapshots_short += taken->state_count < taken->meta.threads_total;
    if (reason != REASON_NONE) {
        of->snapshot_failures[reason < REASON_END ? reason : REASON_INTERNAL]++;
        collector__say(self, "pid %u: no thread snapshot: %s", now->jvm.id.host_pid, message);
    }
    tell_failure(one, reason != REASON_NONE ? message : "");
    if (collector__add_snapshot(self, &now->jvm, &now->rule.labels, taken) != 0)
        collector__say(self, "pid %u: a thread snapshot is lost: out of memory",
                       now->jvm.id.host_pid);
    uint64_t interval = now->rule.threads_ms;
    uint64_t jitter = interval > 0 ? one->jitter_ms % interval : 0;
    one->snapshot_due_ms = interval > 0 ? span_next(time, (uint32_t)interval, (uint32_t)jitter) : 0;
    pthread_mutex_unlock(&self->lock);
}

void collector__take_snapshot(void *argument)
{
    target *one = argument;
    collector *self = one->owner;
    job now = collector__begin(one);
    void *memory = one->snapshot_memory; /* only this job uses it */
    local_request request = collector__about(&now, LOCAL_THREADS);
    local_answer answer = {0};
    thread_snapshot taken = {.states = NULL};
    char message[512] = "";
    request.lease_ms = lease_of(&now.rule);
    request.contention = now.rule.contention;
    request.max_threads = self->options.max_snapshot_threads;
    collector__ask(&now, &request, &answer);
    uint32_t reason = answer.reason;
    if (reason == REASON_NONE && answer.has_handle)
        read_bytes(&now, &memory, &answer, &taken, &reason, message, sizeof(message));
    else
        (void)snprintf(message, sizeof(message), "%s", answer.detail);
    deliver(&now, &taken, reason, message);
    thread_snapshot_clear(&taken);
    local_answer_clear(&answer);
    pthread_mutex_lock(&self->lock);
    one->snapshot_memory = memory;
    one->snapping = false;
    self->jobs--;
    pthread_mutex_unlock(&self->lock);
    self->ports.wake(self->ports.context);
}
