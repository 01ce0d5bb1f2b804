/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots as JSON: docs/formats/threads-json.md. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/threads/threads.h"

#define CHAIN_MAX 256

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void set_counter(json_t *object, const char *key, uint64_t value)
{
    if (value != ATTACH_THREADS_UNKNOWN)
        set(object, key, json_integer((json_int_t)value));
}

static json_t *lock_json(const attach_thread_lock *lock)
{
    return json_pack("{s:s, s:I}", "class", lock->class_name, "identity_hash",
                     (json_int_t)lock->identity_hash);
}

static json_t *reference_json(const attach_thread *thread)
{
    return json_pack("{s:I, s:s}", "java_tid", (json_int_t)thread->java_tid, "name", thread->name);
}

/* ---- stacks ---- */

static json_t *held_at(const attach_thread *thread, size_t depth)
{
    json_t *list = NULL;
    for (size_t i = 0; i < thread->n_held; i++) {
        if (thread->held[i].synchronizer || thread->held[i].depth != depth)
            continue;
        if (list == NULL)
            list = json_array();
        (void)json_array_append_new(list, lock_json(thread->held[i].lock));
    }
    return list;
}

static json_t *frame_json(const attach_thread_frame *frame)
{
    json_t *object = json_pack("{s:s, s:s}", "class", frame->class_name, "method", frame->method);
    if (frame->file[0] != '\0')
        set(object, "file", json_string(frame->file));
    if (frame->line > 0)
        set(object, "line", json_integer(frame->line));
    if (frame->native)
        set(object, "native", json_true());
    return object;
}

static json_t *stack_json(const threads_view *view, const attach_thread *thread)
{
    json_t *list = json_array();
    for (size_t i = 0; i < thread->n_frames; i++) {
        json_t *frame = frame_json(attach_threads_frame(view->now, thread->frames[i]));
        json_t *held = held_at(thread, i);
        if (held != NULL)
            set(frame, "locked", held);
        (void)json_array_append_new(list, frame);
    }
    return list;
}

static json_t *owned_json(const attach_thread *thread)
{
    json_t *list = json_array();
    for (size_t i = 0; i < thread->n_held; i++)
        if (thread->held[i].synchronizer)
            (void)json_array_append_new(list, lock_json(thread->held[i].lock));
    return list;
}

static json_t *why_json(uint32_t why)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = {{ATTACH_STACK_BUSY, "busy"},       {ATTACH_STACK_BLOCKED, "blocked"},
                 {ATTACH_STACK_OWNER, "owner"},     {ATTACH_STACK_DEADLOCKED, "deadlocked"},
                 {ATTACH_STACK_STALLED, "stalled"}, {ATTACH_STACK_SAMPLED, "sampled"},
                 {ATTACH_STACK_FULL, "full"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (why & words[i].bit)
            (void)json_array_append_new(list, json_string(words[i].word));
    return list;
}

/* ---- threads ---- */

static void set_flags(json_t *object, uint32_t flags)
{
    set(object, "daemon", json_boolean(flags & ATTACH_THREAD_DAEMON));
    if (flags & ATTACH_THREAD_NATIVE)
        set(object, "in_native", json_true());
    if (flags & ATTACH_THREAD_SUSPENDED)
        set(object, "suspended", json_true());
    if (flags & ATTACH_THREAD_CARRIER)
        set(object, "carrier", json_true());
    if (flags & ATTACH_THREAD_DEADLOCKED)
        set(object, "deadlocked", json_true());
    if (flags & ATTACH_THREAD_STACK_CUT)
        set(object, "stack_cut", json_true());
}

/* Makes a holder's object; unknown members are left out. */
static json_t *holder_json(const threads_holder *holder)
{
    json_t *object = json_pack("{s:s}", "kind", holder_kind_name(holder->kind));
    if (holder->java_tid == 0)
        return object;
    set(object, "java_tid", json_integer((json_int_t)holder->java_tid));
    set(object, "name", json_string(holder->name));
    return object;
}

static json_t *chain_json(const threads_view *view, size_t index)
{
    uint32_t chain[CHAIN_MAX];
    json_t *list = json_array();
    size_t n = diagnose_chain(view->threads, view->count, index, chain, CHAIN_MAX);
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, reference_json(attach_threads_at(view->now, chain[i])));
    return list;
}

