/* SPDX-License-Identifier: Apache-2.0 */
#include "threads_json.h"

#include <stdio.h>
#include <string.h>

#include <catalogue/reason.h>

#include "../answer_json.h"

/* Most names of waiters in a group; the others are only counted. */
enum { NAMES_MAX = 8 };

static json_t *json_frame(const stack_frame *frame)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:s}", "class", json_text(frame->class_name), "method",
                     json_text(frame->method), "file", json_text(frame->file), "line",
                     (json_int_t)frame->line, "kind", frame_kind_name(frame->kind));
}

static json_t *json_stack(const thread_report *r, text id)
{
    const stack_entry *stack = report_stack(r, id);
    json_t *out = json_array();

    for (size_t i = 0; stack != NULL && i < stack->depth; i++)
        json_array_append_new(out, json_frame(&stack->frames[i]));
    return out;
}

static json_t *json_lock(text name, uint64_t id, const char *kind)
{
    char hex[9];

    if (name.length == 0)
        return json_null();
    snprintf(hex, sizeof(hex), "%08llx", (unsigned long long)id & 0xffffffffu);
    return json_pack("{s:o, s:s, s:s}", "class", json_text(name), "id", hex, "kind", kind);
}

/* Makes the name of a class, "" = none. */
static json_t *json_class(text name)
{
    return name.length == 0 ? json_null() : json_text(name);
}

static json_t *json_awaited(const thread_row *row)
{
    return json_lock(
        row->lock_class, row->lock_id,
        diagnose_lock_kind((uint32_t)row->state, row->lock_class.data, row->lock_class.length));
}

static json_t *json_carried(const thread_row *row)
{
    return row->carries_tid == 0 ? json_null()
                                 : json_pack("{s:I, s:o}", "java_tid", (json_int_t)row->carries_tid,
                                             "name", json_text(row->carries));
}

/* Makes the members with which every object of a thread begins. */
static json_t *json_thread(const thread_report *r, const thread_row *row)
{
    const snapshot_source *source = report_source(r, row->target);

    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:b, s:o}", "jvm",
                     json_target_id(row->target), "pod",
                     json_text(source != NULL ? source->pod : (text){"", 0}), "container",
                     json_text(source != NULL ? source->container : (text){"", 0}), "java_tid",
                     (json_int_t)row->java_tid, "os_tid", (json_int_t)row->os_tid, "name",
                     json_text(row->name), "pool", json_text(row->pool), "daemon",
                     (int)(row->flags & 1), "carries", json_carried(row));
}

static json_t *json_states(const thread_row *row)
{
    uint64_t n = row->snapshots > 0 ? row->snapshots : 1;

    return json_pack("{s:f, s:f, s:f, s:f}", "RUNNABLE", (double)row->runnable / (double)n,
                     "BLOCKED", (double)row->blocked / (double)n, "WAITING",
                     (double)row->waiting / (double)n, "TIMED_WAITING",
                     (double)row->timed_waiting / (double)n);
}

/* ---- sources ---- */

static void add_missing(json_t *missing, const snapshot_source *source)
{
    const reason_info *reason = reason_get((unsigned)source->reason);

    if (source->failed == 0 || source->failed_ms < source->last_ms)
        return;
    json_array_append_new(
        missing,
        json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o}", "source", "snapshots", "jvm",
                  json_target_id(source->target), "pod", json_text(source->pod), "reason",
                  reason != NULL ? reason->name : "internal", "explanation",
                  reason != NULL ? reason->explanation : "", "fix",
                  reason != NULL ? reason->fix : "", "last", json_time(source->failed_ms)));
}

static json_t *json_sources(const thread_report *r)
{
    uint64_t taken = 0, cut = 0, stacks_cut = 0, no_cpu = 0;
    json_t *missing = json_array();

    for (size_t i = 0; i < r->source_count; i++) {
        taken += r->sources[i].taken;
        cut += r->sources[i].cut;
        stacks_cut += r->sources[i].stacks_cut;
        no_cpu += r->sources[i].no_cpu;
        add_missing(missing, &r->sources[i]);
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "jvms", (json_int_t)r->source_count,
                     "snapshots", (json_int_t)taken, "threads_cut", (json_int_t)cut, "stacks_cut",
                     (json_int_t)stacks_cut, "no_cpu", (json_int_t)no_cpu, "profile",
                     r->has_profile, "missing", missing);
}

