/* SPDX-License-Identifier: Apache-2.0 */
/* Reads hotstack.threads.v1: libattach/agent/threads.proto. */
#include <stdlib.h>
#include <string.h>

#include "error_impl.h"
#include "files/text_impl.h"
#include "protocol.h"
#include "threads/threads_impl.h"
#include "threads/threads_wire_impl.h"

#define MESSAGES 11 /* field numbers of the snapshot + 1 */
#define COLUMNS  20 /* field numbers of a message + 1, rounded up */

/* All fields of a snapshot, not unpacked yet. */
typedef struct parts {
    attach__bytes columns[MESSAGES][COLUMNS];
    bool seen[MESSAGES][COLUMNS];
    bool has_message[MESSAGES];
    uint64_t meta[COLUMNS];
    uint64_t version;
    attach_error *err;
} parts;

static int bad(const parts *p, size_t at, const char *what)
{
    return attach__fail_at(p->err, ATTACH_ERR_FORMAT, at, "the thread snapshot is damaged: %s",
                           what);
}

static int no_memory(attach_error *err)
{
    return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for a thread snapshot");
}

/* ---- splitting into columns ---- */

static int split_message(parts *p, uint32_t message, attach__bytes rest)
{
    attach__pb_field field;
    int more;
    if (p->has_message[message])
        return bad(p, rest.at, "a message occurs twice");
    p->has_message[message] = true;
    while ((more = attach__pb_next(&rest, &field)) > 0) {
        if (field.number >= COLUMNS)
            continue; /* a field of a later version */
        if (p->seen[message][field.number])
            return bad(p, rest.at, "a field occurs twice");
        p->seen[message][field.number] = true;
        if (message == F_META && !field.is_bytes)
            p->meta[field.number] = field.value;
        if (message != F_META && field.is_bytes)
            p->columns[message][field.number] = field.bytes;
    }
    return more < 0 ? bad(p, rest.at, "it ends within a field") : ATTACH_OK;
}

static int split(parts *p, attach__bytes rest)
{
    attach__pb_field field;
    int more;
    while ((more = attach__pb_next(&rest, &field)) > 0) {
        int rc = ATTACH_OK;
        if (field.number == F_VERSION && !field.is_bytes)
            p->version = field.value;
        else if (field.number == F_DEADLOCKED && field.is_bytes)
            p->columns[F_DEADLOCKED][0] = field.bytes;
        else if (field.number < MESSAGES && field.is_bytes)
            rc = split_message(p, field.number, field.bytes);
        if (rc != ATTACH_OK)
            return rc;
    }
    if (more < 0)
        return bad(p, rest.at, "it ends within a field");
    return p->version == THREADS_VERSION ? ATTACH_OK : bad(p, 0, "it is not of version 1");
}

/* ---- columns ---- */

/* A position in a column, which is read entry by entry from start to end. */
typedef struct cursor {
    attach__bytes rest;
    bool is_bytes;
} cursor;

static cursor cursor_of(const parts *p, int message, int field)
{
    return (cursor){p->columns[message][field], false};
}

static cursor bytes_of(const parts *p, int message, int field)
{
    return (cursor){p->columns[message][field], true};
}

static size_t entries(const cursor *c)
{
    return c->is_bytes ? c->rest.n : attach__pb_count(c->rest);
}

/* Reads the next entry, at most `max`; false when there is none or it is larger. */
static bool next(cursor *c, uint64_t max, uint64_t *out)
{
    *out = 0;
    if (!c->is_bytes)
        return attach__pb_varint(&c->rest, out) && *out <= max;
    if (c->rest.n == 0)
        return false;
    *out = *c->rest.p++;
    c->rest.n--;
    c->rest.at++;
    return *out <= max;
}

