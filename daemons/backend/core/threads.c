/* SPDX-License-Identifier: Apache-2.0 */
/* Busy and slow threads, lanes of pools, and one thread over time. */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include <contract/intern.h>
#include <xxhash.h>

/* NEWEST_MAX: most threads of the newest snapshots that are examined. CHAIN_MAX: the longest chain
 * shown. */
enum { NEWEST_MAX = 20000, CHAIN_MAX = 16 };

const char *thread_state_name(uint64_t state)
{
    static const char *const names[] = {"UNKNOWN", "NEW",           "RUNNABLE",  "BLOCKED",
                                        "WAITING", "TIMED_WAITING", "TERMINATED"};

    return names[state < sizeof(names) / sizeof(names[0]) ? state : 0];
}

/* ---- reports ---- */

static void entries_free(thread_entries *list)
{
    free(list->items);
    *list = (thread_entries){NULL, 0, 0};
}

void thread_report_free(thread_report *r)
{
    for (size_t i = 0; i < r->lock_count; i++) {
        entries_free(&r->locks[i].waiting);
        entries_free(&r->locks[i].holders);
    }
    entries_free(&r->busy);
    entries_free(&r->slow);
    entries_free(&r->lanes);
    entries_free(&r->snapshots);
    free(r->sources);
    free(r->locks);
    free(r->deadlocks);
    free(r->stacks);
    copies_free(&r->copies);
    memset(r, 0, sizeof(*r));
}

thread_entry *report_add(thread_report *report, thread_entries *to, const thread_row *row)
{
    if (array_reserve((void **)&to->items, &to->room, to->count, sizeof(*to->items)) != 0)
        return NULL;
    thread_entry *entry = &to->items[to->count];

    *entry = (thread_entry){.row = *row};
    if (copies_keep(&report->copies, &entry->row.name) != 0 ||
        copies_keep(&report->copies, &entry->row.pool) != 0 ||
        copies_keep(&report->copies, &entry->row.lock_class) != 0 ||
        copies_keep(&report->copies, &entry->row.owner) != 0 ||
        copies_keep(&report->copies, &entry->row.carries) != 0 ||
        copies_keep(&report->copies, &entry->row.stack_id) != 0)
        return NULL;
    to->count++;
    return entry;
}

static int on_source(void *context, const snapshot_source *row)
{
    thread_report *r = context;

    if (array_reserve((void **)&r->sources, &r->source_room, r->source_count,
                      sizeof(*r->sources)) != 0)
        return -1;
    snapshot_source *to = &r->sources[r->source_count];
    *to = *row;
    if (copies_keep(&r->copies, &to->key.cluster) != 0 ||
        copies_keep(&r->copies, &to->key.namespace_name) != 0 ||
        copies_keep(&r->copies, &to->key.workload) != 0 || copies_keep(&r->copies, &to->pod) != 0 ||
        copies_keep(&r->copies, &to->container) != 0 || copies_keep(&r->copies, &to->node) != 0)
        return -1;
    r->source_count++;
    return 0;
}

query_code query_sources(const query *q, const store_filter *filter, thread_report *out,
                         query_meta *meta, store_error *err)
{
    store_filter wide = *filter;

    if (out->begun)
        return QUERY_OK;
    query_code code = query_fresh(q, filter, meta, err);
    wide.limit = NEWEST_MAX;
    if (code == QUERY_OK)
        code = query_code_of(
            q->store.threads->read_sources(q->store.self, &wide, on_source, out, err));
    out->begun = code == QUERY_OK;
    return code;
}

uint64_t sources_fingerprint(const thread_report *report, const query_meta *meta)
{
    uint64_t print = meta->fingerprint;

    for (size_t i = 0; i < report->source_count; i++) {
        const snapshot_source *s = &report->sources[i];
        const uint64_t numbers[] = {s->target,  s->taken,      s->failed, s->reason,
                                    s->cut,     s->stacks_cut, s->no_cpu, s->first_ms,
                                    s->last_ms, s->failed_ms};
        print = XXH3_64bits_withSeed(numbers, sizeof(numbers), print);
    }
    return print;
}

const snapshot_source *report_source(const thread_report *r, uint64_t target)
{
    for (size_t i = 0; i < r->source_count; i++) {
        if (r->sources[i].target == target)
            return &r->sources[i];
    }
    return NULL;
}

/* ---- stacks ---- */

static int by_id(const void *a, const void *b)
{
    return memcmp(((const stack_entry *)a)->id, ((const stack_entry *)b)->id, STACK_ID_BYTES);
}

