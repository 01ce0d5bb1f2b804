#include "error.h"
#include "reader.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

/*
 * A checkpoint event: size, type 1, start, duration, delta to the checkpoint before (a negative
 * long), a byte of kinds, number of pools; each pool: type id, number of entries; each entry: id,
 * value (JDK jdk.jfr.internal.consumer.ChunkParser.fillConstantPools).
 */
enum { CHECKPOINT_TYPE = 1 };

struct role {
    const char *type;
    const jfr__want *wants;
    size_t want_count;
};

#define WANTS(list) (list), sizeof(list) / sizeof((list)[0])

static const jfr__want text_wants[] = {{"string", JFR__SLOT_TEXT, JFR__WANT_STRING},
                                       {"name", JFR__SLOT_TEXT, JFR__WANT_STRING},
                                       {"description", JFR__SLOT_TEXT, JFR__WANT_STRING}};
static const jfr__want class_wants[] = {{"name", JFR__SLOT_NAME, JFR__WANT_INTEGER}};
static const jfr__want method_wants[] = {{"type", JFR__SLOT_TYPE, JFR__WANT_INTEGER},
                                         {"name", JFR__SLOT_NAME, JFR__WANT_INTEGER},
                                         {"descriptor", JFR__SLOT_DESCRIPTOR, JFR__WANT_INTEGER}};
static const jfr__want stack_wants[] = {{"truncated", JFR__SLOT_TRUNCATED, JFR__WANT_INTEGER},
                                        {"frames", JFR__SLOT_FRAMES, JFR__WANT_ARRAY}};
static const jfr__want frame_wants[] = {{"method", JFR__SLOT_METHOD, JFR__WANT_INTEGER},
                                        {"lineNumber", JFR__SLOT_LINE, JFR__WANT_INTEGER},
                                        {"bytecodeIndex", JFR__SLOT_BCI, JFR__WANT_INTEGER},
                                        {"type", JFR__SLOT_TYPE, JFR__WANT_INTEGER}};
static const jfr__want thread_wants[] = {{"osName", JFR__SLOT_OS_NAME, JFR__WANT_STRING},
                                         {"osThreadId", JFR__SLOT_OS_TID, JFR__WANT_INTEGER},
                                         {"javaName", JFR__SLOT_JAVA_NAME, JFR__WANT_STRING},
                                         {"javaThreadId", JFR__SLOT_JAVA_TID, JFR__WANT_INTEGER},
                                         {"group", JFR__SLOT_GROUP, JFR__WANT_INTEGER},
                                         {"virtual", JFR__SLOT_VIRTUAL, JFR__WANT_INTEGER}};

static const struct role roles[JFR__POOL_ROLES] = {
    [JFR__POOL_STRING] = {"java.lang.String", WANTS(text_wants)},
    [JFR__POOL_SYMBOL] = {"jdk.types.Symbol", WANTS(text_wants)},
    [JFR__POOL_CLASS] = {"java.lang.Class", WANTS(class_wants)},
    [JFR__POOL_METHOD] = {"jdk.types.Method", WANTS(method_wants)},
    [JFR__POOL_STACK] = {"jdk.types.StackTrace", WANTS(stack_wants)},
    [JFR__POOL_THREAD] = {"java.lang.Thread", WANTS(thread_wants)},
    [JFR__POOL_GROUP] = {"jdk.types.ThreadGroup", WANTS(text_wants)},
    [JFR__POOL_STATE] = {"jdk.types.ThreadState", WANTS(text_wants)},
    [JFR__POOL_FRAME_TYPE] = {"jdk.types.FrameType", WANTS(text_wants)},
};

static int compile(jfr_chunk *chunk, const jfr__type *type, const jfr__want *wants, size_t count,
                   jfr__plan *out, jfr_error *err)
{
    return jfr__plan_compile(out, &chunk->meta, type, wants, count, chunk->info.compressed,
                             chunk->file->options.max_metadata_depth, &chunk->arena, err);
}

