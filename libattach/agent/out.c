/* SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

#include <stdlib.h>
#include <string.h>

#define VARINT_MAX  10
#define FIRST_SLOTS 256
#define FIRST_CAP   256
#define WIRE_BYTES  2u
#define NOT_FOUND   UINT32_MAX

/* The message and field of each column; the rows of one message are adjacent. */
static const struct {
    uint8_t message; /* 0 = the snapshot itself */
    uint8_t field;
    uint8_t id;
} layout[] = {
    {F_STRINGS, F_STRINGS_DATA, COL_STRINGS_DATA},
    {F_STRINGS, F_STRINGS_LENGTH, COL_STRINGS_LENGTH},
    {F_THREADS, F_THREAD_JAVA_TID, COL_THREAD_JAVA_TID},
    {F_THREADS, F_THREAD_NAME, COL_THREAD_NAME},
    {F_THREADS, F_THREAD_STATE, COL_THREAD_STATE},
    {F_THREADS, F_THREAD_FLAGS, COL_THREAD_FLAGS},
    {F_THREADS, F_THREAD_WHY, COL_THREAD_WHY},
    {F_THREADS, F_THREAD_CPU, COL_THREAD_CPU},
    {F_THREADS, F_THREAD_USER, COL_THREAD_USER},
    {F_THREADS, F_THREAD_ALLOCATED, COL_THREAD_ALLOCATED},
    {F_THREADS, F_THREAD_BLOCKED_COUNT, COL_THREAD_BLOCKED_COUNT},
    {F_THREADS, F_THREAD_WAITED_COUNT, COL_THREAD_WAITED_COUNT},
    {F_THREADS, F_THREAD_BLOCKED_MS, COL_THREAD_BLOCKED_MS},
    {F_THREADS, F_THREAD_WAITED_MS, COL_THREAD_WAITED_MS},
    {F_THREADS, F_THREAD_LOCK, COL_THREAD_LOCK},
    {F_THREADS, F_THREAD_OWNER, COL_THREAD_OWNER},
    {F_THREADS, F_THREAD_OWNER_NAME, COL_THREAD_OWNER_NAME},
    {F_THREADS, F_THREAD_CARRIES, COL_THREAD_CARRIES},
    {F_THREADS, F_THREAD_CARRIES_NAME, COL_THREAD_CARRIES_NAME},
    {F_LOCKS, F_LOCK_CLASS, COL_LOCK_CLASS},
    {F_LOCKS, F_LOCK_HASH, COL_LOCK_HASH},
    {F_FRAMES, F_FRAME_CLASS, COL_FRAME_CLASS},
    {F_FRAMES, F_FRAME_METHOD, COL_FRAME_METHOD},
    {F_FRAMES, F_FRAME_FILE, COL_FRAME_FILE},
    {F_FRAMES, F_FRAME_LINE, COL_FRAME_LINE},
    {F_FRAMES, F_FRAME_NATIVE, COL_FRAME_NATIVE},
    {F_STACKS, F_STACK_THREAD, COL_STACK_THREAD},
    {F_STACKS, F_STACK_DEPTH, COL_STACK_DEPTH},
    {F_STACKS, F_STACK_FRAME, COL_STACK_FRAME},
    {F_HELD, F_HELD_THREAD, COL_HELD_THREAD},
    {F_HELD, F_HELD_KIND, COL_HELD_KIND},
    {F_HELD, F_HELD_DEPTH, COL_HELD_DEPTH},
    {F_HELD, F_HELD_LOCK, COL_HELD_LOCK},
    {0, F_DEADLOCKED, COL_DEADLOCKED},
};

#define ROWS (sizeof(layout) / sizeof(layout[0]))