const stack_entry *report_stack(const thread_report *r, text stack_id)
{
    stack_entry wanted;

    if (stack_id.length != STACK_ID_BYTES || r->stack_count == 0)
        return NULL;
    memcpy(wanted.id, stack_id.data, STACK_ID_BYTES);
    return bsearch(&wanted, r->stacks, r->stack_count, sizeof(*r->stacks), by_id);
}

static int keep_frames(thread_report *r, stack_entry *to, const stack_row *row)
{
    stack_frame *frames = copies_take(&r->copies, row->depth * sizeof(*frames));

    if (frames == NULL)
        return -1;
    for (size_t i = 0; i < row->depth; i++) {
        frames[i] = row->frames[i];
        if (copies_keep(&r->copies, &frames[i].class_name) != 0 ||
            copies_keep(&r->copies, &frames[i].method) != 0 ||
            copies_keep(&r->copies, &frames[i].file) != 0)
            return -1;
    }
    to->frames = frames;
    to->depth = row->depth;
    return 0;
}

static int on_frames(void *context, const stack_row *row)
{
    thread_report *r = context;

    if (array_reserve((void **)&r->stacks, &r->stack_room, r->stack_count, sizeof(*r->stacks)) != 0)
        return -1;
    stack_entry *to = &r->stacks[r->stack_count];
    memcpy(to->id, row->stack_id, STACK_ID_BYTES);
    if (keep_frames(r, to, row) != 0)
        return -1;
    r->stack_count++;
    return 0;
}

static bool is_stack(text id)
{
    static const char none[STACK_ID_BYTES];

    return id.length == STACK_ID_BYTES && memcmp(id.data, none, STACK_ID_BYTES) != 0;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b, STACK_ID_BYTES);
}

/* Sorts ids and removes duplicates; returns how many are left. */
static size_t unite(const uint8_t **ids, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(ids, count, sizeof(*ids), by_bytes);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || memcmp(ids[i], ids[kept - 1], STACK_ID_BYTES) != 0)
            ids[kept++] = ids[i];
    }
    return kept;
}

query_code report_read_stacks(const query *q, const store_filter *filter, thread_report *out,
                              const thread_entries *const *lists, size_t count, store_error *err)
{
    size_t most = 0, found = 0;

    for (size_t i = 0; i < count; i++)
        most += lists[i]->count;
    const uint8_t **ids = malloc((most + 1) * sizeof(*ids));
    if (ids == NULL)
        return QUERY_UNAVAILABLE;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) {
            text id = lists[i]->items[k].row.stack_id;
            if (is_stack(id))
                ids[found++] = (const uint8_t *)id.data;
        }
    }
    found = unite(ids, found);
    int rc = query_frames(q, filter, ids, found, on_frames, out, err);
    free(ids);
    if (out->stack_count > 0)
        qsort(out->stacks, out->stack_count, sizeof(*out->stacks), by_id);
    return query_code_of(rc);
}

/* ---- reads into lists ---- */

/* A read whose rows go to one list, up to a limit. */
typedef struct gathering {
    thread_report *report;
    thread_entries *to;
    bool (*wanted)(const thread_row *row, const store_filter *filter); /* NULL: all rows */
    size_t limit, total;
    const store_filter *filter;
} gathering;

static int on_row(void *context, const thread_row *row)
{
    gathering *g = context;

    if (g->wanted != NULL && !g->wanted(row, g->filter))
        return 0;
    if (g->total++ >= g->limit)
        return 0;
    return report_add(g->report, g->to, row) != NULL ? 0 : -1;
}

/* Reads up to filter->limit rows; meta counts the rows that were seen and left out. */
static query_code gather(const query *q, thread_read what, const store_filter *filter, gathering *g,
                         query_meta *meta, store_error *err)
{
    store_filter wide = *filter;

    wide.limit = NEWEST_MAX;
    g->filter = filter;
    query_code code =
        query_code_of(q->store.threads->read_threads(q->store.self, what, &wide, on_row, g, err));
    meta->rows_scanned += g->total;
    if (g->total > g->limit) {
        meta->nodes_omitted += g->total - g->limit;
        meta->truncated = true;
    }
    return code;
}

/* ---- busy ---- */

static bool is_busy(const thread_row *row, const store_filter *filter)
{
    const diagnosed_use use = {.window_ns = row->interval_ms * 1000000,
                               .cpu_ns = row->cpu_ns,
                               .snapshots = row->snapshots,
                               .runnable = row->runnable};

    return diagnose_busy(&use, (double)filter->busy_percent);
}