int jfr__pools_define(jfr_chunk *chunk, jfr_error *err)
{
    chunk->skips = jfr__arena_zalloc(&chunk->arena, chunk->meta.type_count, sizeof(jfr__plan));
    if (chunk->skips == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (int role = 0; role < JFR__POOL_ROLES; role++) {
        jfr__pool *pool = &chunk->pools[role];
        const jfr__type *type = jfr__metadata_named(&chunk->meta, roles[role].type);
        jfr__idmap_clear(&pool->index);
        pool->plan = (jfr__plan){NULL, 0};
        pool->defined = type != NULL;
        if (type == NULL)
            continue;
        int rc = compile(chunk, type, roles[role].wants, roles[role].want_count, &pool->plan, err);
        if (rc < 0)
            return rc;
    }
    const jfr__type *frame = jfr__metadata_named(&chunk->meta, "jdk.types.StackFrame");
    chunk->frame_plan = (jfr__plan){NULL, 0};
    if (frame == NULL)
        return 0;
    return compile(chunk, frame, WANTS(frame_wants), &chunk->frame_plan, err);
}

static jfr__pool *pool_of_type(jfr_chunk *chunk, const jfr__type *type)
{
    for (int role = 0; role < JFR__POOL_ROLES; role++) {
        if (chunk->pools[role].defined && jfr__str_is(type->name, roles[role].type))
            return &chunk->pools[role];
    }
    return NULL;
}

static int damaged(jfr_error *err, uint64_t offset, const char *what)
{
    return jfr__fail(err, JFR_ERR_FORMAT, offset, "A constant pool is damaged at this offset: %s.",
                     what);
}

static int index_entry(jfr_chunk *chunk, jfr__pool *pool, uint64_t id, uint64_t offset,
                       jfr_error *err)
{
    uint32_t before = pool->index.count;
    uint32_t index = jfr__idmap_put(&pool->index, id);
    if (index == JFR_NONE)
        return jfr__fail_nomem(err);
    if (index < before)
        return 0; /* the JDK repeats entries in later checkpoints */
    void *offsets = pool->offsets;
    if (jfr__grow(&chunk->file->allocator, &offsets, &pool->cap, (size_t)index + 1,
                  sizeof(*pool->offsets)) < 0)
        return jfr__fail_nomem(err);
    pool->offsets = offsets;
    pool->offsets[index] = offset;
    return 0;
}

static int read_entries(jfr_chunk *chunk, jfr__cursor *c, jfr__pool *pool, const jfr__plan *plan,
                        uint64_t *budget, jfr_error *err)
{
    uint64_t slots[JFR__POOL_SLOTS];
    uint32_t count = jfr__read_count(c);
    if (count > *budget)
        return jfr__fail(err, JFR_ERR_LIMIT, jfr__cursor_offset(c),
                         "The chunk's constant pools pass max_pool_entries (%" PRIu64 ").",
                         chunk->file->options.max_pool_entries);
    *budget -= count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = jfr__read_long(c);
        uint64_t offset = jfr__cursor_offset(c);
        jfr__plan_run(plan, c, slots);
        if (c->failed)
            return damaged(err, offset, "an entry runs over the checkpoint's end");
        int rc = pool != NULL ? index_entry(chunk, pool, id, offset, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_pool(jfr_chunk *chunk, jfr__cursor *c, uint64_t *budget, jfr_error *err)
{
    uint64_t offset = jfr__cursor_offset(c);
    uint64_t type_id = jfr__read_long(c);
    if (c->failed)
        return damaged(err, offset, "the checkpoint ends before its pools do");
    const jfr__type *type = jfr__metadata_type(&chunk->meta, type_id);
    if (type == NULL) {
        chunk->undefined_pools++;
        return damaged(err, offset, "its type is not defined by the chunk's metadata");
    }
    jfr__pool *pool = pool_of_type(chunk, type);
    if (pool != NULL)
        return read_entries(chunk, c, pool, &pool->plan, budget, err);
    chunk->unknown_pools++;
    jfr__plan *skip = &chunk->skips[type - chunk->meta.types];
    int rc = skip->ops == NULL ? compile(chunk, type, NULL, 0, skip, err) : 0;
    return rc < 0 ? rc : read_entries(chunk, c, NULL, skip, budget, err);
}

/*
 * Reads the checkpoint at `offset`, which must end before `end`: hostile ones that overlap would be
 * read over and over. `*delta` receives how far before it the previous one lies.
 */
static int read_checkpoint(jfr_chunk *chunk, uint64_t offset, uint64_t end, uint64_t *budget,
                           uint64_t *delta, jfr_error *err)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, offset, end);
    jfr__event_head head;
    *delta = 0;
    if (!jfr__event_next(&c, &head) || head.type != CHECKPOINT_TYPE)
        return damaged(err, offset, "no checkpoint is here");
    c.end = c.base + head.end;
    (void)jfr__read_long(&c); /* start */
    (void)jfr__read_long(&c); /* duration */
    *delta = 0 - jfr__read_long(&c);
    (void)jfr__read_u8(&c); /* kinds: flush, chunk header, statics, thread */
    uint32_t pools = jfr__read_count(&c);
    if (c.failed)
        return damaged(err, offset, "the checkpoint ends inside its head");
    for (uint32_t i = 0; i < pools; i++) {
        int rc = read_pool(chunk, &c, budget, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A damaged checkpoint costs its own rest: the loss is reported, the others are still read. */
static int tolerate(jfr_chunk *chunk, int rc, const jfr_error *why)
{
    if (rc != JFR_ERR_FORMAT)
        return rc;
    jfr__loss_add(chunk->file, JFR_LOSS_BAD_POOLS, why->offset, 0, chunk->info.offset);
    return 0;
}

static int forward(jfr_error *err, const jfr_error *inner, int rc)
{
    if (err != NULL && rc < 0)
        *err = *inner;
    return rc;
}

/* The header names the last checkpoint; each names the one before it. */
static int read_chain(jfr_chunk *chunk, uint64_t *budget, jfr_error *err)
{
    uint64_t first = chunk->info.offset + JFR__HEADER_SIZE;
    uint64_t at = chunk->info.offset + chunk->header.pool_offset;
    uint64_t end = chunk->end;
    for (;;) {
        uint64_t delta;
        jfr_error inner;
        int rc = read_checkpoint(chunk, at, end, budget, &delta, &inner);
        rc = tolerate(chunk, rc, &inner);
        if (rc < 0)
            return forward(err, &inner, rc);
        if (delta == 0)
            return 0;
        /* Only ever backwards: a chain that turns round would never end. */
        if (delta > at - first) {
            jfr__loss_add(chunk->file, JFR_LOSS_BAD_POOLS, at, 0, chunk->info.offset);
            return 0;
        }
        end = at;
        at -= delta;
    }
}

/* An unfinished chunk has no chain to trust: its checkpoints are found by walking the events. */
static int read_walking(jfr_chunk *chunk, uint64_t *budget, jfr_error *err)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, chunk->info.offset + JFR__HEADER_SIZE, chunk->end);
    jfr__event_head head;
    while (jfr__cursor_left(&c) > 0 && jfr__event_next(&c, &head)) {
        uint64_t delta;
        jfr_error inner;
        int rc = 0;
        if (head.type == CHECKPOINT_TYPE)
            rc = read_checkpoint(chunk, head.offset, head.end, budget, &delta, &inner);
        rc = tolerate(chunk, rc, &inner);
        if (rc < 0)
            return forward(err, &inner, rc);
        c.pos = c.base + head.end;
    }
    return 0;
}

int jfr__pools_read(jfr_chunk *chunk, bool whole, jfr_error *err)
{
    uint64_t budget = chunk->file->options.max_pool_entries;
    int rc = whole ? read_chain(chunk, &budget, err) : read_walking(chunk, &budget, err);
    for (int role = 0; role < JFR__POOL_ROLES; role++)
        jfr__idmap_finish(&chunk->pools[role].index);
    chunk->frames_by.methods = &chunk->pools[JFR__POOL_METHOD].index;
    chunk->frames_by.types = chunk->frame_types;
    jfr__frames_define(&chunk->frames_by, &chunk->pools[JFR__POOL_STACK].plan, &chunk->frame_plan);
    return rc;
}

int jfr__string_at(jfr_chunk *chunk, uint64_t offset, jfr_str *out, jfr_error *err)
{
    uint64_t limit = chunk->file->options.max_string_bytes;
    for (int hops = 0; hops < 2; hops++) {
        jfr__cursor c = jfr__chunk_cursor(chunk, offset, chunk->end);
        uint64_t key = 0;
        int rc = jfr__read_string(&c, &chunk->arena, limit, out, &key, err);
        if (rc != JFR__POOL)
            return rc < 0 ? rc : 0;
        const jfr__pool *pool = &chunk->pools[JFR__POOL_STRING];
        uint32_t index = jfr__idmap_find(&pool->index, key);
        if (index == JFR_NONE)
            return 0;
        offset = pool->offsets[index];
    }
    return 0; /* a pool string that is itself in the pool: null */
}

int jfr__pool_entry(const jfr_chunk *chunk, jfr__pool_role role, uint32_t index, uint64_t *slots,
                    jfr_error *err)
{
    const jfr__pool *pool = &chunk->pools[role];
    jfr__cursor c = jfr__chunk_cursor(chunk, pool->offsets[index], chunk->end);
    memset(slots, 0, JFR__POOL_SLOTS * sizeof(*slots));
    jfr__plan_run(&pool->plan, &c, slots);
    return c.failed ? damaged(err, pool->offsets[index], "an entry cannot be decoded") : 0;
}

int jfr__pool_text(jfr_chunk *chunk, jfr__pool_role role, uint64_t id, jfr_str *out, jfr_error *err)
{
    *out = (jfr_str){NULL, 0};
    uint32_t index = jfr__idmap_find(&chunk->pools[role].index, id);
    if (index == JFR_NONE)
        return 0;
    uint64_t slots[JFR__POOL_SLOTS];
    int rc = jfr__pool_entry(chunk, role, index, slots, err);
    if (rc < 0 || slots[JFR__SLOT_TEXT] == 0)
        return rc;
    return jfr__string_at(chunk, slots[JFR__SLOT_TEXT], out, err);
}