static size_t varint(uint8_t *p, uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        p[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    p[n++] = (uint8_t)value;
    return n;
}

static size_t varint_size(uint64_t value)
{
    uint8_t scratch[VARINT_MAX];
    return varint(scratch, value);
}

static void append(wire_out *o, enum column_id id, const void *bytes, size_t n)
{
    column *c = &o->columns[id];
    if (o->failed)
        return;
    if (c->cap - c->n < n) {
        size_t wanted = c->cap * 2 > c->n + n ? c->cap * 2 : c->n + n + FIRST_CAP;
        uint8_t *bigger = realloc(c->p, wanted);
        if (bigger == NULL) {
            o->failed = true;
            return;
        }
        c->p = bigger;
        c->cap = wanted;
    }
    if (n > 0)
        memcpy(c->p + c->n, bytes, n);
    c->n += n;
    o->bytes += n;
}

void out_number(wire_out *o, enum column_id id, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    append(o, id, bytes, varint(bytes, value));
}

void out_byte(wire_out *o, enum column_id id, uint8_t value)
{
    append(o, id, &value, 1);
}

void out_known(wire_out *o, enum column_id id, int64_t value)
{
    out_number(o, id, value < 0 ? 0 : (uint64_t)value + 1);
}

void out_init(wire_out *o, size_t limit)
{
    memset(o, 0, sizeof(*o));
    o->limit = limit;
    (void)out_string(o, "", 0);
}

void out_free(wire_out *o)
{
    for (int i = 0; i < COL_END; i++)
        free(o->columns[i].p);
    free(o->strings.slots);
    free(o->locks.slots);
    free(o->frames.slots);
    free(o->string_end);
    free(o->lock_list);
    free(o->frame_list);
    memset(o, 0, sizeof(*o));
}

bool out_is_full(const wire_out *o)
{
    return o->failed || o->bytes >= o->limit;
}

/* ---- interning ---- */

/* Hashes with FNV-1a and mixes the high bits into the low ones, because names differ in their last
 * bytes. */
static uint32_t hash_of(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 16777619u;
    return h ^ h >> 15;
}

/* Returns whether entry `index` of the table equals `key`. */
typedef bool (*same_fn)(const wire_out *o, uint32_t index, const void *key, size_t n);
/* Returns the hash of entry `index`, for a table that grows. */
typedef uint32_t (*hash_fn)(const wire_out *o, uint32_t index);

static void place(intern_table *t, uint32_t hash, uint32_t index)
{
    size_t at = hash & (t->cap - 1);
    while (t->slots[at] != 0)
        at = (at + 1) & (t->cap - 1);
    t->slots[at] = index + 1;
}

static bool make_room(wire_out *o, intern_table *t, hash_fn hash)
{
    if ((size_t)t->n * 2 < t->cap)
        return true;
    intern_table bigger = {.cap = t->cap == 0 ? FIRST_SLOTS : t->cap * 2, .n = t->n};
    bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
    if (bigger.slots == NULL) {
        o->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < t->n; i++)
        place(&bigger, hash(o, i), i);
    free(t->slots);
    *t = bigger;
    return true;
}

static uint32_t find(const wire_out *o, const intern_table *t, uint32_t hash, same_fn same,
                     const void *key, size_t n)
{
    if (t->cap == 0)
        return NOT_FOUND;
    for (size_t at = hash & (t->cap - 1); t->slots[at] != 0; at = (at + 1) & (t->cap - 1))
        if (same(o, t->slots[at] - 1, key, n))
            return t->slots[at] - 1;
    return NOT_FOUND;
}

/* Makes room for one more entry in a list whose entries have `size` bytes. */
static bool grow_list(wire_out *o, void **list, size_t *cap, uint32_t n, size_t size)
{
    if (n < *cap)
        return true;
    size_t wanted = *cap == 0 ? FIRST_CAP : *cap * 2;
    void *bigger = realloc(*list, wanted * size);
    if (bigger == NULL) {
        o->failed = true;
        return false;
    }
    *list = bigger;
    *cap = wanted;
    return true;
}

static const uint8_t *string_at(const wire_out *o, uint32_t index, size_t *n)
{
    uint32_t begin = index == 0 ? 0 : o->string_end[index - 1];
    *n = o->string_end[index] - begin;
    /* the column is unallocated while all strings are empty */
    return *n == 0 ? (const uint8_t *)"" : o->columns[COL_STRINGS_DATA].p + begin;
}

static bool same_string(const wire_out *o, uint32_t index, const void *key, size_t n)
{
    size_t length;
    const uint8_t *text = string_at(o, index, &length);
    return length == n && (n == 0 || memcmp(text, key, n) == 0);
}

static uint32_t hash_string(const wire_out *o, uint32_t index)
{
    size_t n;
    const uint8_t *text = string_at(o, index, &n);
    return hash_of(text, n);
}

uint32_t out_string(wire_out *o, const char *text, size_t n)
{
    uint32_t hash = hash_of(text, n);
    uint32_t index = find(o, &o->strings, hash, same_string, text, n);
    if (index != NOT_FOUND)
        return index;
    if (!make_room(o, &o->strings, hash_string) ||
        !grow_list(o, (void **)&o->string_end, &o->string_cap, o->strings.n,
                   sizeof(*o->string_end)))
        return 0;
    append(o, COL_STRINGS_DATA, text, n);
    out_number(o, COL_STRINGS_LENGTH, n);
    if (o->failed)
        return 0;
    index = o->strings.n++;
    o->string_end[index] = (uint32_t)o->columns[COL_STRINGS_DATA].n;
    place(&o->strings, hash, index);
    return index;
}

static bool same_lock(const wire_out *o, uint32_t index, const void *key, size_t n)
{
    return memcmp(&o->lock_list[index], key, n) == 0;
}

static uint32_t hash_lock(const wire_out *o, uint32_t index)
{
    return hash_of(&o->lock_list[index], sizeof(out_lock));
}

uint32_t out_add_lock(wire_out *o, const out_lock *lock)
{
    uint32_t hash = hash_of(lock, sizeof(*lock));
    uint32_t index = find(o, &o->locks, hash, same_lock, lock, sizeof(*lock));
    if (index != NOT_FOUND)
        return index + 1;
    if (!make_room(o, &o->locks, hash_lock) ||
        !grow_list(o, (void **)&o->lock_list, &o->lock_cap, o->locks.n, sizeof(*lock)))
        return 0;
    out_number(o, COL_LOCK_CLASS, lock->class_str);
    out_number(o, COL_LOCK_HASH, lock->identity_hash);
    index = o->locks.n++;
    o->lock_list[index] = *lock;
    place(&o->locks, hash, index);
    return index + 1;
}

static bool same_frame(const wire_out *o, uint32_t index, const void *key, size_t n)
{
    return memcmp(&o->frame_list[index], key, n) == 0;
}

static uint32_t hash_frame(const wire_out *o, uint32_t index)
{
    return hash_of(&o->frame_list[index], sizeof(out_frame));
}

uint32_t out_add_frame(wire_out *o, const out_frame *frame)
{
    uint32_t hash = hash_of(frame, sizeof(*frame));
    uint32_t index = find(o, &o->frames, hash, same_frame, frame, sizeof(*frame));
    if (index != NOT_FOUND)
        return index;
    if (!make_room(o, &o->frames, hash_frame) ||
        !grow_list(o, (void **)&o->frame_list, &o->frame_cap, o->frames.n, sizeof(*frame)))
        return 0;
    out_number(o, COL_FRAME_CLASS, frame->class_str);
    out_number(o, COL_FRAME_METHOD, frame->method_str);
    out_number(o, COL_FRAME_FILE, frame->file_str);
    out_number(o, COL_FRAME_LINE, frame->line);
    out_byte(o, COL_FRAME_NATIVE, (uint8_t)frame->native);
    index = o->frames.n++;
    o->frame_list[index] = *frame;
    place(&o->frames, hash, index);
    return index;
}

/* ---- the message ---- */

static size_t field(uint8_t *p, uint32_t number, uint64_t value)
{
    if (value == 0)
        return 0;
    size_t n = varint(p, number << 3);
    return n + varint(p + n, value);
}

#define META_MAX 256

static size_t write_meta(uint8_t *p, const out_meta *m)
{
    size_t n = 0;
    n += field(p + n, F_META_WALL_MS, m->wall_ms);
    n += field(p + n, F_META_CPU_READ_NS, m->cpu_read_ns);
    n += field(p + n, F_META_CPU_READ_TOOK_NS, m->cpu_read_took_ns);
    n += field(p + n, F_META_INTERVAL_NS, m->interval_ns);
    n += field(p + n, F_META_THREADS_TOTAL, m->threads_total);
    n += field(p + n, F_META_STACKS_WANTED, m->stacks_wanted);
    n += field(p + n, F_META_CUT, m->cut);
    n += field(p + n, F_META_OFFERS, m->offers);
    n += field(p + n, F_META_INFO_TOOK_NS, m->info_took_ns);
    n += field(p + n, F_META_DEADLOCK_TOOK_NS, m->deadlock_took_ns);
    n += field(p + n, F_META_STACKS_TOOK_NS, m->stacks_took_ns);
    n += field(p + n, F_META_TOTAL_TOOK_NS, m->total_took_ns);
    n += field(p + n, F_META_FULL, m->full);
    n += field(p + n, F_META_PAUSES, m->pauses);
    n += field(p + n, F_META_PAUSED_NS, m->paused_ns);
    n += field(p + n, F_META_LONGEST_PAUSE_NS, m->longest_pause_ns);
    return n;
}

static size_t put_header(uint8_t *p, uint32_t number, size_t length)
{
    size_t n = varint(p, number << 3 | WIRE_BYTES);
    return n + varint(p + n, length);
}

/* Returns the bytes of the columns that belong to the message of `row`, and the first row after
 * them. */
static size_t message_size(const wire_out *o, size_t row, size_t *end)
{
    size_t size = 0, at = row;
    for (; at < ROWS && layout[at].message == layout[row].message; at++) {
        size_t n = o->columns[layout[at].id].n;
        if (n > 0)
            size += varint_size((uint64_t)layout[at].field << 3) + varint_size(n) + n;
    }
    *end = at;
    return size;
}

static size_t write_columns(uint8_t *p, const wire_out *o)
{
    size_t n = 0, end;
    for (size_t row = 0; row < ROWS; row = end) {
        size_t size = message_size(o, row, &end);
        if (size > 0 && layout[row].message != 0)
            n += put_header(p + n, layout[row].message, size);
        for (size_t i = row; i < end; i++) {
            const column *c = &o->columns[layout[i].id];
            if (c->n == 0)
                continue;
            n += put_header(p + n, layout[i].field, c->n);
            memcpy(p + n, c->p, c->n);
            n += c->n;
        }
    }
    return n;
}

uint8_t *out_finish(const wire_out *o, size_t *n)
{
    uint8_t meta[META_MAX];
    size_t meta_size = write_meta(meta, &o->meta);
    *n = 0;
    if (o->failed)
        return NULL;
    uint8_t *p = malloc(o->bytes + meta_size + (2 * ROWS + 4) * VARINT_MAX);
    if (p == NULL)
        return NULL;
    size_t at = field(p, F_VERSION, THREADS_VERSION);
    at += put_header(p + at, F_META, meta_size);
    memcpy(p + at, meta, meta_size);
    at += meta_size;
    at += write_columns(p + at, o);
    *n = at;
    return p;
}
