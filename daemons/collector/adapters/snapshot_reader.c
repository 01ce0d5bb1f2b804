/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot_reader.h"

#include <attach/threads.h>
#include <contract/payload.h>
#include <diagnosis/deadlocks.h>
#include <diagnosis/from_snapshot.h>
#include <stackagg/stackagg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The source and the result of one reading. */
typedef struct reading {
    const attach_threads *now, *before;
    thread_snapshot *to;
    key_table locks;  /* keys: lock_key */
    key_table frames; /* keys: profile_frame, with zeroed padding */
    sagg_frame *normal;
    char **storage; /* of normal, one for each frame */
    size_t frame_room;
    size_t lock_room, held_room, deadlock_room, stack_room, stack_frame_room;
} reading;

typedef struct lock_key {
    uint32_t class_str, identity;
} lock_key;

static int add_text(reading *in, const char *words, uint32_t *index)
{
    return string_table_add(&in->to->strings, words, strlen(words), index);
}

static int add_lock(reading *in, const attach_thread_lock *lock, uint32_t *index)
{
    lock_key key = {.identity = lock->identity_hash};
    bool is_new = false;
    if (add_text(in, lock->class_name, &key.class_str) != 0 ||
        key_table_add(&in->locks, &key, index, &is_new) != 0)
        return -1;
    if (!is_new)
        return 0;
    batch_lock *to = BATCH_NEXT(in->to->locks, in->lock_room, in->to->lock_count);
    if (to == NULL)
        return -1;
    *to = (batch_lock){key.class_str, key.identity};
    in->to->lock_count++;
    return 0;
}

/* ---- stacks ---- */

static sagg_str str_of(const char *words)
{
    return (sagg_str){words, strlen(words)};
}

/* Brings a frame into the form of profiles, so that a thread's stack and a sampled stack are equal.
 * Returns 0 or -1. */
static int normalise(const attach_thread_frame *from, sagg_frame *out, char **storage)
{
    const sagg_frame given = {.class_name = str_of(from->class_name),
                              .method = str_of(from->method),
                              .file = str_of(from->file),
                              .line = from->line,
                              .kind = SAGG_JAVA};
    return sagg_frame_normalise(out, storage, &given, SAGG_NORMALISE_V1, NULL) == 0 ? 0 : -1;
}

static int add_frame(reading *in, const sagg_frame *frame)
{
    profile_frame key;
    bool is_new = false;
    uint32_t index = 0;
    memset(&key, 0, sizeof(key));
    key.line = frame->line;
    key.kind = frame->kind;
    string_table *strings = &in->to->strings;
    uint32_t *next =
        BATCH_NEXT(in->to->stack_frames, in->stack_frame_room, in->to->stack_frame_count);
    if (next == NULL ||
        string_table_add(strings, frame->class_name.data, frame->class_name.size,
                         &key.class_name) != 0 ||
        string_table_add(strings, frame->method.data, frame->method.size, &key.method) != 0 ||
        string_table_add(strings, frame->file.data, frame->file.size, &key.file) != 0 ||
        key_table_add(&in->frames, &key, &index, &is_new) != 0)
        return -1;
    *next = index;
    in->to->stack_frame_count++;
    return 0;
}

/* Normalises the frames of a stack, in arrays that grow with the deepest one. Returns 0 or -1. */
static int normalise_all(reading *in, const attach_thread *thread, size_t *done)
{
    if (thread->n_frames > in->frame_room) {
        sagg_frame *normal = realloc(in->normal, thread->n_frames * sizeof(*normal));
        in->normal = normal != NULL ? normal : in->normal;
        char **storage = realloc(in->storage, thread->n_frames * sizeof(*storage));
        in->storage = storage != NULL ? storage : in->storage;
        if (normal == NULL || storage == NULL)
            return -1;
        in->frame_room = thread->n_frames;
    }
    for (*done = 0; *done < thread->n_frames; ++*done) {
        const attach_thread_frame *frame = attach_threads_frame(in->now, thread->frames[*done]);
        if (frame == NULL || normalise(frame, &in->normal[*done], &in->storage[*done]) != 0)
            return -1;
    }
    return 0;
}

