/* SPDX-License-Identifier: Apache-2.0 */
/* Brings the table of targets up to date with attachd's list of JVMs. */
#include "collector_impl.h"
#include "spans.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static target *find(collector *self, const local_identity *jvm)
{
    target *one = self->targets;
    while (one != NULL && !local_identity_equal(&one->jvm.id, jvm))
        one = one->next;
    return one;
}

/* Continues where the queue says that an earlier collector has read the JVM's recording. */
static void recall_position(collector *self, target *one)
{
    queue_positions known = queue_get_positions(self->queued);
    if (self->merged || known.all == NULL)
        return;
    one->inherited = true;
    for (size_t i = 0; i < known.count; i++) {
        const queue_position *at = &known.all[i];
        if (!local_identity_equal(&at->jvm.id, &one->jvm.id))
            continue;
        one->session_ms = at->session_ms;
        one->offset = one->settled = at->offset;
        one->told_ms = at->told_ms;
    }
}

/* Reports the recordings of JVMs that ended while no collector ran as lost. */
static void recall_exits(collector *self)
{
    queue_positions known = queue_get_positions(self->queued);
    for (size_t i = 0; i < known.count && !self->merged; i++) {
        const queue_position *at = &known.all[i];
        target *one = find(self, &at->jvm.id) == NULL ? calloc(1, sizeof(*one)) : NULL;
        if (one == NULL)
            continue;
        one->owner = self;
        one->jvm = at->jvm;
        one->rule = (rule_verdict){
            .labels = at->labels, .events = at->events, .threads_ms = at->threads_ms};
        one->window_start_ms = at->told_ms;
        one->next = self->targets;
        self->targets = one;
        collector__lose_snapshots(one, self->ports.now_ms(self->ports.context));
    }
}

static void add(collector *self, const local_jvm *jvm)
{
    target *one = calloc(1, sizeof(*one));
    if (one == NULL)
        return; /* the next look finds the JVM again */
    one->owner = self;
    one->jvm = *jvm;
    one->seen = true;
    one->session = SESSION_STATE_NONE;
    one->jitter_ms = span_jitter(&jvm->id, self->options.jitter_ms);
    one->reason = REASON_END; /* makes the first state a change */
    recall_position(self, one);
    one->next = self->targets;
    self->targets = one;
    collector__decide(self, one);
    collector__judge(self, one);
}

/* Whether the JVM has changed: one that has just started may have no main class at the first
 * look. */
static bool is_another(const local_jvm *before, const local_jvm *now)
{
    return before->verdict != now->verdict || before->uid != now->uid ||
           strcmp(before->main_class, now->main_class) != 0 ||
           strcmp(before->command_line, now->command_line) != 0;
}

static void update(collector *self, target *one, const local_jvm *jvm)
{
    one->seen = true;
    if (one->busy)
        return;
    bool another = is_another(&one->jvm, jvm);
    bool untouched = one->phase == PHASE_OFF || one->phase == PHASE_WARMING;
    one->jvm = *jvm;
    if (untouched && another)
        collector__decide(self, one);
    if (untouched && (another || one->reason == REASON_TARGET_LIMIT))
        collector__judge(self, one);
}

/* Keeps a target whose process has ended until a report has said so. Over a limit it is not kept:
 * the JVM is then missing from later reports, which the backend understands, too. */
static void keep_exit(collector *self, target *one)
{
    enum { EXITS_MAX = 256 };
    size_t count = 0;
    target **end = &self->exited;
    for (; *end != NULL; end = &(*end)->next)
        count++;
    if (count >= EXITS_MAX) {
        free(one);
        return;
    }
    one->exited_ms = self->ports.now_ms(self->ports.context);
    one->next = NULL;
    *end = one;
}

static void remove_gone(collector *self)
{
    for (target **at = &self->targets; *at != NULL;) {
        target *one = *at;
        if (one->seen || one->busy || one->snapping) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        if (one->inherited && one->phase != PHASE_OFF)
            one->window_start_ms = one->told_ms;
        collector__lose_gap(one, self->ports.now_ms(self->ports.context), REASON_PROCESS_EXITED);
        collector__forget(self, one);
        keep_exit(self, one);
        self->ports.status_changed(self->ports.context);
    }
}

static void merge(collector *self, const local_answer *answer)
{
    for (target *one = self->targets; one != NULL; one = one->next)
        one->seen = false;
    for (size_t i = 0; i < answer->jvm_count; i++) {
        target *one = find(self, &answer->jvms[i].id);
        if (one != NULL)
            update(self, one, &answer->jvms[i]);
        else
            add(self, &answer->jvms[i]);
    }
    recall_exits(self);
    self->merged = true;
    remove_gone(self);
}

static void note_reachable(collector *self, bool reachable, const char *detail)
{
    if (self->attachd_known && self->stats.attachd_reachable == reachable)
        return;
    self->attachd_known = true;
    self->stats.attachd_reachable = reachable;
    (void)snprintf(self->attachd_detail, sizeof(self->attachd_detail), "%s", detail);
    if (!reachable)
        collector__say(self, "%s", detail);
    self->ports.status_changed(self->ports.context);
}

/* Copies the findings of attachd's self-check into our log when they change. */
static void note_lacks(collector *self, const local_answer *answer)
{
    self->stats.workers_unreaped = answer->workers_unreaped;
    size_t count = answer->lack_count;
    if (count == self->stats.attachd_lacks &&
        memcmp(self->lacks, answer->lacks, count * sizeof(local_finding)) == 0)
        return;
    self->stats.attachd_lacks = (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        self->lacks[i] = answer->lacks[i];
        collector__say(self, "hotstack-attachd: %s: %s; %s", self->lacks[i].check,
                       self->lacks[i].message, self->lacks[i].fix);
    }
}

void collector__discover(void *argument)
{
    collector *self = argument;
    local_request request = {.op = LOCAL_LIST, .deadline_ms = self->options.call_ms};
    for (size_t i = 0; i < LOCAL_ID_SIZE; i++)
        request.id[i] = (uint8_t)self->ports.random(self->ports.context);
    local_answer answer = {0};
    char message[256] = "";
    int rc = self->ports.call(self->ports.context, &request, &answer, message, sizeof(message));
    pthread_mutex_lock(&self->lock);
    bool good = rc == CALL_DONE && answer.reason == REASON_NONE;
    if (good) {
        merge(self, &answer);
        note_lacks(self, &answer);
    }
    self->stats.discoveries++;
    self->stats.discovery_failures += !good;
    note_reachable(self, good, rc == CALL_DONE ? answer.detail : message);
    self->discovering = false;
    self->jobs--;
    pthread_mutex_unlock(&self->lock);
    local_answer_clear(&answer);
    self->ports.wake(self->ports.context);
}
