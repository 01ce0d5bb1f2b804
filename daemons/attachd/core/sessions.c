/* SPDX-License-Identifier: Apache-2.0 */
/* Ends sessions that nobody needs: those of an earlier run at the start, our own at the end. */
#include "core_impl.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdlib.h>

static bool is_claimed(attachd *self, const local_identity *jvm)
{
    pthread_mutex_lock(&self->lock);
    const target *one = self->targets;
    while (one != NULL && !local_identity_equal(&one->id, jvm))
        one = one->next;
    bool claimed = one != NULL && (one->running || one->users > 0);
    pthread_mutex_unlock(&self->lock);
    return claimed;
}

/* Takes the JVM like any operation, so that a START at that time waits and then starts a new
 * session. */
static bool sweep_one(attachd *self, const local_identity *jvm)
{
    uint64_t now = self->ports.monotonic_ms(self->ports.context);
    target *one = attachd__take(self, jvm, LANE_SESSION, now);
    if (one == NULL)
        return false;
    bool cleaned = false;
    attachd_outcome found = {0};
    if (!one->running)
        self->ports.status(self->ports.context, jvm, STOP_DEADLINE_MS, &found);
    bool ours = found.session == SESSION_STATE_OWNED || found.session == SESSION_STATE_ADOPTED ||
                found.session == SESSION_STATE_ORPHANED;
    if (ours || found.has_files) {
        attachd_outcome outcome = {0};
        self->ports.stop(self->ports.context, jvm, UINT64_MAX, -1, 0, STOP_DEADLINE_MS, &outcome);
        cleaned = outcome.reason == REASON_NONE;
        attachd__say(self, "pid %u: %s left by an earlier run %s%s", jvm->host_pid,
                     ours ? "a session" : "files",
                     cleaned ? "removed" : "could not be removed: ", cleaned ? "" : outcome.detail);
    }
    attachd__give_back(self, one, LANE_SESSION);
    return cleaned;
}

/* Whether a session can be ended. Some verdicts that forbid a new session do not forbid that. */
static bool can_be_asked(uint32_t verdict)
{
    return verdict == REASON_NONE || verdict == REASON_EXTERNAL_PROFILER ||
           verdict == REASON_DYNAMIC_AGENT_LOADING_DISABLED;
}

unsigned attachd_sweep(attachd *self)
{
    local_jvm *jvms = NULL;
    size_t count = 0;
    char detail[512] = "";
    if (self->ports.list(self->ports.context, &jvms, &count, detail, sizeof(detail)) !=
        REASON_NONE) {
        attachd__say(self, "cannot look for what an earlier run left: %s", detail);
        return 0;
    }
    unsigned cleaned = 0;
    for (size_t i = 0; i < count; i++) {
        if (can_be_asked(jvms[i].verdict) && !is_claimed(self, &jvms[i].id))
            cleaned += sweep_one(self, &jvms[i].id);
    }
    free(jvms);
    return cleaned;
}

/* Takes the first session whose lease has ended, like any operation; NULL when there is none. */
static target *take_expired(attachd *self, uint64_t now)
{
    local_identity id;
    bool found = false;
    pthread_mutex_lock(&self->lock);
    for (const target *one = self->targets; one != NULL && !found; one = one->next) {
        found = one->running && !one->busy[LANE_SESSION] &&
                now - one->asked_ms >= self->limits.lease_ms;
        if (found)
            id = one->id;
    }
    pthread_mutex_unlock(&self->lock);
    return found ? attachd__take(self, &id, LANE_SESSION, now) : NULL;
}

unsigned attachd_expire(attachd *self)
{
    unsigned stopped = 0;
    target *one;
    uint64_t now = self->ports.monotonic_ms(self->ports.context);
    if (self->limits.lease_ms == 0)
        return 0;
    while ((one = take_expired(self, now)) != NULL) {
        bool over = one->running && now - one->asked_ms >= self->limits.lease_ms;
        if (over) {
            attachd_outcome outcome = {0};
            self->ports.stop(self->ports.context, &one->id, UINT64_MAX, -1, 0, STOP_DEADLINE_MS,
                             &outcome);
            bool done = outcome.reason == REASON_NONE || attachd__has_ended(outcome.reason);
            /* A session that cannot be stopped ends by itself: try only once. */
            one->running = false;
            stopped += done;
            attachd__say(self, "pid %u: nobody asked for its session in time: %s", one->id.host_pid,
                         done ? "stopped" : outcome.detail);
        }
        attachd__give_back(self, one, LANE_SESSION);
    }
    return stopped;
}

typedef struct stopping {
    attachd *self;
    pthread_mutex_t lock;
    target *next;
    unsigned failed;
} stopping;

static target *next_running(stopping *all)
{
    pthread_mutex_lock(&all->lock);
    target *one = all->next;
    while (one != NULL && !one->running)
        one = one->next;
    all->next = one != NULL ? one->next : NULL;
    pthread_mutex_unlock(&all->lock);
    return one;
}

static void *stop_some(void *argument)
{
    stopping *all = argument;
    attachd *self = all->self;
    for (target *one = next_running(all); one != NULL; one = next_running(all)) {
        attachd_outcome outcome = {0};
        self->ports.stop(self->ports.context, &one->id, UINT64_MAX, -1, 0, STOP_DEADLINE_MS,
                         &outcome);
        one->running = false;
        if (outcome.reason == REASON_NONE || attachd__has_ended(outcome.reason))
            continue;
        attachd__say(self, "pid %u: the session could not be stopped: %s", one->id.host_pid,
                     outcome.detail);
        pthread_mutex_lock(&all->lock);
        all->failed++;
        pthread_mutex_unlock(&all->lock);
    }
    return NULL;
}

unsigned attachd_stop_sessions(attachd *self)
{
    enum { SIDE_BY_SIDE = 8 };
    stopping all = {.self = self, .next = self->targets};
    pthread_mutex_init(&all.lock, NULL);
    pthread_t threads[SIDE_BY_SIDE];
    unsigned started = 0;
    while (started < SIDE_BY_SIDE && pthread_create(&threads[started], NULL, stop_some, &all) == 0)
        started++;
    if (started == 0)
        stop_some(&all);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&all.lock);
    return all.failed;
}
