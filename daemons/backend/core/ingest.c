/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>

#include "ingest_plan.h"
#include "reports/refusal.h"
#include "stored_size.h"

/* A batch on its way to the writer. */
typedef struct commit {
    const ingest *in;
    const profile_batch *batch;
    const char *sender;
    ingest_plan plan;
    verdict *v;
} commit;

bool scope_allows(const char *const *list, size_t count, text value)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equal(text_of(list[i]), value))
            return true;
    }
    return count == 0;
}

static void retry_for(const commit *c, const store_error *err)
{
    verdict *v = c->v;

    /* A store that was down may have lost its last writes; a store that was only busy has not. */
    if (err->code != STORE_ERR_BUSY)
        known_stacks_clear(c->in->known);
    switch (err->code) {
    case STORE_ERR_BUSY:
        verdict_retry(v, "store_busy", 2000, "The store is busy: %.400s", err->message);
        break;
    case STORE_ERR_FAILED:
        /* An operator must repair the store; the collector is not at fault and tries again. */
        verdict_retry(v, "store_unavailable", 30000, "The store refused the batch: %.400s",
                      err->message);
        break;
    default:
        verdict_retry(v, "store_unavailable", 5000, "The store does not answer: %.400s",
                      err->message);
    }
}

/* ---- on the writer's thread ---- */

/* Check 14 (docs/formats/ingest.md, section Order of checks): returns 0 to continue, -1 when the
 * verdict is filled. */
static int ask_ledger(commit *c)
{
    const store *s = &c->in->store;
    const uint8_t *id = (const uint8_t *)c->batch->batch_id.data;
    ledger_entry entry = {0};
    store_error err = {0};

    if (s->batches->find_batch(s->self, id, &entry, &err) != 0) {
        retry_for(c, &err);
        return -1;
    }
    if (!entry.found)
        return 0;
    if (memcmp(entry.digest, c->batch->digest.data, 16) != 0)
        return verdict_reject(c->v, "batch_id_reused",
                              "batch_id names a batch that was stored with another digest.");
    c->v->outcome = OUTCOME_DUPLICATE;
    return -1;
}

/* Returns the owner of the stacks of one of the batch's services, for the cache. */
static uint64_t owner_of(const commit *c, uint32_t service)
{
    return known_stacks_owner(c->in->known, &c->plan.services[service], c->batch->day);
}

/* A question to the store about `count` stacks. */
typedef struct question {
    uint64_t owner; /* the owner of the stacks in the cache */
    const uint8_t **ids;
    size_t *places; /* by stack of the question: its place among the missing ones */
    bool *found;
    size_t count;
} question;

static int question_init(question *q, uint64_t owner, size_t most)
{
    q->owner = owner;
    q->ids = malloc(most * sizeof(*q->ids));
    q->places = malloc(most * sizeof(*q->places));
    q->found = calloc(most, sizeof(*q->found));
    q->count = 0;
    return q->ids != NULL && q->places != NULL && q->found != NULL ? 0 : -1;
}

static void question_free(question *q)
{
    free(q->ids);
    free(q->places);
    free(q->found);
}

/* Adds to the question the stacks of one service that the cache does not hold. They are adjacent in
 * the batch. */
static void put_question(const commit *c, question *q, const stack_use *missing, size_t count,
                         bool *known)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *id =
            (const uint8_t *)c->batch->stack_ids.data + (size_t)missing[i].stack * STACK_ID_BYTES;
        known[i] = known_stacks_has(c->in->known, q->owner, id);
        if (known[i])
            continue;
        q->ids[q->count] = id;
        q->places[q->count++] = i;
    }
}

static void take_answer(const commit *c, const question *q, bool *known)
{
    for (size_t i = 0; i < q->count; i++) {
        known[q->places[i]] = q->found[i];
        if (q->found[i])
            known_stacks_add(c->in->known, q->owner, q->ids[i]);
    }
}

/* Asks for the missing stacks of one service, which are adjacent from `first` on. */
static int ask_service(commit *c, size_t first, size_t count, bool *known)
{
    const store *s = &c->in->store;
    const stack_use *missing = c->plan.missing + first;
    store_error err = {0};
    question q;
    int rc = question_init(&q, owner_of(c, missing->service), count);

    if (rc != 0) {
        question_free(&q);
        return check_no_memory(c->v);
    }
    put_question(c, &q, missing, count, known);
    if (q.count > 0)
        rc = s->batches->find_stacks(s->self, &c->plan.services[missing->service], c->batch->day,
                                     q.ids, q.count, q.found, &err);
    if (rc == 0)
        take_answer(c, &q, known);
    else
        retry_for(c, &err);
    question_free(&q);
    return rc != 0 ? -1 : 0;
}

