/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what is wanted of each JVM, by its pod or by the rules, and the phase that follows. */
#include "collector_impl.h"
#include "spans.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdio.h>
#include <string.h>

static unsigned chosen_targets(const collector *self)
{
    unsigned chosen = 0;
    for (const target *one = self->targets; one != NULL; one = one->next)
        chosen += one->phase != PHASE_OFF;
    return chosen;
}

/* Whether the verdict rules profiling out. A JVM that loads no agent can use its own recorder. */
static bool is_barred(uint32_t verdict)
{
    return verdict != REASON_NONE && verdict != REASON_DYNAMIC_AGENT_LOADING_DISABLED;
}

void collector__judge(collector *self, target *one)
{
    uint64_t ready = one->jvm.start_ms + one->rule.startup_delay_ms;
    if (!one->rule.profiled) {
        collector__set_state(one, PHASE_OFF, one->off_reason, one->off_detail);
    } else if (is_barred(one->jvm.verdict)) {
        collector__set_state(one, PHASE_OFF, one->jvm.verdict, one->jvm.detail);
    } else if (one->phase == PHASE_OFF && chosen_targets(self) >= self->options.max_targets) {
        collector__set_state(one, PHASE_OFF, REASON_TARGET_LIMIT, "limits.targets is reached");
    } else if (ready > self->ports.now_ms(self->ports.context)) {
        collector__set_state(one, PHASE_WARMING, REASON_WARMING_UP, one->warning);
        one->due_ms = ready;
    } else {
        collector__set_state(one, PHASE_STARTING, REASON_NONE, one->warning);
        one->due_ms = 0;
    }
}

/*
 * Applies a pod's decision. If the pod asks for nothing, the rules decide and the pod's identity
 * stays. A pod that is unknown, says off, or whose time has ended is left alone, whatever the rules
 * say.
 */
static void apply(target *one, const target_labels *labels, const policy_decision *decision)
{
    bool from_pod = decision->mode != POLICY_OFF || decision->reason != REASON_DISABLED;
    one->rule.labels = *labels;
    (void)snprintf(one->off_detail, sizeof(one->off_detail),
                   "no annotation of the pod or its namespace asks for it, and no rule");
    (void)snprintf(one->warning, sizeof(one->warning), "%s", decision->error);
    if (!from_pod)
        return;
    one->rule.profiled = decision->mode != POLICY_OFF;
    one->rule.events = decision->events;
    one->rule.startup_delay_ms = decision->startup_delay_ms;
    one->rule.threads_ms = decision->threads_interval_ms;
    one->rule.contention = decision->contention_monitoring;
    if (decision->interval_ms > 0)
        one->window_ms = (uint32_t)decision->interval_ms;
    one->until_ms = decision->mode == POLICY_TEMPORARY ? decision->until_ms : 0;
    one->off_reason = decision->reason;
    (void)snprintf(one->off_detail, sizeof(one->off_detail), "%s",
                   decision->error[0] != '\0' ? decision->error : decision->source);
}

static bool may_be_demanded(const target *one)
{
    if (one->rule.profiled)
        return true;
    return !one->rule.off &&
           (one->off_reason == REASON_DISABLED || one->off_reason == REASON_EXPIRED);
}

/* Applies a profile on demand, which overrides rules and annotations except their "off". */
static void apply_demand(target *one, uint64_t now)
{
    enum { WINDOW_MS = 10000, THREADS_MS = 5000 }; /* the values of any temporary */
    if (now >= one->demand_until_ms)
        one->demand_until_ms = 0;
    if (one->demand_until_ms == 0 || !may_be_demanded(one))
        return;
    one->rule.profiled = true;
    one->rule.events = one->demand_events;
    one->rule.startup_delay_ms = 0;
    one->rule.threads_ms = THREADS_MS;
    one->window_ms = WINDOW_MS;
    one->until_ms = one->demand_until_ms;
}