static void set_wait(json_t *object, const threads_view *view, const threads_row *row)
{
    const attach_thread *thread = row->thread;
    const char *class_name;
    const attach_thread *by = threads_initialiser(view, row->index, &class_name);
    set(object, "wait", json_string(wait_kind_name(row->wait)));
    if (thread->lock != NULL)
        set(object, "lock", lock_json(thread->lock));
    if (!wait_is_slow(row->wait))
        return;
    if (by != NULL)
        set(object, "awaited_class", json_string(class_name));
    const threads_holder holder = by == NULL
                                      ? threads_holder_of(view, row->index)
                                      : (threads_holder){HOLDER_JAVA, by->java_tid, by->name, by};
    if (by != NULL || row->wait != WAIT_CLASS)
        set(object, "holder", holder_json(&holder));
    set(object, "holder_chain", chain_json(view, row->index));
}

static json_t *carried_json(const attach_thread *thread)
{
    return json_pack("{s:I, s:s}", "java_tid", (json_int_t)thread->carries_tid, "name",
                     thread->carries_name);
}

static json_t *row_json(const threads_view *view, const threads_row *row)
{
    const attach_thread *thread = row->thread;
    json_t *object = reference_json(thread);
    if (thread->os_tid != 0)
        set(object, "os_tid", json_integer(thread->os_tid));
    set(object, "state", json_string(attach_thread_state_name(thread->state)));
    set_flags(object, thread->flags);
    set_counter(object, "cpu_ns", row->cpu_ns);
    if (view->seconds > 0 && row->cpu_ns != ATTACH_THREADS_UNKNOWN)
        set(object, "cpu_share", json_real(row->share));
    set_counter(object, "user_ns", row->user_ns);
    set_counter(object, "allocated_bytes", row->allocated_bytes);
    set_counter(object, "blocked_count", thread->blocked_count);
    set_counter(object, "waited_count", thread->waited_count);
    set_counter(object, "blocked_ms", thread->blocked_ms);
    set_counter(object, "waited_ms", thread->waited_ms);
    if (thread->carries_tid != 0)
        set(object, "carries", carried_json(thread));
    set_wait(object, view, row);
    if (!thread->has_stack)
        return object;
    set(object, "why", why_json(thread->why));
    set(object, "stack", stack_json(view, thread));
    if (attach_threads_meta_of(view->now)->full)
        set(object, "owns", owned_json(thread));
    return object;
}

static json_t *rows_json(const threads_view *view, threads_list which)
{
    json_t *list = json_array();
    for (size_t i = 0; i < view->n[which]; i++)
        (void)json_array_append_new(list, row_json(view, &view->rows[which][i]));
    return list;
}

/* ---- locks and deadlocks ---- */

static json_t *lock_group_json(const threads_view *view, const diagnosed_lock *lock)
{
    json_t *waiters = json_array();
    size_t teller = lock->waiters[0];
    for (size_t i = 0; i < lock->waiter_count; i++) {
        size_t index = lock->waiters[i];
        if (view->threads[index].owner_tid == lock->holder_tid)
            teller = index;
        (void)json_array_append_new(waiters,
                                    json_integer((json_int_t)view->threads[index].java_tid));
    }
    const threads_holder holder = threads_holder_of(view, teller);
    json_t *object = lock_json(attach_threads_at(view->now, teller)->lock);
    set(object, "holder", holder_json(&holder));
    set(object, "waiters", waiters);
    return object;
}

static json_t *locks_json(const threads_view *view)
{
    json_t *list = json_array();
    for (size_t i = 0; i < view->locks.count; i++)
        (void)json_array_append_new(list, lock_group_json(view, &view->locks.items[i]));
    return list;
}