static int compare_uses(const void *a, const void *b)
{
    const stack_use *left = a, *right = b;

    if (left->service != right->service)
        return left->service < right->service ? -1 : 1;
    return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static int compare_indexes(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? -1 : left > right;
}

/* Lists the stacks that some service does not have, each once. */
static int list_needed(commit *c, const bool *known)
{
    uint32_t *need = malloc((c->plan.missing_count + 1) * sizeof(*need));
    size_t count = 0, kept = 0;

    if (need == NULL)
        return check_no_memory(c->v);
    for (size_t i = 0; i < c->plan.missing_count; i++) {
        if (!known[i])
            need[count++] = c->plan.missing[i].stack;
    }
    qsort(need, count, sizeof(*need), compare_indexes);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || need[i] != need[i - 1])
            need[kept++] = need[i];
    }
    if (kept == 0) {
        free(need);
        return 0;
    }
    c->v->outcome = OUTCOME_NEED_STACKS;
    c->v->need = need;
    c->v->need_count = kept;
    return -1;
}

/* Check 15: returns 0 to continue, -1 when the verdict is filled. */
static int ask_stacks(commit *c)
{
    size_t count = c->plan.missing_count;
    bool *known = calloc(count + 1, sizeof(*known));
    int rc = known != NULL ? 0 : check_no_memory(c->v);

    qsort(c->plan.missing, count, sizeof(*c->plan.missing), compare_uses);
    for (size_t i = 0; i < count && rc == 0;) {
        size_t end = i;
        while (end < count && c->plan.missing[end].service == c->plan.missing[i].service)
            end++;
        rc = ask_service(c, i, end - i, known + i);
        i = end;
    }
    if (rc == 0)
        rc = list_needed(c, known);
    free(known);
    return rc;
}

/* Adds the stacks of a stored batch to the cache. */
static void remember_brought(const commit *c)
{
    const char *ids = c->batch->stacks.stack_ids.data;
    const stack_use *brought = c->plan.brought;
    uint64_t owner = 0;

    for (size_t i = 0; i < c->plan.brought_count; i++) {
        if (i == 0 || brought[i].service != brought[i - 1].service)
            owner = owner_of(c, brought[i].service);
        known_stacks_add(c->in->known, owner,
                         (const uint8_t *)ids + (size_t)brought[i].stack * STACK_ID_BYTES);
    }
}

static void accept(verdict *v, uint64_t rows)
{
    v->outcome = OUTCOME_ACCEPTED;
    v->rows = rows;
}

/* Returns false when the same batch is being stored, or too many batches are. */
static bool take_off(in_flight *f, const uint8_t *id)
{
    pthread_mutex_lock(&f->lock);
    bool free_to_go = f->count < IN_FLIGHT_MAX;
    for (size_t i = 0; i < f->count && free_to_go; i++)
        free_to_go = memcmp(f->ids[i], id, sizeof(f->ids[i])) != 0;
    if (free_to_go)
        memcpy(f->ids[f->count++], id, sizeof(f->ids[0]));
    pthread_mutex_unlock(&f->lock);
    return free_to_go;
}

static void land(in_flight *f, const uint8_t *id)
{
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->count; i++) {
        if (memcmp(f->ids[i], id, sizeof(f->ids[i])) == 0) {
            memmove(f->ids[i], f->ids[--f->count], sizeof(f->ids[i]));
            break;
        }
    }
    pthread_mutex_unlock(&f->lock);
}

static void commit_one(commit *c)
{
    const ingest *in = c->in;
    store_error err = {0};
    uint64_t now_ms = in->now_ms(in->clock);

    known_stacks_pass(in->known, now_ms);
    /* The ledger first: a batch that is stored already must not be rejected as too large, which
     * would make the collector split it and send it again. */
    if (ask_ledger(c) != 0 ||
        check_stored_frames(&c->batch->stacks, c->plan.brought, c->plan.brought_count, c->v) != 0 ||
        ask_stacks(c) != 0)
        return;
    batch_write write = {
        .batch = c->batch,
        .services = c->plan.services,
        .service_count = c->plan.service_count,
        .stacks = c->plan.brought,
        .stack_count = c->plan.brought_count,
        .received_ms = now_ms,
        .sender = c->sender,
    };
    if (in->store.batches->write_batch(in->store.self, &write, &err) != 0) {
        retry_for(c, &err);
        return;
    }
    remember_brought(c);
    accept(c->v, c->batch->samples.window.count);
}