static int add_stack(reading *in, const attach_thread *thread, uint32_t *out)
{
    thread_snapshot *to = in->to;
    size_t done = 0;
    sagg_stack_id id;
    int rc = normalise_all(in, thread, &done);
    if (rc == 0 &&
        sagg_stack_id_of(&id, in->normal, thread->n_frames, SAGG_NORMALISE_V1, NULL) != 0)
        rc = -1;
    profile_stack *stack = rc == 0 ? BATCH_NEXT(to->stacks, in->stack_room, to->stack_count) : NULL;
    if (stack != NULL) {
        *stack = (profile_stack){.normaliser = SAGG_NORMALISE_V1,
                                 .first = (uint32_t)to->stack_frame_count,
                                 .depth = (uint32_t)thread->n_frames};
        memcpy(stack->id, id.bytes, sizeof(stack->id));
        if ((thread->flags & ATTACH_THREAD_STACK_CUT) != 0)
            stack->flags = STACK_TRUNCATED;
        for (size_t i = 0; i < thread->n_frames && rc == 0; i++)
            rc = add_frame(in, &in->normal[i]);
        *out = (uint32_t)++to->stack_count;
    } else {
        rc = -1;
    }
    for (size_t i = 0; i < done; i++)
        free(in->storage[i]);
    return rc;
}

/* ---- threads ---- */

/* Returns the growth of a counter since the snapshot before, plus 1; 0 = unknown. */
static uint64_t growth(uint64_t now, uint64_t before)
{
    if (now == ATTACH_THREADS_UNKNOWN || before == ATTACH_THREADS_UNKNOWN)
        return 0;
    return now >= before ? now - before + 1 : 1;
}

static void add_amounts(const reading *in, const attach_thread *from, batch_state *to)
{
    static const attach_thread none; /* a new thread has used all its CPU time since then */
    if (in->before == NULL)
        return;
    const attach_thread *was = attach_threads_find(in->before, from->java_tid);
    was = was != NULL ? was : &none;
    to->cpu_ns = growth(from->cpu_ns, was->cpu_ns);
    to->allocated_bytes = growth(from->allocated_bytes, was->allocated_bytes);
    to->blocked_ms = growth(from->blocked_ms, was->blocked_ms);
    to->waited_ms = growth(from->waited_ms, was->waited_ms);
}

static int add_held(reading *in, const attach_thread *from, uint32_t thread)
{
    size_t count = from->n_held < HELD_PER_THREAD_MAX ? from->n_held : HELD_PER_THREAD_MAX;
    for (size_t i = 0; i < count; i++) {
        const attach_held_lock *held = &from->held[i];
        batch_held *to = BATCH_NEXT(in->to->held, in->held_room, in->to->held_count);
        if (to == NULL)
            return -1;
        *to = (batch_held){
            .thread = thread, .kind = held->synchronizer ? 2 : 1, .depth = held->depth};
        if (add_lock(in, held->lock, &to->lock) != 0)
            return -1;
        in->to->held_count++;
    }
    return 0;
}

static int add_thread(reading *in, const attach_thread *from)
{
    thread_snapshot *snapshot = in->to;
    batch_state *to = &snapshot->states[snapshot->state_count];
    char pool[256];
    uint32_t lock = 0;
    *to = (batch_state){.java_tid = from->java_tid,
                        .os_tid = from->os_tid,
                        .state = from->state,
                        .flags = from->flags,
                        .owner_tid = from->owner_tid,
                        .carries_tid = from->carries_tid};
    size_t length = sagg_pool_name(pool, sizeof(pool), str_of(from->name));
    length = length < sizeof(pool) ? length : sizeof(pool);
    add_amounts(in, from, to);
    if (add_text(in, from->name, &to->name_str) != 0 ||
        string_table_add(&snapshot->strings, pool, length, &to->pool_str) != 0 ||
        add_text(in, from->owner_name, &to->owner_str) != 0 ||
        add_text(in, from->carries_name, &to->carries_str) != 0)
        return -1;
    if (from->lock != NULL) {
        if (add_lock(in, from->lock, &lock) != 0)
            return -1;
        to->lock = lock + 1;
    }
    if (from->has_stack && add_stack(in, from, &to->stack) != 0)
        return -1;
    return add_held(in, from, (uint32_t)snapshot->state_count++);
}

/* ---- deadlocks ---- */

