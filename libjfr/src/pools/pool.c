/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "pools/checkpoint_impl.h"
#include "read/text_impl.h"

#include <inttypes.h>
#include <string.h>

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
            return jfr__pool_damaged(err, offset, "an entry runs over the checkpoint's end");
        int rc = pool != NULL ? index_entry(chunk, pool, id, offset, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

struct reading {
    jfr_chunk *chunk;
    uint64_t budget; /* entries that are still allowed */
};

static int read_pool(void *ctx, uint32_t number, uint64_t offset, jfr__cursor *c, jfr_error *err)
{
    struct reading *r = ctx;
    jfr_chunk *chunk = r->chunk;
    if (number == JFR_NONE) {
        chunk->undefined_pools++;
        return jfr__pool_damaged(err, offset, "its type is not defined by the chunk's metadata");
    }
    const jfr__type *type = &chunk->meta.types[number];
    jfr__pool *pool = pool_of_type(chunk, type);
    if (pool != NULL)
        return read_entries(chunk, c, pool, &pool->plan, &r->budget, err);
    chunk->unknown_pools++;
    jfr__plan *skip = &chunk->skips[number];
    int rc = skip->ops == NULL ? compile(chunk, type, NULL, 0, skip, err) : 0;
    if (rc < 0) {
        if (err != NULL)
            err->offset = offset; /* a type has no offset of its own */
        return rc;
    }
    return read_entries(chunk, c, NULL, skip, &r->budget, err);
}

static void report(void *ctx, uint64_t offset)
{
    const struct reading *r = ctx;
    jfr__loss_add(r->chunk->file, JFR_LOSS_BAD_POOLS, offset, 0, r->chunk->info.offset);
}

int jfr__pools_read(jfr_chunk *chunk, jfr_error *err)
{
    struct reading r = {chunk, chunk->file->options.max_pool_entries};
    const jfr__pool_visitor visitor = {read_pool, report, &r};
    int rc = jfr__checkpoints_walk(chunk, &visitor, err);
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
        if (jfr__kept_find(chunk, jfr__kept_text(offset), out))
            return 0;
        int rc = jfr__read_string(&c, &chunk->arena, limit, out, &key, err);
        if (rc != JFR__POOL)
            return rc < 0 ? rc : jfr__kept_put(chunk, jfr__kept_text(offset), *out, err);
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
    return c.failed ? jfr__pool_damaged(err, pool->offsets[index], "an entry cannot be decoded")
                    : 0;
}

int jfr__pool_text_offset(const jfr_chunk *chunk, jfr__pool_role role, uint32_t index,
                          uint64_t *offset, jfr_error *err)
{
    const jfr__pool *pool = &chunk->pools[role];
    /* Symbols and similar types are a single string. */
    if (pool->plan.count == 1 && pool->plan.ops[0].slot == JFR__SLOT_TEXT) {
        *offset = pool->offsets[index];
        return 0;
    }
    uint64_t slots[JFR__POOL_SLOTS];
    int rc = jfr__pool_entry(chunk, role, index, slots, err);
    *offset = rc == 0 ? slots[JFR__SLOT_TEXT] : 0;
    return rc;
}

int jfr__pool_text_at(jfr_chunk *chunk, jfr__pool_role role, uint32_t index, jfr_str *out,
                      jfr_error *err)
{
    uint64_t offset;
    *out = (jfr_str){NULL, 0};
    int rc = jfr__pool_text_offset(chunk, role, index, &offset, err);
    return rc < 0 || offset == 0 ? rc : jfr__string_at(chunk, offset, out, err);
}

int jfr__pool_text(jfr_chunk *chunk, jfr__pool_role role, uint64_t id, jfr_str *out, jfr_error *err)
{
    uint32_t index = jfr__idmap_find(&chunk->pools[role].index, id);
    *out = (jfr_str){NULL, 0};
    return index == JFR_NONE ? 0 : jfr__pool_text_at(chunk, role, index, out, err);
}