/* ---- threads ---- */

static json_t *json_busy(const thread_report *r, const thread_entry *entry)
{
    static const char *const names[] = {"exact_cpu", "runnable_samples", "profile_only"};
    const thread_row *row = &entry->row;
    json_t *out = json_thread(r, row);
    double cores =
        row->interval_ms > 0 ? (double)row->cpu_ns / ((double)row->interval_ms * 1e6) : 0;

    if (out == NULL)
        return NULL;
    json_object_update_new(
        out, json_pack("{s:o, s:o, s:f, s:s, s:I, s:I, s:s, s:o}", "cpu_ns", json_sum(row->cpu_ns),
                       "interval_ms", json_sum(row->interval_ms), "cores", cores, "confidence",
                       names[entry->confidence], "snapshots", (json_int_t)row->snapshots,
                       "runnable", (json_int_t)row->runnable, "state",
                       thread_state_name(row->state), "stack", json_stack(r, row->stack_id)));
    return out;
}

/* Makes a thread id; 0 = unknown. */
static json_t *json_tid(uint64_t java_tid)
{
    return java_tid == 0 ? json_null() : json_integer((json_int_t)java_tid);
}

static json_t *json_holder(const thread_entry *entry)
{
    if (entry->holder_tid == 0 && entry->row.lock_class.length == 0)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", holder_kind_name(entry->holder_kind),
                     "java_tid", json_tid(entry->holder_tid), "name", json_text(entry->holder),
                     "state", json_text(entry->holder_state));
}

static json_t *json_slow(const thread_report *r, const thread_entry *entry)
{
    json_t *chain = json_array();
    json_t *out = json_thread(r, &entry->row);

    for (size_t i = 0; i < entry->chain_length; i++)
        json_array_append_new(chain, json_text(entry->chain[i]));
    if (out == NULL) {
        json_decref(chain);
        return NULL;
    }
    json_object_update_new(
        out,
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                  wait_kind_name(entry->wait), "state", thread_state_name(entry->row.state),
                  "since", json_time(entry->since_ms), "last_seen", json_time(entry->row.last_ms),
                  "lock", json_awaited(&entry->row), "awaited_class",
                  json_class(entry->awaited_class), "holder", json_holder(entry), "chain", chain,
                  "stack", json_stack(r, entry->row.stack_id)));
    return out;
}

json_t *json_threads(const thread_report *r)
{
    json_t *busy = json_array(), *slow = json_array();

    for (size_t i = 0; i < r->busy.count; i++)
        json_array_append_new(busy, json_busy(r, &r->busy.items[i]));
    for (size_t i = 0; i < r->slow.count; i++)
        json_array_append_new(slow, json_slow(r, &r->slow.items[i]));
    return json_pack("{s:o, s:o, s:o}", "busy", busy, "slow", slow, "sources", json_sources(r));
}

/* ---- lanes ---- */

static json_t *json_cell(const thread_row *row)
{
    json_t *cell = json_states(row);
    uint64_t n = row->snapshots > 0 ? row->snapshots : 1;

    if (cell != NULL) {
        json_object_set_new(cell, "cpu_ns", json_sum(row->cpu_ns));
        json_object_set_new(cell, "interval_ms", json_sum(row->interval_ms));
        json_object_set_new(cell, "lock_waits", json_real((double)row->lock_waits / (double)n));
    }
    return cell;
}

/* Makes the lane of `count` rows, which are of one pool and sorted by time. */
static json_t *json_lane(const thread_entry *rows, size_t count, const store_filter *filter)
{
    json_t *cells = json_array();
    uint64_t threads = 0;
    size_t at = 0;

    for (uint64_t begin = filter->from_ms; begin < filter->to_ms; begin += filter->bucket_ms) {
        if (at == count || rows[at].row.first_ms != begin) {
            json_array_append_new(cells, json_null());
            continue;
        }
        threads = rows[at].row.threads > threads ? rows[at].row.threads : threads;
        json_array_append_new(cells, json_cell(&rows[at++].row));
    }
    return json_pack("{s:o, s:I, s:o}", "pool", json_text(rows[0].row.pool), "threads",
                     (json_int_t)threads, "cells", cells);
}