static int add_cycle(reading *in, const diagnosed_cycle *cycle)
{
    for (size_t i = 0; i < cycle->count; i++) {
        batch_deadlock *to =
            BATCH_NEXT(in->to->deadlocks, in->deadlock_room, in->to->deadlock_count);
        if (to == NULL)
            return -1;
        *to = (batch_deadlock){cycle->id, cycle->threads[i], cycle->inferred};
        in->to->deadlock_count++;
    }
    return 0;
}

static int add_deadlocks(reading *in)
{
    diagnosed_thread *threads = diagnosis_from_snapshot(in->now, in->before);
    diagnosed_deadlocks found = {.items = NULL};
    int rc =
        threads != NULL ? diagnose_deadlocks(&found, threads, attach_threads_count(in->now)) : -1;
    for (size_t i = 0; i < found.count && rc == 0; i++)
        rc = add_cycle(in, &found.items[i]);
    diagnosed_deadlocks_free(&found);
    free(threads);
    return rc;
}

/* ---- the whole ---- */

static void fill_meta(const reading *in)
{
    const attach_threads_meta *meta = attach_threads_meta_of(in->now);
    const attach_threads_meta *was = in->before != NULL ? attach_threads_meta_of(in->before) : NULL;
    uint64_t interval_ns = was != NULL && meta->cpu_read_ns > was->cpu_read_ns
                               ? meta->cpu_read_ns - was->cpu_read_ns
                               : 0;
    in->to->meta = (batch_snapshot){
        .taken_ms = meta->wall_ms,
        .interval_ms = (uint32_t)(interval_ns / 1000000),
        .threads_total = meta->threads_total,
        .cut = meta->cut,
        .offers =
            (meta->cpu_time ? 1u : 0) | (meta->allocated ? 2u : 0) | (meta->contention ? 4u : 0),
        .longest_pause_ns = meta->longest_pause_ns,
    };
}

static int convert(reading *in)
{
    size_t count = attach_threads_count(in->now);
    thread_snapshot *to = in->to;
    uint32_t empty = 0;
    fill_meta(in);
    to->states = calloc(count + 1, sizeof(*to->states));
    if (to->states == NULL || add_text(in, "", &empty) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (add_thread(in, attach_threads_at(in->now, i)) != 0)
            return -1;
    }
    if (add_deadlocks(in) != 0)
        return -1;
    to->frame_count = in->frames.count;
    to->frames = calloc(in->frames.count + 1, sizeof(*to->frames));
    if (to->frames == NULL)
        return -1;
    if (in->frames.count > 0)
        memcpy(to->frames, in->frames.keys, in->frames.count * sizeof(*to->frames));
    return 0;
}

static uint8_t *read_all(int fd, uint64_t size)
{
    uint8_t *bytes = malloc(size + 1);
    for (uint64_t used = 0; bytes != NULL && used < size;) {
        ssize_t got = pread(fd, bytes + used, size - used, (off_t)used);
        if (got <= 0) {
            free(bytes);
            return NULL;
        }
        used += (uint64_t)got;
    }
    return bytes;
}

int snapshot_reader_read(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size)
{
    (void)context;
    attach_threads *now = NULL;
    attach_error err = {0};
    *out = (thread_snapshot){.states = NULL};
    uint8_t *bytes = size <= ATTACH_THREADS_BYTES_MAX ? read_all(fd, size) : NULL;
    (void)snprintf(message, message_size, "the snapshot's bytes could not be read");
    if (bytes == NULL)
        return -1;
    int rc = attach_threads_decode(&now, bytes, size, &err);
    free(bytes);
    if (rc != ATTACH_OK) {
        (void)snprintf(message, message_size, "byte %llu: %s", (unsigned long long)err.offset,
                       err.message);
        return -1;
    }
    reading in = {.now = now,
                  .before = *memory,
                  .to = out,
                  .locks = {.key_size = sizeof(lock_key)},
                  .frames = {.key_size = sizeof(profile_frame)}};
    rc = convert(&in);
    if (rc != 0) {
        (void)snprintf(message, message_size, "out of memory");
        thread_snapshot_clear(out);
    }
    key_table_clear(&in.locks);
    key_table_clear(&in.frames);
    free(in.normal);
    free(in.storage);
    attach_threads_free(*memory);
    *memory = now;
    return rc;
}

void snapshot_reader_forget(void *context, void *memory)
{
    (void)context;
    attach_threads_free(memory);
}