/* Returns whether all columns have as many entries as the first, and end with a complete one. */
static bool have_one_length(const cursor *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool whole =
            list[i].is_bytes || list[i].rest.n == 0 || list[i].rest.p[list[i].rest.n - 1] < 0x80;
        if (!whole || entries(&list[i]) != entries(&list[0]))
            return false;
    }
    return true;
}

/* ---- strings, locks, frames ---- */

static int read_strings(attach_threads *t, const parts *p)
{
    cursor lengths = cursor_of(p, F_STRINGS, F_STRINGS_LENGTH);
    attach__bytes data = p->columns[F_STRINGS][F_STRINGS_DATA];
    size_t n = entries(&lengths), at = 0, written = 0;
    if (n == 0)
        return bad(p, lengths.rest.at, "it has no strings");
    t->text = malloc(data.n + n);
    t->strings = malloc(n * sizeof(*t->strings));
    if (t->text == NULL || t->strings == NULL)
        return no_memory(p->err);
    for (size_t i = 0; i < n; i++) {
        uint64_t length = 0;
        if (!next(&lengths, data.n - at, &length))
            return bad(p, lengths.rest.at, "a string is longer than the text");
        char *to = t->text + written;
        const char *from = length > 0 ? (const char *)data.p + at : "";
        attach__copy_text(to, (size_t)length + 1, attach__span_of(from, (size_t)length));
        t->strings[i] = to;
        written += strlen(to) + 1;
        at += (size_t)length;
    }
    t->n_strings = n;
    return ATTACH_OK;
}

static bool next_string(const attach_threads *t, cursor *c, const char **out)
{
    uint64_t index = 0;
    if (!next(c, t->n_strings - 1, &index))
        return false;
    *out = t->strings[index];
    return true;
}

static int read_locks(attach_threads *t, const parts *p)
{
    cursor c[] = {cursor_of(p, F_LOCKS, F_LOCK_CLASS), cursor_of(p, F_LOCKS, F_LOCK_HASH)};
    size_t n = entries(&c[0]);
    if (!have_one_length(c, 2))
        return bad(p, c[0].rest.at, "the columns of locks differ in length");
    t->locks = calloc(n + 1, sizeof(*t->locks));
    if (t->locks == NULL)
        return no_memory(p->err);
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = 0;
        if (!next_string(t, &c[0], &t->locks[i].class_name) || !next(&c[1], UINT32_MAX, &hash))
            return bad(p, c[0].rest.at, "a lock is out of range");
        t->locks[i].identity_hash = (uint32_t)hash;
    }
    t->n_locks = n;
    return ATTACH_OK;
}

static int read_frames(attach_threads *t, const parts *p)
{
    cursor c[] = {cursor_of(p, F_FRAMES, F_FRAME_CLASS), cursor_of(p, F_FRAMES, F_FRAME_METHOD),
                  cursor_of(p, F_FRAMES, F_FRAME_FILE), cursor_of(p, F_FRAMES, F_FRAME_LINE),
                  bytes_of(p, F_FRAMES, F_FRAME_NATIVE)};
    size_t n = entries(&c[0]);
    if (!have_one_length(c, 5))
        return bad(p, c[0].rest.at, "the columns of frames differ in length");
    t->frames = calloc(n + 1, sizeof(*t->frames));
    if (t->frames == NULL)
        return no_memory(p->err);
    for (size_t i = 0; i < n; i++) {
        attach_thread_frame *frame = &t->frames[i];
        uint64_t line = 0, native = 0;
        if (!next_string(t, &c[0], &frame->class_name) || !next_string(t, &c[1], &frame->method) ||
            !next_string(t, &c[2], &frame->file) || !next(&c[3], UINT32_MAX, &line) ||
            !next(&c[4], 1, &native))
            return bad(p, c[0].rest.at, "a frame is out of range");
        frame->line = (uint32_t)line;
        frame->native = native != 0;
    }
    t->n_frames = n;
    return ATTACH_OK;
}

/* ---- threads ---- */

