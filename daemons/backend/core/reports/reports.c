/* SPDX-License-Identifier: Apache-2.0 */
#include "reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_EVERY_MS = 30000 };

int reports_init(reports *r, const reports_options *options)
{
    *r = (reports){.options = *options, .stats = {.flush_interval_ms = options->flush_interval_ms}};
    pthread_mutex_init(&r->lock, NULL);
    r->rows = calloc(options->refused_rows, sizeof(*r->rows));
    r->writing = calloc(options->refused_rows, sizeof(*r->writing));
    return r->rows != NULL && r->writing != NULL ? 0 : -1;
}

void reports_destroy(reports *r)
{
    free(r->rows);
    free(r->writing);
    pthread_mutex_destroy(&r->lock);
}

/* ---- rows of the ledger ---- */

static bool of_one_sender(const refusal *a, const refusal *b)
{
    return strcmp(a->sender, b->sender) == 0 && strcmp(a->cluster, b->cluster) == 0 &&
           strcmp(a->instance, b->instance) == 0;
}

static bool of_one_batch(const refusal *a, const refusal *b)
{
    return a->status == b->status && of_one_sender(a, b) && strcmp(a->code, b->code) == 0 &&
           memcmp(a->batch_id, b->batch_id, sizeof(a->batch_id)) == 0;
}

static refusal *find_row(reports *r, const refusal *like)
{
    for (size_t i = 0; i < r->count; i++) {
        if (of_one_batch(&r->rows[i], like))
            return &r->rows[i];
    }
    return NULL;
}

static size_t count_of_sender(const reports *r, const refusal *one)
{
    size_t count = 0;

    for (size_t i = 0; i < r->count; i++)
        count += of_one_sender(&r->rows[i], one);
    return count;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_to(refusal *row, const refusal *one)
{
    row->attempts = most(row->attempts, one->attempts);
    row->first_ms = least(row->first_ms, one->first_ms);
    row->last_ms = most(row->last_ms, one->last_ms);
    row->from_ms = least(row->from_ms, one->from_ms);
    row->to_ms = most(row->to_ms, one->to_ms);
}

/* Adds to the row of `to`, which is for several batches. If there is none yet, `to` becomes the
 * row. */
static void sum_into(reports *r, const refusal *to, const refusal *one)
{
    refusal *row = find_row(r, to);

    r->stats.summed++;
    if (row == NULL) {
        r->rows[r->count++] = *to;
        return;
    }
    add_to(row, one);
    row->batches += one->batches;
    row->body_bytes += one->body_bytes;
    row->windows += one->windows;
    row->rows += one->rows;
}

/* Whether there is room for a row of one batch; the rest is reserved for one row of each status
 * that names no sender. */
static bool has_room(const reports *r)
{
    return r->count + OUTCOME_COUNT < r->options.refused_rows;
}

static void sum_up(reports *r, const refusal *one)
{
    refusal to = *one;

    memset(to.batch_id, 0, sizeof(to.batch_id));
    if (find_row(r, &to) == NULL && !has_room(r)) {
        to.sender[0] = to.cluster[0] = to.node[0] = to.instance[0] = to.code[0] = '\0';
        snprintf(to.message, sizeof(to.message),
                 "More were refused at once than the ledger has rows for.");
    }
    sum_into(r, &to, one);
}

void reports_refused(reports *r, const refusal *one)
{
    static const uint8_t none[sizeof(one->batch_id)];

    pthread_mutex_lock(&r->lock);
    bool has_id = memcmp(one->batch_id, none, sizeof(none)) != 0;
    refusal *row = has_id ? find_row(r, one) : NULL;
    if (row != NULL)
        add_to(row, one);
    else if (has_id && has_room(r) && count_of_sender(r, one) < REFUSALS_OF_SENDER)
        r->rows[r->count++] = *one;
    else
        sum_up(r, one);
    pthread_mutex_unlock(&r->lock);
}

/* ---- writing ---- */

/* Begins a write. Takes the rows to write: those whose write failed before, else all collected
 * ones. Returns how many there are. */
static size_t take_rows(reports *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->writing_count == 0) {
        refusal *empty = r->writing;
        r->writing = r->rows;
        r->writing_count = r->count;
        r->rows = empty;
        r->count = 0;
    }
    size_t count = r->writing_count;
    r->began_ms = r->options.now_ms(r->options.clock);
    pthread_mutex_unlock(&r->lock);
    return count;
}

/* Returns the interval at which so many collectors keep to the number of batches per second. */
static uint64_t interval_for(const reports_options *o, uint64_t collectors)
{
    uint64_t spread_ms = (collectors * 1000 + o->batches_per_second - 1) / o->batches_per_second;

    return most(o->flush_interval_ms, least(spread_ms, FLUSH_INTERVAL_MAX_MS));
}

static int count_collectors(reports *r, store_error *err)
{
    const store *s = &r->options.store;
    uint64_t now_ms = r->options.now_ms(r->options.clock), collectors = 0;

    if (r->counted_ms != 0 && now_ms - r->counted_ms < COUNT_EVERY_MS)
        return 0;
    uint64_t since_ms = now_ms > r->options.silent_ms ? now_ms - r->options.silent_ms : 0;
    int rc = s->reports->count_collectors(s->self, since_ms, &collectors, err);
    if (rc != 0)
        return rc;
    pthread_mutex_lock(&r->lock);
    r->counted_ms = now_ms;
    r->stats.collectors = collectors;
    r->stats.flush_interval_ms = interval_for(&r->options, collectors);
    pthread_mutex_unlock(&r->lock);
    return 0;
}

int reports_flush(reports *r, store_error *err)
{
    const store *s = &r->options.store;
    size_t count = take_rows(r);
    int rc = s->reports->flush(s->self, r->writing, count, err);

    pthread_mutex_lock(&r->lock);
    r->stats.flushes++;
    r->stats.failures += rc != 0;
    r->writing_count = rc == 0 ? 0 : count;
    /* A row that the store will never take must not keep collectors from sending batches. */
    r->failed = rc != 0 && rc != STORE_ERR_FAILED;
    pthread_mutex_unlock(&r->lock);
    if (rc == 0)
        rc = count_collectors(r, err);
    pthread_mutex_lock(&r->lock);
    r->began_ms = 0;
    pthread_mutex_unlock(&r->lock);
    return rc;
}

bool reports_are_late(reports *r)
{
    uint64_t now_ms = r->options.now_ms(r->options.clock);

    pthread_mutex_lock(&r->lock);
    bool late = r->failed || (r->began_ms != 0 && now_ms > r->began_ms + r->options.late_ms);
    pthread_mutex_unlock(&r->lock);
    return late;
}

uint64_t reports_flush_interval(reports *r)
{
    return reports_read(r).flush_interval_ms;
}

reports_stats reports_read(reports *r)
{
    pthread_mutex_lock(&r->lock);
    reports_stats stats = r->stats;
    pthread_mutex_unlock(&r->lock);
    return stats;
}
