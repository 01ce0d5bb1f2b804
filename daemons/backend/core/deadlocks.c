/* SPDX-License-Identifier: Apache-2.0 */
/* Builds deadlocks from their sightings: when each was first and last seen, and whether and how it
 * ended. */
#include <stdlib.h>

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <contract/intern.h>

#include "threads.h"

enum { SIGHTINGS_MAX = 20000 };

typedef struct deadlock_reader {
    thread_report *report;
    uint64_t cycle; /* 0: all */
} deadlock_reader;

static deadlock_entry *find_or_add(thread_report *r, const sighting_row *row)
{
    deadlock_entry *last = r->deadlock_count > 0 ? &r->deadlocks[r->deadlock_count - 1] : NULL;

    if (last != NULL && last->target == row->target && last->cycle == row->cycle)
        return last;
    if (array_reserve((void **)&r->deadlocks, &r->deadlock_room, r->deadlock_count,
                      sizeof(*last)) != 0)
        return NULL;
    last = &r->deadlocks[r->deadlock_count];
    *last = (deadlock_entry){.key = row->key,
                             .target = row->target,
                             .cycle = row->cycle,
                             .first_ms = row->first_ms,
                             .last_ms = row->last_ms,
                             .inferred = row->inferred != 0};
    if (copies_keep(&r->copies, &last->key.cluster) != 0 ||
        copies_keep(&r->copies, &last->key.namespace_name) != 0 ||
        copies_keep(&r->copies, &last->key.workload) != 0)
        return NULL;
    r->deadlock_count++;
    return last;
}

static int add_thread(thread_report *r, deadlock_entry *to, const sighting_row *row)
{
    size_t bytes = (to->thread_count + 1) * sizeof(*row);
    sighting_row *threads = copies_take(&r->copies, bytes);

    if (threads == NULL)
        return -1;
    for (size_t i = 0; i < to->thread_count; i++)
        threads[i] = to->threads[i];
    sighting_row *last = &threads[to->thread_count];
    *last = *row;
    if (copies_keep(&r->copies, &last->name) != 0 ||
        copies_keep(&r->copies, &last->lock_class) != 0 ||
        copies_keep(&r->copies, &last->stack_id) != 0)
        return -1;
    to->threads = threads;
    to->thread_count++;
    return 0;
}

static int on_sighting(void *context, const sighting_row *row)
{
    const deadlock_reader *in = context;

    if (in->cycle != 0 && row->cycle != in->cycle)
        return 0;
    deadlock_entry *to = find_or_add(in->report, row);
    return to != NULL ? add_thread(in->report, to, row) : -1;
}

/* ---- how it ended ---- */

static void end(deadlock_entry *one, uint64_t ended_ms, const char *reason)
{
    one->ended_ms = ended_ms;
    one->end_reason = reason;
}

static const target_entry *find_target(const target_list *targets, const deadlock_entry *one)
{
    for (size_t i = 0; i < targets->count; i++) {
        const target_entry *target = &targets->items[i];
        if (target->target == one->target && text_equal(text_of(target->cluster), one->key.cluster))
            return target;
    }
    return NULL;
}

/*
 * Judges how a deadlock ended. If a later snapshot does not show it, it was resolved; a probable
 * one is found by stacks and by CPU time since the snapshot before, so that other snapshots say
 * nothing about it. If no later snapshot of its JVM exists, the JVM ended, or nothing has looked at
 * it since. The last report on the JVM says when it ended, or, if newer reports lack the JVM, when
 * it was last known to run.
 */
static void judge(deadlock_entry *one, const snapshot_source *source, const target_list *targets,
                  uint64_t silent_before_ms)
{
    const target_entry *target = find_target(targets, one);
    uint64_t looked_ms = source == NULL ? 0 : one->inferred ? source->whole_ms : source->last_ms;

    if (looked_ms > one->last_ms)
        end(one, looked_ms, "resolved");
    else if (target != NULL && target->state == TARGET_STATE_EXITED)
        end(one, target->observed_ms > one->last_ms ? target->observed_ms : one->last_ms,
            "jvm_ended");
    else if (target != NULL ? target->reason == REASON_COLLECTOR_SILENT
                            : one->last_ms < silent_before_ms)
        end(one, one->last_ms, "collector_silent");
}

static query_code judge_all(const query *q, const store_filter *filter, thread_report *out,
                            store_error *err)
{
    target_list targets = {NULL, 0};
    query_meta ignored = {0};
    store_filter wide = *filter;
    uint64_t now_ms = q->now_ms(q->clock);

    wide.limit = SIGHTINGS_MAX;
    query_code code = query_judged_targets(q, &wide, &targets, &ignored, err);
    for (size_t i = 0; i < out->deadlock_count && code == QUERY_OK; i++)
        judge(&out->deadlocks[i], report_source(out, out->deadlocks[i].target), &targets,
              now_ms > q->silent_ms ? now_ms - q->silent_ms : 0);
    target_list_free(&targets);
    return code;
}

/* ---- stacks ---- */

static query_code read_stacks(const query *q, const store_filter *filter, thread_report *out,
                              store_error *err)
{
    thread_entries list = {NULL, 0, 0};
    const thread_entries *const lists[] = {&list};
    query_code code = QUERY_OK;

    for (size_t i = 0; i < out->deadlock_count && code == QUERY_OK; i++) {
        for (size_t k = 0; k < out->deadlocks[i].thread_count; k++) {
            const thread_row row = {.stack_id = out->deadlocks[i].threads[k].stack_id};
            if (report_add(out, &list, &row) == NULL)
                code = QUERY_UNAVAILABLE;
        }
    }
    if (code == QUERY_OK)
        code = report_read_stacks(q, filter, out, lists, 1, err);
    free(list.items);
    return code;
}

query_code query_deadlocks(const query *q, const store_filter *filter, uint64_t cycle,
                           thread_report *out, query_meta *meta, store_error *err)
{
    const deadlock_reader reader = {out, cycle};
    store_filter wide = *filter;

    wide.limit = SIGHTINGS_MAX;
    /* Read the snapshots first: a snapshot taken between the two reads must not look as if it saw
     * no deadlock. */
    query_code code = query_sources(q, filter, out, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(q->store.threads->read_sightings(q->store.self, &wide, on_sighting,
                                                              (void *)(uintptr_t)&reader, err));
    if (code == QUERY_OK && out->deadlock_count > 0)
        code = judge_all(q, filter, out, err);
    if (out->deadlock_count > filter->limit) {
        meta->nodes_omitted += out->deadlock_count - filter->limit;
        meta->truncated = true;
        out->deadlock_count = (size_t)filter->limit;
    }
    return code == QUERY_OK ? read_stacks(q, filter, out, err) : code;
}