/* Reads a value that was stored plus 1; 0 = not known. */
static bool next_known(cursor *c, uint64_t *out)
{
    if (!next(c, UINT64_MAX, out))
        return false;
    *out = *out == 0 ? ATTACH_THREADS_UNKNOWN : *out - 1;
    return true;
}

enum { THREAD_COLUMNS = 17 };

/* Flags that the agent sends. This file sets ATTACH_THREAD_DEADLOCKED. */
enum { SENT_FLAGS = 0xFF & ~ATTACH_THREAD_DEADLOCKED };

static void thread_cursors(cursor c[THREAD_COLUMNS], const parts *p)
{
    for (int i = 0; i < THREAD_COLUMNS; i++) {
        int field = i + 1;
        bool bytes = field == F_THREAD_STATE || field == F_THREAD_FLAGS || field == F_THREAD_WHY;
        c[i] = bytes ? bytes_of(p, F_THREADS, field) : cursor_of(p, F_THREADS, field);
    }
}

static bool read_thread(attach_thread *out, const attach_threads *t, cursor c[THREAD_COLUMNS])
{
    uint64_t state = 0, flags = 0, why = 0, lock = 0;
    bool good = next(&c[F_THREAD_JAVA_TID - 1], UINT64_MAX, &out->java_tid) &&
                next_string(t, &c[F_THREAD_NAME - 1], &out->name) &&
                next(&c[F_THREAD_STATE - 1], ATTACH_THREAD_TERMINATED, &state) &&
                next(&c[F_THREAD_FLAGS - 1], SENT_FLAGS, &flags) &&
                (flags & ATTACH_THREAD_DEADLOCKED) == 0 && next(&c[F_THREAD_WHY - 1], 127, &why) &&
                next_known(&c[F_THREAD_CPU - 1], &out->cpu_ns) &&
                next_known(&c[F_THREAD_USER - 1], &out->user_ns) &&
                next_known(&c[F_THREAD_ALLOCATED - 1], &out->allocated_bytes) &&
                next(&c[F_THREAD_BLOCKED_COUNT - 1], UINT64_MAX, &out->blocked_count) &&
                next(&c[F_THREAD_WAITED_COUNT - 1], UINT64_MAX, &out->waited_count) &&
                next_known(&c[F_THREAD_BLOCKED_MS - 1], &out->blocked_ms) &&
                next_known(&c[F_THREAD_WAITED_MS - 1], &out->waited_ms) &&
                next(&c[F_THREAD_LOCK - 1], t->n_locks, &lock) &&
                next(&c[F_THREAD_OWNER - 1], UINT64_MAX, &out->owner_tid) &&
                next_string(t, &c[F_THREAD_OWNER_NAME - 1], &out->owner_name) &&
                next(&c[F_THREAD_CARRIES - 1], UINT64_MAX, &out->carries_tid) &&
                next_string(t, &c[F_THREAD_CARRIES_NAME - 1], &out->carries_name);
    out->state = (attach_thread_state)state;
    out->flags = (uint32_t)flags;
    out->why = (uint32_t)why;
    out->lock = good && lock > 0 ? &t->locks[lock - 1] : NULL;
    return good;
}

