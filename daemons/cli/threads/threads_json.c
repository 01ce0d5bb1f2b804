/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots as JSON: docs/formats/threads-json.md. */
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
                 {ATTACH_STACK_SAMPLED, "sampled"}, {ATTACH_STACK_FULL, "full"}};
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

static void set_wait(json_t *object, const attach_thread *thread)
{
    const attach_thread *chain[CHAIN_MAX];
    bool cycle = false;
    if (thread->lock != NULL)
        set(object, "lock", lock_json(thread->lock));
    if (thread->owner_tid == 0)
        return;
    json_t *list = json_array();
    size_t n = threads_chain(chain, CHAIN_MAX, thread, &cycle);
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, reference_json(chain[i]));
    set(object, "owner_tid", json_integer((json_int_t)thread->owner_tid));
    set(object, "owner_chain", list);
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
    set_wait(object, thread);
    if (!thread->has_stack)
        return object;
    set(object, "why", why_json(thread->why));
    set(object, "stack", stack_json(view, thread));
    if (attach_threads_meta_of(view->now)->full)
        set(object, "owns", owned_json(thread));
    return object;
}

static json_t *rows_json(const threads_view *view, const threads_row *rows, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, row_json(view, &rows[i]));
    return list;
}

static json_t *cycle_json(const attach_deadlock *cycle)
{
    json_t *threads = json_array(), *locks = json_array();
    for (size_t i = 0; i < cycle->n; i++) {
        const attach_thread *next = cycle->threads[(i + 1) % cycle->n];
        const attach_thread_lock *lock = threads_cycle_lock(cycle, i);
        json_t *entry = lock == NULL ? json_object() : lock_json(lock);
        (void)json_array_append_new(threads, reference_json(cycle->threads[i]));
        set(entry, "wanted_by", json_integer((json_int_t)cycle->threads[i]->java_tid));
        set(entry, "held_by", json_integer((json_int_t)next->java_tid));
        (void)json_array_append_new(locks, entry);
    }
    return json_pack("{s:o, s:o}", "threads", threads, "locks", locks);
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
        "{s:i, s:i, s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:I, s:f, s:f, s:f, s:f,"
        " s:f}",
        "version", 1, "pid", view->jvm->identity.pid, "main_class", view->jvm->main_class,
        "taken_at", text, "window_s", view->seconds, "threads_total",
        (json_int_t)meta->threads_total, "threads", (json_int_t)attach_threads_count(view->now),
        "stacks_wanted", (json_int_t)meta->stacks_wanted, "stacks",
        (json_int_t)threads_stacks(view->now), "full", meta->full, "cpu_time", meta->cpu_time,
        "allocated", meta->allocated, "contention", meta->contention, "pauses",
        (json_int_t)meta->pauses, "paused_ms", (double)meta->paused_ns / 1e6, "longest_pause_ms",
        (double)meta->longest_pause_ns / 1e6, "deadlock_ms", (double)meta->deadlock_took_ns / 1e6,
        "stacks_ms", (double)meta->stacks_took_ns / 1e6, "total_ms",
        (double)meta->total_took_ns / 1e6);
    if (object != NULL)
        set(object, "cut", cut_json(meta));
    return object;
}

json_t *threads_json(const threads_view *view)
{
    json_t *deadlocks = json_array();
    for (size_t i = 0; i < attach_threads_deadlock_count(view->now); i++)
        (void)json_array_append_new(deadlocks,
                                    cycle_json(attach_threads_deadlock_at(view->now, i)));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "busy", rows_json(view, view->busy, view->n_busy),
                     "blocked", rows_json(view, view->blocked, view->n_blocked), "waiting",
                     rows_json(view, view->waiting, view->n_waiting), "deadlocks", deadlocks,
                     "meta", meta_json(view));
}
