/* SPDX-License-Identifier: Apache-2.0 */
#include "uploader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct uploader {
    uploader_ports ports;
    uploader_options options;
    queue *queued;
    uint64_t backoff_ms;     /* 0 = the last call succeeded */
    uint64_t not_before_ms;  /* no call before then; all times by ports.steady_ms */
    uint64_t all_stacks_for; /* sequence of the entry that needs all its stacks */
    uint64_t in_doubt_up_to; /* sequence: an earlier process may have sent the entries up to it */
    uint64_t tried;          /* sequence of the entry whose last try failed */
    uint32_t tries;          /* of that entry */
    uint64_t first_try_ms;   /* of that entry */
    uint64_t started_ms;     /* Unix time */
    uint64_t next_heartbeat_ms;
    uint64_t next_status_ms;
    uint64_t last_status_ms;
    bool status_put_off;         /* the last report failed: a batch goes before the next one */
    uint64_t report_interval_ms; /* as the backend last sent it; 0 = it has not */
    uint64_t blocked_generation;
    pthread_mutex_t lock; /* guards the following members */
    bool status_dirty;
    uploader_stats stats;
};

uploader *uploader_new(const uploader_ports *ports, const uploader_options *options, queue *queued)
{
    uploader *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    self->ports = *ports;
    self->options = *options;
    self->queued = queued;
    self->in_doubt_up_to = queue_get_stats(queued).newest;
    self->started_ms = ports->now_ms(ports->context);
    self->status_dirty = true;
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void uploader_free(uploader *self)
{
    if (self == NULL)
        return;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void uploader_status_changed(uploader *self)
{
    pthread_mutex_lock(&self->lock);
    self->status_dirty = true;
    pthread_mutex_unlock(&self->lock);
}

uploader_stats uploader_get_stats(uploader *self)
{
    pthread_mutex_lock(&self->lock);
    uploader_stats stats = self->stats;
    pthread_mutex_unlock(&self->lock);
    return stats;
}

static void say(uploader *self, const char *what, const upload_answer *answer)
{
    char message[480];
    (void)snprintf(message, sizeof(message), "%s: %s%s%s", what, answer->code,
                   answer->code[0] != '\0' ? ": " : "", answer->message);
    self->ports.log(self->ports.context, message);
}

/* Doubles the wait up to a bound, and waits between half of it and all of it. */
static void back_off(uploader *self, uint64_t now, uint64_t asked_ms)
{
    uint64_t wait = self->backoff_ms == 0 ? self->options.backoff_min_ms : self->backoff_ms * 2;
    self->backoff_ms = wait < self->options.backoff_max_ms ? wait : self->options.backoff_max_ms;
    wait =
        self->backoff_ms / 2 + self->ports.random(self->ports.context) % (self->backoff_ms / 2 + 1);
    if (asked_ms > 0) /* the backend knows best; a little jitter spreads the collectors */
        wait = asked_ms + self->ports.random(self->ports.context) % (asked_ms / 8 + 1);
    self->not_before_ms = now + wait;
}

static void block(uploader *self, const upload_answer *answer)
{
    self->blocked_generation = self->ports.token_generation(self->ports.context);
    say(self, "uploads stop until the token changes", answer);
}

/* Handles the part of an answer that is the same for all calls. Returns true when a backend took
 * the call. */
static bool note_answer(uploader *self, const upload_answer *answer)
{
    uint64_t now = self->ports.steady_ms(self->ports.context);
    bool refused = answer->refusal == UPLOAD_UNAUTHORISED;
    bool good = answer->outcome != UPLOAD_NO_ANSWER && answer->outcome != UPLOAD_RETRY;
    pthread_mutex_lock(&self->lock);
    bool was_reachable = self->stats.reachable;
    self->stats.reachable = answer->outcome != UPLOAD_NO_ANSWER;
    self->stats.blocked = refused;
    if (answer->has_limits) {
        self->stats.limits = answer->limits;
        self->stats.flush_interval_ms = answer->flush_interval_ms;
        self->report_interval_ms = answer->report_interval_ms;
    }
    self->stats.failed_calls += !good;
    (void)snprintf(self->stats.last_error, sizeof(self->stats.last_error), "%s%s%s",
                   good ? "" : answer->code, !good && answer->code[0] != '\0' ? ": " : "",
                   good ? "" : answer->message);
    pthread_mutex_unlock(&self->lock);
    if (good) {
        /* A backend that asks for stacks again and again fails, too. */
        if (answer->outcome != UPLOAD_NEED_STACKS)
            self->backoff_ms = 0;
        self->not_before_ms = 0;
        return true;
    }
    if (refused)
        block(self, answer);
    else if (was_reachable || self->backoff_ms == 0)
        say(self, "the backend did not take a call; it is tried again", answer);
    back_off(self, now, answer->retry_after_ms);
    return false;
}

static void count(uploader *self, uint64_t *counter, uint64_t amount)
{
    pthread_mutex_lock(&self->lock);
    *counter += amount;
    pthread_mutex_unlock(&self->lock);
}

static void acknowledge(uploader *self, const queue_entry *entry)
{
    entry_sums sums = {0};
    bool known =
        self->ports.note_stored(self->ports.context, entry->bytes, entry->length, &sums) == 0;
    queue_remove(self->queued, entry->sequence);
    pthread_mutex_lock(&self->lock);
    self->stats.last_success_ms = self->ports.now_ms(self->ports.context);
    self->stats.rows += sums.rows;
    for (unsigned source = 0; source < PROFILE_SOURCE_END; source++)
        profile_sum_add(&self->stats.sent[source], &sums.of[source]);
    pthread_mutex_unlock(&self->lock);
    if (known && self->ports.settled != NULL)
        self->ports.settled(self->ports.context, &sums, NULL);
}

/*
 * A process that is killed while it splits a batch may leave the batch and one of its halves in the
 * queue. The ids of the halves are hashes of the batch's id, so that the next process makes the
 * same half again, and the backend stores it once.
 */
static void half_id(const uint8_t whole[BATCH_ID_SIZE], unsigned half, uint8_t id[BATCH_ID_SIZE])
{
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits_withSeed(whole, BATCH_ID_SIZE, half));
    memcpy(id, hash.digest, BATCH_ID_SIZE);
}

static int encode(uploader *self, batch *one, uint8_t **out, size_t *length)
{
    return batch_order(one) == 0 ? self->ports.encode(self->ports.context, one, out, length) : -1;
}

/* Replaces an entry with two batches that have new ids. Returns false when it has one window
 * only. */
static bool split_entry(uploader *self, const queue_entry *entry)
{
    batch whole;
    batch parts[2];
    uint8_t ids[2][BATCH_ID_SIZE];
    uint8_t *bytes[2] = {NULL, NULL};
    size_t lengths[2] = {0, 0};
    if (self->ports.decode(self->ports.context, entry->bytes, entry->length, &whole) != 0)
        return false;
    half_id(whole.id, 0, ids[0]);
    half_id(whole.id, 1, ids[1]);
    bool good = batch_split(&whole, &parts[0], &parts[1], ids[0], ids[1]) == 0;
    for (size_t i = 0; i < 2 && good; i++)
        good = encode(self, &parts[i], &bytes[i], &lengths[i]) == 0;
    const queue_bytes halves[2] = {{bytes[0], lengths[0]}, {bytes[1], lengths[1]}};
    good = good && queue_replace(self->queued, entry->sequence, halves) == 0;
    free(bytes[0]);
    free(bytes[1]);
    batch_clear(&parts[0]);
    batch_clear(&parts[1]);
    batch_clear(&whole);
    return good;
}

static bool is_too_large(const upload_answer *answer)
{
    return strcmp(answer->code, "payload_too_large") == 0 ||
           strcmp(answer->code, "too_many_rows") == 0 || answer->refusal == UPLOAD_TOO_LARGE;
}

/* Returns the known facts about a batch that is lost. */
static entry_sums sum_lost(uploader *self, const queue_entry *entry)
{
    entry_sums sums = {0};
    batch lost;
    if (self->ports.decode(self->ports.context, entry->bytes, entry->length, &lost) != 0)
        return sums;
    memcpy(sums.id, lost.id, BATCH_ID_SIZE);
    sums.rows = lost.row_count;
    for (size_t i = 0; i < lost.window_count; i++)
        profile_sum_add(&sums.of[lost.windows[i].part.source], &lost.windows[i].part.total);
    batch_clear(&lost);
    return sums;
}

static void reject(uploader *self, const queue_entry *entry, enum drop_cause cause,
                   const upload_answer *answer)
{
    if (is_too_large(answer) && split_entry(self, entry)) {
        count(self, &self->stats.split, 1);
        return;
    }
    entry_sums sums = sum_lost(self, entry);
    say(self, cause == DROP_DAMAGED ? "a batch is dropped" : "the backend rejected a batch",
        answer);
    count(self, &self->stats.rejected, 1);
    queue_drop(self->queued, entry->sequence, cause);
    if (self->ports.settled != NULL)
        self->ports.settled(self->ports.context, &sums,
                            answer->code[0] != '\0' ? answer->code : "rejected");
}

static void settle(uploader *self, const queue_entry *entry, const upload_answer *answer)
{
    switch (answer->outcome) {
    case UPLOAD_ACCEPTED:
        count(self, &self->stats.accepted, 1);
        acknowledge(self, entry);
        return;
    case UPLOAD_DUPLICATE:
        count(self, &self->stats.duplicate, 1);
        acknowledge(self, entry);
        return;
    case UPLOAD_REJECTED:
        reject(self, entry, DROP_REJECTED, answer);
        return;
    case UPLOAD_NEED_STACKS:
        count(self, &self->stats.need_stacks, 1);
        if (self->all_stacks_for ==
            entry->sequence) /* it had all stacks: sending them again does not help */
            back_off(self, self->ports.steady_ms(self->ports.context), 0);
        self->all_stacks_for = entry->sequence;
        return;
    case UPLOAD_RETRY:
    case UPLOAD_NO_ANSWER:
        if (is_too_large(answer))
            reject(self, entry, DROP_REJECTED, answer);
        else
            count(self, &self->stats.retried, 1);
        return;
    }
}

/* After the first try the backend may have stored a part of the batch. */
static entry_tries tries_of(const uploader *self, uint64_t sequence)
{
    bool is_same = self->tried == sequence;
    uint64_t now = self->ports.steady_ms(self->ports.context);
    return (entry_tries){
        .attempt = 1 + (is_same ? self->tries : 0) + (sequence <= self->in_doubt_up_to ? 1 : 0),
        .waited_ms = is_same ? now - self->first_try_ms : 0,
    };
}

static void note_try(uploader *self, uint64_t sequence, const upload_answer *answer)
{
    if (answer->outcome != UPLOAD_RETRY && answer->outcome != UPLOAD_NO_ANSWER)
        return; /* refused, or stacks are needed: nothing was stored */
    if (self->tried != sequence)
        self->first_try_ms = self->ports.steady_ms(self->ports.context);
    self->tries = self->tried == sequence ? self->tries + 1 : 1;
    self->tried = sequence;
}

static bool send_entry(uploader *self)
{
    queue_entry entry;
    if (!queue_peek(self->queued, &entry))
        return false;
    uint8_t *bytes = NULL;
    size_t size = 0;
    upload_answer answer = {0};
    const entry_tries tries = tries_of(self, entry.sequence);
    bool all_stacks = self->all_stacks_for == entry.sequence;
    if (self->ports.pack_entry(self->ports.context, entry.bytes, entry.length, all_stacks, &tries,
                               &bytes, &size) != 0) {
        (void)snprintf(answer.code, sizeof(answer.code), "queue_damaged");
        (void)snprintf(answer.message, sizeof(answer.message), "the queued file cannot be read");
        reject(self, &entry, DROP_DAMAGED, &answer);
    } else {
        self->ports.post(self->ports.context, UPLOAD_PROFILES, bytes, size, &answer);
        note_answer(self, &answer);
        note_try(self, entry.sequence, &answer);
        settle(self, &entry, &answer);
    }
    free(bytes);
    free(entry.bytes);
    return true;
}

static heartbeat make_heartbeat(uploader *self)
{
    status_report report = {0};
    self->ports.snapshot(self->ports.context, &report);
    pthread_mutex_lock(&self->lock);
    heartbeat beat = {.sent_ms = self->ports.now_ms(self->ports.context),
                      .started_ms = self->started_ms,
                      .queued = queue_get_stats(self->queued),
                      .split_batches = self->stats.split,
                      .last_success_ms = self->stats.last_success_ms,
                      .jvms_seen = (uint32_t)(report.count - report.exited),
                      .jvms_profiled = (uint32_t)report.profiled};
    pthread_mutex_unlock(&self->lock);
    (void)snprintf(beat.engine, sizeof(beat.engine), "%s", report.engine);
    status_report_clear(&report);
    return beat;
}

/* Returns the set interval, or a shorter one that the backend needs in order not to take this
 * collector for silent. */
static uint64_t report_interval(const uploader *self, uint64_t set_ms)
{
    uint64_t told_ms = self->report_interval_ms;
    return told_ms != 0 && told_ms < set_ms ? told_ms : set_ms;
}

static void send_heartbeat(uploader *self, uint64_t now)
{
    const heartbeat beat = make_heartbeat(self);
    uint8_t *bytes = NULL;
    size_t length = 0;
    upload_answer answer = {0};
    if (self->ports.encode_heartbeat(self->ports.context, &beat, &bytes, &length) == 0) {
        self->ports.post(self->ports.context, UPLOAD_HEARTBEAT, bytes, length, &answer);
        if (note_answer(self, &answer))
            self->next_heartbeat_ms =
                now + report_interval(self, self->options.heartbeat_interval_ms);
        if (answer.outcome == UPLOAD_ACCEPTED)
            queue_forget_drops(self->queued, &beat.queued);
        if (answer.outcome == UPLOAD_REJECTED)
            say(self, "the backend rejected a heartbeat", &answer);
    }
    free(bytes);
}

static void send_status(uploader *self, uint64_t now)
{
    pthread_mutex_lock(&self->lock);
    self->status_dirty = false;
    pthread_mutex_unlock(&self->lock);
    status_report report = {0};
    self->ports.snapshot(self->ports.context, &report);
    uint8_t *bytes = NULL;
    size_t length = 0;
    upload_answer answer = {0};
    bool good = false;
    if (self->ports.encode_status(self->ports.context, &report, &bytes, &length) == 0) {
        self->ports.post(self->ports.context, UPLOAD_STATUS, bytes, length, &answer);
        good = note_answer(self, &answer);
    }
    free(bytes);
    if (good)
        self->ports.reported(self->ports.context, &report);
    status_report_clear(&report);
    self->last_status_ms = now;
    self->status_put_off = !good;
    if (good)
        self->next_status_ms = now + report_interval(self, self->options.status_interval_ms);
    else
        uploader_status_changed(self);
    if (answer.outcome == UPLOAD_REJECTED)
        say(self, "the backend rejected a status report", &answer);
}

/* Returns when the next status report is due. */
static uint64_t status_due(uploader *self)
{
    pthread_mutex_lock(&self->lock);
    bool dirty = self->status_dirty;
    pthread_mutex_unlock(&self->lock);
    uint64_t soon = self->last_status_ms + self->options.status_gap_ms;
    return dirty && soon < self->next_status_ms ? soon : self->next_status_ms;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_blocked(uploader *self)
{
    pthread_mutex_lock(&self->lock);
    bool blocked = self->stats.blocked;
    pthread_mutex_unlock(&self->lock);
    if (!blocked || self->ports.token_generation(self->ports.context) == self->blocked_generation)
        return blocked;
    pthread_mutex_lock(&self->lock);
    self->stats.blocked = false;
    pthread_mutex_unlock(&self->lock);
    self->not_before_ms = 0;
    return false;
}

uint64_t uploader_step(uploader *self)
{
    enum { IDLE_MS = 1000 };
    uint64_t now = self->ports.steady_ms(self->ports.context);
    if (is_blocked(self))
        return now + IDLE_MS;
    if (now < self->not_before_ms)
        return earlier(self->not_before_ms, now + IDLE_MS);
    if (now >= self->next_heartbeat_ms) {
        send_heartbeat(self, now);
        return self->not_before_ms;
    }
    if (now >= status_due(self) && !self->status_put_off) {
        send_status(self, now);
        return self->not_before_ms;
    }
    self->status_put_off = false;
    if (send_entry(self))
        return self->not_before_ms;
    return earlier(earlier(self->next_heartbeat_ms, status_due(self)), now + IDLE_MS);
}

bool uploader_has_work(uploader *self)
{
    return !is_blocked(self) && queue_get_stats(self->queued).entries > 0;
}

void status_report_clear(status_report *report)
{
    free(report->targets);
    *report = (status_report){0};
}