/* Makes the object of the lock or class that a thread of a cycle waits for. */
static json_t *wanted_json(const threads_view *view, size_t index)
{
    const attach_thread *thread = attach_threads_at(view->now, index);
    const char *class_name;
    if (thread->lock != NULL)
        return lock_json(thread->lock);
    (void)threads_initialiser(view, index, &class_name);
    return json_pack("{s:s}", "awaited_class", class_name);
}

static json_t *cycle_json(const threads_view *view, const diagnosed_cycle *cycle)
{
    json_t *threads = json_array(), *locks = json_array();
    char id[17];
    (void)snprintf(id, sizeof(id), "%016" PRIx64, cycle->id);
    for (size_t i = 0; i < cycle->count; i++) {
        size_t index = cycle->threads[i], next = cycle->threads[(i + 1) % cycle->count];
        json_t *entry = wanted_json(view, index);
        (void)json_array_append_new(threads, reference_json(attach_threads_at(view->now, index)));
        set(entry, "wanted_by", json_integer((json_int_t)view->threads[index].java_tid));
        set(entry, "held_by", json_integer((json_int_t)view->threads[next].java_tid));
        (void)json_array_append_new(locks, entry);
    }
    return json_pack("{s:s, s:b, s:o, s:o}", "id", id, "inferred", (int)cycle->inferred, "threads",
                     threads, "locks", locks);
}

static json_t *cut_json(const attach_threads_meta *meta)
{
    char words[64], *rest = NULL;
    json_t *list = json_array();
    threads_missing(words, sizeof(words), meta);
    for (char *word = strtok_r(words, ", ", &rest); word != NULL;
         word = strtok_r(NULL, ", ", &rest))
        (void)json_array_append_new(list, json_string(word));
    return list;
}

static json_t *meta_json(const threads_view *view)
{
    const attach_threads_meta *meta = attach_threads_meta_of(view->now);
    char at[32], text[48];
    time_t seconds = (time_t)(meta->wall_ms / 1000);
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    (void)strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text, sizeof(text), "%s.%03uZ", at, (unsigned)(meta->wall_ms % 1000));
    json_t *object = json_pack(
        "{s:i, s:i, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:I, s:f, s:f, "
        "s:f, "
        "s:f, s:f}",
        "version", 1, "pid", view->jvm->identity.pid, "main_class", view->jvm->main_class,
        "taken_at", text, "window_s", view->seconds, "busy_percent", view->busy_percent,
        "threads_total", (json_int_t)meta->threads_total, "threads",
        (json_int_t)attach_threads_count(view->now), "stacks_wanted",
        (json_int_t)meta->stacks_wanted, "stacks", (json_int_t)threads_stacks(view->now), "full",
        meta->full, "cpu_time", meta->cpu_time, "allocated", meta->allocated, "contention",
        meta->contention, "pauses", (json_int_t)meta->pauses, "paused_ms",
        (double)meta->paused_ns / 1e6, "longest_pause_ms", (double)meta->longest_pause_ns / 1e6,
        "deadlock_ms", (double)meta->deadlock_took_ns / 1e6, "stacks_ms",
        (double)meta->stacks_took_ns / 1e6, "total_ms", (double)meta->total_took_ns / 1e6);
    if (object != NULL)
        set(object, "cut", cut_json(meta));
    return object;
}

json_t *threads_json(const threads_view *view)
{
    json_t *deadlocks = json_array();
    for (size_t i = 0; i < view->deadlocks.count; i++)
        (void)json_array_append_new(deadlocks, cycle_json(view, &view->deadlocks.items[i]));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "busy", rows_json(view, THREADS_LIST_BUSY),
        "blocked", rows_json(view, THREADS_LIST_BLOCKED), "unknown_holder",
        rows_json(view, THREADS_LIST_UNKNOWN_HOLDER), "class_initialisation",
        rows_json(view, THREADS_LIST_CLASS), "waiting", rows_json(view, THREADS_LIST_WAITING),
        "locks", locks_json(view), "deadlocks", deadlocks, "meta", meta_json(view));
}