static query_code read_busy(const query *q, const store_filter *filter, thread_report *out,
                            query_meta *meta, store_error *err)
{
    gathering g = {out, &out->busy, is_busy, (size_t)filter->limit, 0, NULL};
    query_code code = gather(q, THREADS_USAGE, filter, &g, meta, err);

    for (size_t i = 0; i < out->busy.count; i++)
        out->busy.items[i].confidence =
            out->busy.items[i].row.interval_ms > 0 ? EXACT_CPU : RUNNABLE_SAMPLES;
    return code;
}

static query_code read_profiled(const query *q, const store_filter *filter, thread_report *out,
                                query_meta *meta, store_error *err)
{
    gathering g = {out, &out->busy, NULL, (size_t)filter->limit, 0, NULL};
    size_t before = out->busy.count;
    query_code code = gather(q, THREADS_PROFILE, filter, &g, meta, err);

    for (size_t i = before; i < out->busy.count; i++)
        out->busy.items[i].confidence = PROFILE_ONLY;
    out->has_profile = out->busy.count > before;
    return code;
}

/* ---- slow ---- */

/* The newest snapshots of all targets, and when each thread began to wait for its lock. */
typedef struct newest {
    thread_entries threads, waits;
} newest;

text report_initialised(const thread_report *r, text stack_id)
{
    const stack_entry *stack = report_stack(r, stack_id);

    for (size_t i = 0; stack != NULL && i < stack->depth; i++) {
        if (text_equal(stack->frames[i].method, text_of("<clinit>")))
            return stack->frames[i].class_name;
    }
    return text_of("");
}

diagnosed_thread report_diagnosed(const thread_report *r, const thread_row *row)
{
    text initialised = report_initialised(r, row->stack_id);

    return (diagnosed_thread){
        .java_tid = row->java_tid,
        .state = (uint32_t)row->state,
        .flags = (uint32_t)row->flags,
        .lock_class = row->lock_class.data,
        .lock_class_length = row->lock_class.length,
        .lock_id = row->lock_id,
        .owner_tid = row->owner_tid,
        .carries_tid = row->carries_tid,
        .initialises = initialised.data,
        .initialises_length = initialised.length,
        .cpu_known = row->interval_ms > 0,
        .cpu_ns = row->cpu_ns,
    };
}

/* Returns when this thread was first seen waiting for this lock. */
static uint64_t find_since(const thread_entries *waits, const thread_row *row)
{
    for (size_t i = 0; i < waits->count; i++) {
        const thread_row *wait = &waits->items[i].row;
        if (wait->target == row->target && wait->java_tid == row->java_tid &&
            wait->lock_id == row->lock_id && text_equal(wait->lock_class, row->lock_class))
            return wait->first_ms;
    }
    return row->first_ms;
}

static int add_chain(thread_report *r, thread_entry *to, const thread_entry *threads,
                     const uint32_t *chain, size_t length)
{
    to->chain = copies_take(&r->copies, length * sizeof(*to->chain));
    if (to->chain == NULL)
        return -1;
    for (size_t i = 0; i < length; i++)
        to->chain[i] = threads[chain[i]].row.name;
    to->chain_length = length;
    return 0;
}

/* Adds the thread for which thread `i` waits: the owner of a lock, which may not be in the
 * snapshot, or the initialiser of a class. */
static void add_holder(thread_entry *to, const diagnosed_thread *all, size_t count, size_t i,
                       const thread_entry *threads)
{
    bool for_class = to->wait == WAIT_CLASS;
    size_t holder =
        for_class ? diagnose_next(all, count, i) : diagnosis_find(all, count, all[i].owner_tid);

    to->awaited_class = to->holder_state = text_of("");
    to->holder_tid = all[i].owner_tid;
    to->holder = to->row.owner;
    to->holder_kind = diagnose_holder(all, count, i);
    if (holder == count)
        return;
    to->holder_tid = all[holder].java_tid;
    to->holder = threads[holder].row.name;
    to->holder_state = text_of(thread_state_name(all[holder].state));
    if (!for_class)
        return;
    to->holder_kind = HOLDER_JAVA;
    to->awaited_class = (text){all[holder].initialises, all[holder].initialises_length};
}

static bool is_of_pool(const thread_row *row, const store_filter *filter)
{
    return filter->pool == NULL || text_equal(row->pool, text_of(filter->pool));
}

