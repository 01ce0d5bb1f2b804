/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the sums of a chunk to the aggregate: by stack, and with several threads if that is faster.
 */
#include <stdlib.h>

#include "cache.h"

/* The effect of the caps does not depend on how the rows were divided into parts, because blocks
 * begin at the same stacks and intern all of their stacks before adding any row. */
static int add_block(recording_cache *c, uint32_t first, uint32_t end)
{
    const uint32_t *begins = c->info->begins;
    uint32_t used[RECORDING_STACKS];
    size_t used_count = 0;
    for (uint32_t i = first; i < end && i < c->stack_count; i++) {
        if (begins[i + 1] > begins[i])
            used[used_count++] = i;
    }
    int rc = recording__make_room(c);
    if (rc == 0)
        rc = recording__map_stacks(c, used, used_count);
    return rc == 0 ? recording__add_rows(c, first, end) : rc;
}

/* As recording__add_rows, but also interns the stacks. */
static int add_range(recording_cache *c, uint32_t from, uint32_t to)
{
    int rc = 0;
    for (uint32_t at = from; rc == 0 && at < to; at += RECORDING_STACKS) {
        uint32_t end = to - at < RECORDING_STACKS ? to : at + RECORDING_STACKS;
        if (c->info->begins[end] > c->info->begins[at])
            rc = add_block(c, at, end);
    }
    return rc;
}

static uint32_t used_stacks(const recording_cache *c)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < c->stack_count; i++)
        used += c->info->begins[i + 1] > c->info->begins[i];
    return used;
}

/* Sizes the aggregate for the first chunk, whose counts are known before it is added. Later chunks
 * mostly add the same stacks. */
static void expect(const recording_cache *c)
{
    if (sagg_stack_count(c->agg) <= SAGG_DROPPED + 1)
        sagg_expect(c->agg, used_stacks(c), c->info->row_count);
}

/* ---- shares: stacks of one chunk added by several threads ---- */

/* A thread pays off from this many rows on. */
enum { LEAST_SHARE = 4096 };

/* The stacks from `from` up to `to`, which one thread adds. The first share is added to the
 * recording's aggregate, each other one to an aggregate of its own, which is then merged. */
typedef struct share {
    recording_cache own;
    recording_cache *c; /* its own or the recording's; NULL = no memory for one */
    uint32_t from, to;  /* stacks */
    int rc;
} share;

/* jfr_work */
static void add_share(void *context, uint32_t index)
{
    share *s = (share *)context + index;
    s->rc = s->c != NULL ? add_range(s->c, s->from, s->to) : 0;
}

/* Returns the first stack of the block that has row `at`. */
static uint32_t block_of(const recording_cache *c, uint32_t at)
{
    uint32_t low = 0;
    uint32_t high = c->stack_count;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (c->info->begins[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low / RECORDING_STACKS * RECORDING_STACKS;
}

static uint32_t thread_count(const recording_cache *c)
{
    uint32_t most = c->info->row_count / LEAST_SHARE;
    uint32_t threads = c->rec->options.threads;
    return most < 1 || threads < 1 ? 1 : most < threads ? most : threads;
}

/* Returns whether no cap is near. Only then do shares give the same result as one thread, because
 * each share knows only its own stacks. */
static bool can_share(const recording_cache *c)
{
    const recording_options *o = &c->rec->options;
    uint32_t tag;
    sagg_str text;
    bool many_labels = o->objects && (c->class_count >= SAGG_MAX_LABELS / 16 ||
                                      sagg_label_at(c->agg, SAGG_MAX_LABELS / 2, &tag, &text));
    uint64_t stacks = (uint64_t)sagg_stack_count(c->agg) + used_stacks(c);
    uint64_t threads = (uint64_t)sagg_thread_count(c->agg) + c->thread_count;
    return !many_labels && stacks < recording__max_stacks(c->rec) &&
           threads < (o->max_threads != 0 ? o->max_threads : RECORDING_MAX_THREAD_ROWS);
}

static void open_share(share *s, const recording_cache *first, uint32_t count)
{
    const recording *rec = first->rec;
    uint64_t cap = recording__max_bytes(rec);
    uint64_t used = sagg_bytes(first->agg);
    sagg *agg;
    if (used >= cap / 2 || recording__new_aggregate(rec, &agg, (cap - used) / (2 * count)) != 0)
        return;
    s->c = recording__cache_init(&s->own, rec, agg, first->chunk, first->sums) ? &s->own : NULL;
    s->own.lock = first->lock;
}

static void close_share(share *s)
{
    sagg_free(s->own.agg);
    recording__cache_free(&s->own);
}

/* Returns whether the share dropped no rows, and the recording's aggregate can take them without
 * reaching a cap. */
static bool is_exact(const recording_cache *c, const share *s)
{
    if (s->c == NULL)
        return false;
    sagg_loss loss = sagg_losses(s->c->agg);
    return s->rc == 0 && !sagg_full(s->c->agg) && loss.stacks_dropped == 0 &&
           loss.samples_dropped == 0 && loss.threads_folded == 0 &&
           sagg_bytes(c->agg) + sagg_bytes(s->c->agg) < recording__max_bytes(c->rec) / 2;
}

static void take_counts(recording_cache *to, const recording_cache *from)
{
    to->bad_stacks += from->bad_stacks;
    for (unsigned type = 0; type < PROFILE_TYPE_END; type++)
        to->truncated_raw[type] += from->truncated_raw[type];
}

/* Merges a share or, if it is not exact, adds its rows again. */
static int join_share(recording_cache *c, const share *s, bool exact)
{
    if (!exact)
        return add_range(c, s->from, s->to);
    take_counts(c, s->c);
    return sagg_merge(c->agg, s->c->agg, NULL);
}

static void divide(const recording_cache *c, share *shares, uint32_t count)
{
    uint64_t rows = c->info->row_count;
    for (uint32_t i = 0; i < count; i++) {
        shares[i].from = i == 0 ? 0 : block_of(c, (uint32_t)(rows * i / count));
        shares[i].to = c->stack_count + 1;
        if (i > 0)
            shares[i - 1].to = shares[i].from;
    }
}

static int add_shares(recording_cache *c, uint32_t count, recording_lock *lock)
{
    share shares[RECORDING_MAX_THREADS] = {0};
    divide(c, shares, count);
    c->lock = lock;
    shares[0].c = c;
    for (uint32_t i = 1; i < count; i++)
        open_share(&shares[i], c, count);
    recording__parallel_for(NULL, count, add_share, shares);
    c->lock = NULL;
    int rc = shares[0].rc;
    bool exact = !sagg_full(c->agg);
    for (uint32_t i = 1; i < count; i++) {
        /* From the first inexact share on the caps apply, so all rows are added again in order. */
        exact = exact && is_exact(c, &shares[i]);
        if (rc == 0)
            rc = join_share(c, &shares[i], exact);
        close_share(&shares[i]);
    }
    return rc;
}

int recording__add_sums(recording_cache *c)
{
    uint32_t threads = thread_count(c);
    expect(c);
    recording_lock *lock = threads > 1 && can_share(c) ? recording__lock_new() : NULL;
    int rc = lock != NULL ? add_shares(c, threads, lock) : add_range(c, 0, c->stack_count + 1);
    recording__lock_free(lock);
    return rc == 0 ? recording__add_seconds(c) : rc;
}