json_t *json_lanes(const thread_report *r, const store_filter *filter)
{
    json_t *lanes = json_array();

    for (size_t first = 0, end; first < r->lanes.count; first = end) {
        const thread_entry *rows = &r->lanes.items[first];
        for (end = first + 1;
             end < r->lanes.count && text_equal(r->lanes.items[end].row.pool, rows->row.pool);)
            end++;
        json_array_append_new(lanes, json_lane(rows, end - first, filter));
    }
    return json_pack("{s:o, s:o, s:I, s:o, s:o}", "from", json_time(filter->from_ms), "to",
                     json_time(filter->to_ms), "bucket_ms", (json_int_t)filter->bucket_ms, "lanes",
                     lanes, "sources", json_sources(r));
}

/* ---- one thread ---- */

/* Makes the holder of the lock that the thread waited for; flags say whether the snapshot lists
 * it. */
static json_t *json_owner(const thread_report *r, const thread_row *row)
{
    const diagnosed_thread thread = report_diagnosed(r, row);
    bool listed = (thread.flags & (DIAGNOSIS_OWNER_ENDED | DIAGNOSIS_OWNER_GONE)) == 0;

    if (row->owner_tid == 0)
        return json_null();
    return json_pack("{s:s, s:I, s:o}", "kind",
                     holder_kind_name(judge_holder(&thread, listed, false)), "java_tid",
                     (json_int_t)row->owner_tid, "name", json_text(row->owner));
}

static json_t *json_moment(const thread_report *r, const thread_row *row)
{
    return json_pack("{s:o, s:s, s:o, s:I, s:o, s:o, s:o}", "time", json_time(row->first_ms),
                     "state", thread_state_name(row->state), "cpu_ns",
                     row->interval_ms > 0 ? json_sum(row->cpu_ns) : json_null(), "interval_ms",
                     (json_int_t)row->interval_ms, "lock", json_awaited(row), "owner",
                     json_owner(r, row), "stack", json_stack(r, row->stack_id));
}

json_t *json_one_thread(const thread_report *r)
{
    json_t *moments = json_array();

    for (size_t i = 0; i < r->snapshots.count; i++)
        json_array_append_new(moments, json_moment(r, &r->snapshots.items[i].row));
    return json_pack("{s:o, s:o, s:o}", "thread", json_thread(r, &r->snapshots.items[0].row),
                     "snapshots", moments, "sources", json_sources(r));
}

/* ---- locks ---- */

/* Adds waiter `i` to the group of its pool and stack, and begins that group if it is new. */
static void add_waiter(const thread_report *r, json_t *groups, const thread_row *row)
{
    json_t *stack = json_stack(r, row->stack_id), *pool = json_text(row->pool), *group = NULL;
    size_t index;

    json_array_foreach(groups, index, group)
    {
        if (!json_equal(json_object_get(group, "pool"), pool) ||
            !json_equal(json_object_get(group, "stack"), stack))
            continue;
        json_t *names = json_object_get(group, "names");
        json_int_t threads = json_integer_value(json_object_get(group, "threads"));
        json_object_set_new(group, "threads", json_integer(threads + 1));
        if (json_array_size(names) < NAMES_MAX)
            json_array_append_new(names, json_text(row->name));
        json_decref(stack);
        json_decref(pool);
        return;
    }
    json_array_append_new(groups,
                          json_pack("{s:o, s:I, s:[o], s:o}", "pool", pool, "threads",
                                    (json_int_t)1, "names", json_text(row->name), "stack", stack));
}

static json_t *json_lock_holder(const thread_report *r, const thread_entry *entry)
{
    const thread_row *row = &entry->row;
    const stack_entry *stack = report_stack(r, row->stack_id);
    bool known = row->held_kind == 1 && stack != NULL && row->held_depth < stack->depth;

    return json_pack("{s:s, s:I, s:o, s:I, s:o, s:I}", "kind", holder_kind_name(entry->holder_kind),
                     "java_tid", (json_int_t)row->java_tid, "name", json_text(row->name),
                     "snapshots", (json_int_t)row->snapshots, "stack", json_stack(r, row->stack_id),
                     "held_at", known ? (json_int_t)row->held_depth : (json_int_t)-1);
}