void collector__decide(collector *self, target *one)
{
    char user[64] = "";
    target_labels labels;
    policy_decision decision;
    self->ports.user_name(self->ports.context, one->jvm.uid, user, sizeof(user));
    rule_set_match(self->rules, &one->jvm, user, &one->rule);
    one->window_ms = self->options.window_ms;
    one->until_ms = 0;
    one->warning[0] = '\0';
    one->off_reason = REASON_DISABLED;
    (void)snprintf(one->off_detail, sizeof(one->off_detail), "no rule chooses this process");
    if (self->ports.decide != NULL &&
        self->ports.decide(self->ports.context, &one->jvm, &labels, &decision))
        apply(one, &labels, &decision);
    apply_demand(one, self->ports.now_ms(self->ports.context));
}

static target *find_pid(collector *self, uint32_t host_pid)
{
    target *one = self->targets;
    while (one != NULL && one->jvm.id.host_pid != host_pid)
        one = one->next;
    return one;
}

collector_demand collector_profile_until(collector *self, uint32_t host_pid,
                                         const event_intervals *events, uint64_t until_ms)
{
    pthread_mutex_lock(&self->lock);
    target *one = find_pid(self, host_pid);
    collector_demand answer = one == NULL            ? DEMAND_NO_JVM
                              : may_be_demanded(one) ? DEMAND_TAKEN
                                                     : DEMAND_OFF;
    if (answer == DEMAND_TAKEN) {
        one->demand_events = *events;
        one->demand_until_ms = until_ms;
        self->policy_changed = true;
    }
    pthread_mutex_unlock(&self->lock);
    self->ports.wake(self->ports.context);
    return answer;
}

collector_demand collector_profile_stop(collector *self, uint32_t host_pid)
{
    pthread_mutex_lock(&self->lock);
    target *one = find_pid(self, host_pid);
    bool was_asked = one != NULL && one->demand_until_ms != 0;
    if (was_asked) {
        one->demand_until_ms = 0;
        self->policy_changed = true;
    }
    pthread_mutex_unlock(&self->lock);
    self->ports.wake(self->ports.context);
    return was_asked ? DEMAND_TAKEN : DEMAND_NO_JVM;
}

uint32_t collector__mode(const target *one)
{
    if (one->rule.profiled)
        return one->until_ms != 0 ? TARGET_MODE_TEMPORARY : TARGET_MODE_CONTINUOUS;
    return one->off_reason == REASON_POD_UNKNOWN ? TARGET_MODE_UNKNOWN : TARGET_MODE_OFF;
}

static bool same_events(const event_intervals *a, const event_intervals *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static void reconsider(collector *self, target *one)
{
    rule_verdict before = one->rule;
    uint32_t window_ms = one->window_ms, mode = collector__mode(one);
    uint64_t until_ms = one->until_ms;
    bool runs = one->phase == PHASE_PROFILING || one->phase == PHASE_COOLDOWN;
    collector__decide(self, one);
    if (mode != collector__mode(one) || until_ms != one->until_ms)
        self->ports.status_changed(self->ports.context);
    if (before.threads_ms != one->rule.threads_ms)
        one->snapshot_due_ms = 0; /* at once, then at the borders of the new interval */
    if (!runs && one->phase != PHASE_STOPPING) {
        collector__judge(self, one);
    } else if (runs && (!one->rule.profiled || !same_events(&before.events, &one->rule.events))) {
        /* The last window still has the events of its recording. */
        one->stopping_events = before.events;
        one->phase = PHASE_STOPPING;
        one->due_ms = 0;
    } else if (one->phase == PHASE_PROFILING && one->window_ms != window_ms) {
        /* The current window ends at the next border of the new length. */
        one->due_ms =
            span_next(self->ports.now_ms(self->ports.context), one->window_ms, one->jitter_ms);
    } else if (one->phase == PHASE_PROFILING && one->reason == REASON_NONE) {
        collector__set_state(one, one->phase, one->reason, one->warning);
    }
}

uint64_t collector__reconsider(collector *self, uint64_t now)
{
    bool all = self->policy_changed;
    uint64_t next = UINT64_MAX;
    self->policy_changed = false;
    for (target *one = self->targets; one != NULL; one = one->next) {
        bool is_over = one->until_ms != 0 && now >= one->until_ms;
        if ((all || is_over) && one->busy)
            self->policy_changed = true; /* decide once its job has ended */
        else if (all || is_over)
            reconsider(self, one);
        if (one->until_ms != 0 && one->until_ms < next)
            next = one->until_ms;
    }
    return next;
}