/* Adds the slow ones of the threads [first, end), which are one target's snapshot. */
static int add_slow_of(thread_report *r, const newest *n, size_t first, size_t end,
                       const store_filter *filter, size_t *total)
{
    size_t count = end - first;
    const thread_entry *threads = n->threads.items + first;
    diagnosed_thread *all = malloc(count * sizeof(*all));
    int rc = all != NULL ? 0 : -1;

    for (size_t i = 0; i < count && rc == 0; i++)
        all[i] = report_diagnosed(r, &threads[i].row);
    for (size_t i = 0; i < count && rc == 0; i++) {
        uint32_t chain[CHAIN_MAX];
        wait_kind wait = diagnose_wait(&all[i]);
        if (!wait_is_slow(wait) || !is_of_pool(&threads[i].row, filter) ||
            (*total)++ >= filter->limit)
            continue;
        thread_entry *entry = report_add(r, &r->slow, &threads[i].row);
        if (entry == NULL)
            rc = -1;
        if (rc == 0)
            rc = add_chain(r, entry, threads, chain,
                           diagnose_chain(all, count, i, chain, CHAIN_MAX));
        if (rc != 0)
            break;
        entry->wait = wait;
        entry->since_ms = find_since(&n->waits, &threads[i].row);
        add_holder(entry, all, count, i, threads);
    }
    free(all);
    return rc;
}

static query_code add_slow(thread_report *r, const newest *n, const store_filter *filter,
                           query_meta *meta)
{
    size_t total = 0;

    for (size_t first = 0, end; first < n->threads.count; first = end) {
        for (end = first + 1; end < n->threads.count && n->threads.items[end].row.target ==
                                                            n->threads.items[first].row.target;)
            end++;
        if (add_slow_of(r, n, first, end, filter, &total) != 0)
            return QUERY_UNAVAILABLE;
    }
    if (total > filter->limit) {
        meta->nodes_omitted += total - filter->limit;
        meta->truncated = true;
    }
    return QUERY_OK;
}

static query_code read_slow(const query *q, const store_filter *filter, thread_report *out,
                            query_meta *meta, store_error *err)
{
    newest n = {{NULL, 0, 0}, {NULL, 0, 0}};
    gathering threads = {out, &n.threads, NULL, NEWEST_MAX, 0, NULL};
    gathering waits = {out, &n.waits, NULL, NEWEST_MAX, 0, NULL};
    const thread_entries *const lists[] = {&n.threads};
    store_filter all_pools = *filter;

    all_pools.pool = NULL; /* a thread may wait for one of another pool */
    query_code code = gather(q, THREADS_NEWEST, &all_pools, &threads, meta, err);

    if (code == QUERY_OK)
        code = gather(q, THREADS_WAITS, filter, &waits, meta, err);
    if (code == QUERY_OK)
        code = report_read_stacks(q, filter, out, lists, 1, err);
    if (code == QUERY_OK)
        code = add_slow(out, &n, filter, meta);
    free(n.threads.items);
    free(n.waits.items);
    return code;
}

/* ---- the use cases ---- */

static bool has_snapshots(const thread_report *r)
{
    for (size_t i = 0; i < r->source_count; i++) {
        if (r->sources[i].taken > 0)
            return true;
    }
    return false;
}

query_code query_threads(const query *q, const store_filter *filter, thread_report *out,
                         query_meta *meta, store_error *err)
{
    const thread_entries *const lists[] = {&out->busy};
    query_code code = query_sources(q, filter, out, meta, err);

    if (code == QUERY_OK && !has_snapshots(out))
        return read_profiled(q, filter, out, meta, err);
    if (code == QUERY_OK)
        code = read_slow(q, filter, out, meta, err);
    if (code == QUERY_OK)
        code = read_busy(q, filter, out, meta, err);
    if (code == QUERY_OK)
        code = report_read_stacks(q, filter, out, lists, 1, err);
    return code;
}

query_code query_lanes(const query *q, const store_filter *filter, thread_report *out,
                       query_meta *meta, store_error *err)
{
    gathering lanes = {out, &out->lanes, NULL, NEWEST_MAX, 0, NULL};
    query_code code = query_sources(q, filter, out, meta, err);

    return code == QUERY_OK ? gather(q, THREADS_LANES, filter, &lanes, meta, err) : code;
}

query_code query_thread(const query *q, const store_filter *filter, thread_report *out,
                        query_meta *meta, store_error *err)
{
    gathering rows = {out, &out->snapshots, NULL, (size_t)filter->limit, 0, NULL};
    const thread_entries *const lists[] = {&out->snapshots};
    query_code code = query_sources(q, filter, out, meta, err);

    if (code == QUERY_OK)
        code = gather(q, THREADS_OF_ONE, filter, &rows, meta, err);
    if (code == QUERY_OK && out->snapshots.count == 0)
        return QUERY_NOT_FOUND;
    return code == QUERY_OK ? report_read_stacks(q, filter, out, lists, 1, err) : code;
}