static json_t *json_lock_entry(const thread_report *r, const lock_entry *lock)
{
    const snapshot_source *source = report_source(r, lock->target);
    json_t *out = json_lock(lock->lock_class, lock->lock_id, lock->kind);
    json_t *holders = json_array(), *waiters = json_array();

    for (size_t i = 0; i < lock->holders.count; i++)
        json_array_append_new(holders, json_lock_holder(r, &lock->holders.items[i]));
    for (size_t i = 0; i < lock->waiting.count; i++)
        add_waiter(r, waiters, &lock->waiting.items[i].row);
    json_object_update_new(
        out, json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "jvm",
                       json_target_id(lock->target), "pod",
                       json_text(source != NULL ? source->pod : (text){"", 0}), "waits",
                       (json_int_t)lock->waits, "threads", (json_int_t)lock->waiters, "delay_ns",
                       lock->delay_ns > 0 ? json_sum(lock->delay_ns) : json_null(), "first_seen",
                       json_time(lock->first_ms), "last_seen", json_time(lock->last_ms), "holders",
                       holders, "waiters", waiters));
    return out;
}

json_t *json_locks(const thread_report *r)
{
    json_t *locks = json_array();

    for (size_t i = 0; i < r->lock_count; i++)
        json_array_append_new(locks, json_lock_entry(r, &r->locks[i]));
    return json_pack("{s:o, s:o}", "locks", locks, "sources", json_sources(r));
}

/* ---- deadlocks ---- */

static const char *kind_of(const sighting_row *row)
{
    if (row->lock_kind == 1)
        return "monitor";
    return row->lock_kind == 2
               ? "juc"
               : diagnose_lock_kind(0, row->lock_class.data, row->lock_class.length);
}

/* Makes thread `i` of a cycle, which holds the lock that the thread before it waits for. */
static json_t *json_member(const thread_report *r, const deadlock_entry *one, size_t i, bool stacks)
{
    const sighting_row *row = &one->threads[i];
    const sighting_row *before = &one->threads[i > 0 ? i - 1 : one->thread_count - 1];
    json_t *out = json_pack("{s:I, s:o, s:o, s:o, s:o}", "java_tid", (json_int_t)row->java_tid,
                            "name", json_text(row->name), "initialises",
                            json_class(report_initialised(r, row->stack_id)), "waits_for",
                            json_lock(row->lock_class, row->lock_id, kind_of(row)), "holds",
                            json_lock(before->lock_class, before->lock_id, kind_of(before)));

    if (out != NULL && stacks) {
        json_object_set_new(out, "stack", json_stack(r, row->stack_id));
        json_object_set_new(out, "waits_at", json_integer(0));
        json_object_set_new(out, "held_at", json_integer((json_int_t)row->held_depth - 1));
    }
    return out;
}

static json_t *json_cycle(const thread_report *r, const deadlock_entry *one, bool stacks)
{
    const snapshot_source *source = report_source(r, one->target);
    const text none = {"", 0};
    json_t *threads = json_array();
    char id[40];

    snprintf(id, sizeof(id), "%016llx-%016llx", (unsigned long long)one->target,
             (unsigned long long)one->cycle);
    for (size_t i = 0; i < one->thread_count; i++)
        json_array_append_new(threads, json_member(r, one, i, stacks));
    return json_pack(
        "{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "id", id,
        "inferred", (int)one->inferred, "cluster", json_text(one->key.cluster), "namespace",
        json_text(one->key.namespace_name), "workload", json_text(one->key.workload), "pod",
        json_text(source != NULL ? source->pod : none), "container",
        json_text(source != NULL ? source->container : none), "node",
        json_text(source != NULL ? source->node : none), "jvm", json_target_id(one->target), "pid",
        (json_int_t)(source != NULL ? source->pid : 0), "first_seen", json_time(one->first_ms),
        "last_seen", json_time(one->last_ms), "ended", json_time(one->ended_ms), "end_reason",
        one->end_reason != NULL ? json_string(one->end_reason) : json_null(), "threads", threads);
}

json_t *json_deadlocks(const thread_report *r)
{
    json_t *list = json_array();

    for (size_t i = 0; i < r->deadlock_count; i++)
        json_array_append_new(list, json_cycle(r, &r->deadlocks[i], false));
    return json_pack("{s:o, s:o}", "deadlocks", list, "sources", json_sources(r));
}

json_t *json_deadlock(const thread_report *r)
{
    return json_pack("{s:o, s:o}", "deadlock", json_cycle(r, &r->deadlocks[0], true), "sources",
                     json_sources(r));
}