static void commit_batch(void *arg)
{
    commit *c = arg;
    const uint8_t *id = (const uint8_t *)c->batch->batch_id.data;

    if (!take_off(c->in->flights, id)) {
        verdict_retry(c->v, "store_busy", 1000,
                      "This batch is being stored: ask for the outcome by sending it again.");
        return;
    }
    commit_one(c);
    land(c->in->flights, id);
}

/* ---- on the caller's thread ---- */

static void run(commit *c, void (*job)(void *arg))
{
    if (c->in->writer->run(c->in->writer_self, job, c) != 0)
        verdict_retry(c->v, "store_busy", 1000,
                      "The queue to the store is full: send the batch again.");
}

/* Whether the scope forbids the cluster. An empty cluster is not forbidden: the check of the batch
 * rejects it. */
static bool is_forbidden(const scope *allowed, const collector_id *collector)
{
    return collector->cluster.length > 0 &&
           !scope_allows(allowed->clusters, allowed->cluster_count, collector->cluster);
}

static void check_and_commit(const ingest *in, profile_batch *batch, const ingest_sender *from,
                             verdict *v)
{
    commit c = {.in = in, .batch = batch, .sender = from->name, .v = v};

    if (check_profile_batch(batch, &in->limits, in->now_ms(in->clock), v) != 0)
        return;
    if (ingest_plan_make(&c.plan, batch) != 0)
        check_no_memory(v);
    else if (check_services(c.plan.service_count, v) == 0)
        run(&c, commit_batch);
    ingest_plan_free(&c.plan);
}

/* Adds a row to the ledger for a batch that was not stored, except if it only lacks stacks, as it
 * is then sent again. */
static void note_refusal(const ingest *in, const ingest_sender *from, const profile_batch *batch,
                         const verdict *v)
{
    if (v->outcome == OUTCOME_ACCEPTED || v->outcome == OUTCOME_NEED_STACKS)
        return;
    const refusal one = refusal_of(from->name, batch, v, &in->limits, in->now_ms(in->clock));
    reports_refused(in->reports, &one);
}

bool ingest_profiles(const ingest *in, profile_batch *batch, const ingest_sender *from, verdict *v)
{
    if (is_forbidden(from->allowed, &batch->collector))
        return false;
    check_and_commit(in, batch, from, v);
    note_refusal(in, from, batch, v);
    return true;
}

void ingest_unreadable(const ingest *in, const ingest_sender *from, const verdict *v)
{
    note_refusal(in, from, NULL, v);
}

/* Sets the verdict after a report was added to the collected ones. */
static void note_gathered(int rc, const store_error *err, verdict *v)
{
    if (rc == 0)
        accept(v, 0);
    else if (rc == STORE_ERR_FAILED)
        verdict_reject(v, "payload_too_large", "%.400s", err->message);
    else
        verdict_retry(v, "store_busy", 5000, "%.400s", err->message);
}

bool ingest_status(const ingest *in, status_batch *report, const ingest_sender *from, verdict *v)
{
    store_error err = {0};

    if (is_forbidden(from->allowed, &report->collector))
        return false;
    if (check_status_batch(report, &in->limits, in->now_ms(in->clock), v) != 0)
        return true;
    if (reports_are_late(in->reports))
        verdict_retry(v, "store_unavailable", 5000,
                      "The store takes no reports of collectors now: send this one again.");
    else
        note_gathered(in->store.reports->add_status(in->store.self, report, &err), &err, v);
    return true;
}

bool ingest_heartbeat(const ingest *in, const heartbeat *beat, const ingest_sender *from,
                      verdict *v)
{
    store_error err = {0};
    uint64_t now_ms = in->now_ms(in->clock);

    if (is_forbidden(from->allowed, &beat->collector))
        return false;
    if (check_heartbeat(beat, v) == 0)
        note_gathered(in->store.reports->add_heartbeat(in->store.self, beat, now_ms, &err), &err,
                      v);
    return true;
}