static int read_threads(attach_threads *t, const parts *p)
{
    cursor c[THREAD_COLUMNS];
    thread_cursors(c, p);
    size_t n = entries(&c[0]);
    if (!have_one_length(c, THREAD_COLUMNS))
        return bad(p, c[0].rest.at, "the columns of threads differ in length");
    t->list = calloc(n + 1, sizeof(*t->list));
    if (t->list == NULL)
        return no_memory(p->err);
    for (size_t i = 0; i < n; i++) {
        if (!read_thread(&t->list[i], t, c))
            return bad(p, c[0].rest.at, "a thread is out of range");
        if (i > 0 && t->list[i].java_tid <= t->list[i - 1].java_tid)
            return bad(p, c[0].rest.at, "the threads are not in order");
        t->n = i + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (t->list[i].owner_tid != 0)
            t->list[i].owner = attach_threads_find(t, t->list[i].owner_tid);
    return ATTACH_OK;
}

static int read_native(attach_threads *t, const parts *p)
{
    cursor c = cursor_of(p, F_NATIVE, F_NATIVE_OS_TID);
    size_t n = entries(&c);
    if (n != 0 && n != t->n)
        return bad(p, c.rest.at, "it has other native ids than threads");
    for (size_t i = 0; i < n; i++) {
        uint64_t tid = 0;
        if (!next(&c, INT32_MAX, &tid))
            return bad(p, c.rest.at, "a native id is out of range");
        t->list[i].os_tid = (uint32_t)tid;
    }
    return ATTACH_OK;
}

/* ---- stacks and held locks ---- */

static int read_stack_frames(attach_threads *t, const parts *p, size_t *n)
{
    cursor frames = cursor_of(p, F_STACKS, F_STACK_FRAME);
    *n = entries(&frames);
    t->stack_frames = calloc(*n + 1, sizeof(*t->stack_frames));
    if (t->stack_frames == NULL)
        return no_memory(p->err);
    for (size_t i = 0; i < *n; i++) {
        uint64_t frame = 0;
        if (t->n_frames == 0 || !next(&frames, t->n_frames - 1, &frame))
            return bad(p, frames.rest.at, "a stack names a frame that is not there");
        t->stack_frames[i] = (uint32_t)frame;
    }
    return ATTACH_OK;
}

static int read_stacks(attach_threads *t, const parts *p)
{
    cursor c[] = {cursor_of(p, F_STACKS, F_STACK_THREAD), cursor_of(p, F_STACKS, F_STACK_DEPTH)};
    size_t n = entries(&c[0]), frames = 0, at = 0;
    int rc = read_stack_frames(t, p, &frames);
    if (rc != ATTACH_OK)
        return rc;
    if (!have_one_length(c, 2))
        return bad(p, c[0].rest.at, "the columns of stacks differ in length");
    for (size_t i = 0; i < n; i++) {
        uint64_t thread = 0, depth = 0;
        if (t->n == 0 || !next(&c[0], t->n - 1, &thread) || t->list[thread].has_stack ||
            !next(&c[1], frames - at, &depth))
            return bad(p, c[0].rest.at, "a stack is out of range");
        t->list[thread].has_stack = true;
        t->list[thread].frames = t->stack_frames + at;
        t->list[thread].n_frames = (size_t)depth;
        at += (size_t)depth;
    }
    return at == frames ? ATTACH_OK : bad(p, c[0].rest.at, "frames belong to no stack");
}

/* Adds a lock to its thread. The locks of one thread must be adjacent. */
static bool add_held(attach_thread *thread, const attach_held_lock *entry)
{
    if (thread->n_held == 0)
        thread->held = entry;
    if (thread->held + thread->n_held != entry)
        return false;
    thread->n_held++;
    return true;
}

static int read_held(attach_threads *t, const parts *p)
{
    cursor c[] = {cursor_of(p, F_HELD, F_HELD_THREAD), bytes_of(p, F_HELD, F_HELD_KIND),
                  cursor_of(p, F_HELD, F_HELD_DEPTH), cursor_of(p, F_HELD, F_HELD_LOCK)};
    size_t n = entries(&c[0]);
    if (!have_one_length(c, 4) || (n > 0 && (t->n == 0 || t->n_locks == 0)))
        return bad(p, c[0].rest.at, "the columns of held locks do not fit");
    t->held = calloc(n + 1, sizeof(*t->held));
    if (t->held == NULL)
        return no_memory(p->err);
    for (size_t i = 0; i < n; i++) {
        uint64_t thread = 0, kind = 0, depth = 0, lock = 0;
        bool good = next(&c[0], t->n - 1, &thread) &&
                    next(&c[1], THREADS_HELD_SYNCHRONIZER, &kind) && kind > 0 &&
                    next(&c[2], THREADS_DEPTH_LIMIT, &depth) && next(&c[3], t->n_locks - 1, &lock);
        t->held[i] = (attach_held_lock){&t->locks[good ? lock : 0], (uint32_t)depth,
                                        kind == THREADS_HELD_SYNCHRONIZER};
        if (!good || !add_held(&t->list[thread], &t->held[i]))
            return bad(p, c[0].rest.at, "a held lock is out of range");
    }
    return ATTACH_OK;
}

static int read_deadlocked(attach_threads *t, const parts *p)
{
    cursor c = cursor_of(p, F_DEADLOCKED, 0);
    size_t n = entries(&c);
    for (size_t i = 0; i < n; i++) {
        uint64_t tid = 0;
        if (!next(&c, UINT64_MAX, &tid))
            return bad(p, c.rest.at, "a deadlocked thread is out of range");
        const attach_thread *thread = attach_threads_find(t, tid);
        if (thread != NULL)
            t->list[thread - t->list].flags |= ATTACH_THREAD_DEADLOCKED;
    }
    return attach__threads_find_cycles(t, p->err);
}

static uint32_t small(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void read_meta(attach_threads_meta *out, const parts *p)
{
    uint64_t offers = p->meta[F_META_OFFERS];
    *out = (attach_threads_meta){
        .wall_ms = p->meta[F_META_WALL_MS],
        .cpu_read_ns = p->meta[F_META_CPU_READ_NS],
        .interval_ns = p->meta[F_META_INTERVAL_NS],
        .threads_total = small(p->meta[F_META_THREADS_TOTAL]),
        .stacks_wanted = small(p->meta[F_META_STACKS_WANTED]),
        .cut = small(p->meta[F_META_CUT]),
        .cpu_time = offers & THREADS_OFFER_CPU,
        .allocated = offers & THREADS_OFFER_ALLOCATED,
        .contention = offers & THREADS_OFFER_CONTENTION,
        .full = p->meta[F_META_FULL] != 0,
        .info_took_ns = p->meta[F_META_INFO_TOOK_NS],
        .deadlock_took_ns = p->meta[F_META_DEADLOCK_TOOK_NS],
        .stacks_took_ns = p->meta[F_META_STACKS_TOOK_NS],
        .total_took_ns = p->meta[F_META_TOTAL_TOOK_NS],
        .pauses = small(p->meta[F_META_PAUSES]),
        .paused_ns = p->meta[F_META_PAUSED_NS],
        .longest_pause_ns = p->meta[F_META_LONGEST_PAUSE_NS],
    };
}

static int read_all(attach_threads *t, const parts *p)
{
    static int (*const steps[])(attach_threads * t, const parts *p) = {
        read_strings, read_locks,  read_frames, read_threads,
        read_native,  read_stacks, read_held,   read_deadlocked};
    read_meta(&t->meta, p);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int rc = steps[i](t, p);
        if (rc != ATTACH_OK)
            return rc;
    }
    return ATTACH_OK;
}

int attach_threads_decode(attach_threads **out, const uint8_t *bytes, size_t n, attach_error *err)
{
    parts p = {.err = err};
    *out = NULL;
    if (n > (size_t)ATTACH_THREADS_BYTES_MAX * 2)
        return attach__fail(err, ATTACH_ERR_LIMIT, "a thread snapshot of %zu bytes is too long", n);
    attach_threads *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return no_memory(err);
    int rc = split(&p, (attach__bytes){bytes, n, 0});
    if (rc == ATTACH_OK)
        rc = read_all(t, &p);
    if (rc != ATTACH_OK) {
        attach_threads_free(t);
        return rc;
    }
    *out = t;
    return ATTACH_OK;
}
