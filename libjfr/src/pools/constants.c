/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"
#include "pools/checkpoint_impl.h"

#include <inttypes.h>
#include <string.h>

/* A constant that was found. All constants of a type are collected before they get their place. */
struct found {
    uint32_t type;
    uint64_t id;
    uint64_t offset;
};

struct scan {
    jfr_chunk *chunk;
    struct found *found;
    size_t count;
    size_t cap;
};

static int over_limit(const struct scan *s, uint64_t offset, jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_LIMIT, offset,
                     "The chunk's constant pools pass max_pool_entries (%" PRIu64 ").",
                     s->chunk->file->options.max_pool_entries);
}

/* Damage was reported as a loss when the chunk was opened; here it only ends the checkpoint. */
static int note_pool(void *ctx, uint32_t type, uint64_t offset, jfr__cursor *c, jfr_error *err)
{
    struct scan *s = ctx;
    const jfr__plan *skip = NULL;
    if (type == JFR_NONE)
        return jfr__pool_damaged(err, offset, "its type is not defined by the chunk's metadata");
    int rc = jfr__skip_of(s->chunk, type, &skip, err);
    if (rc < 0)
        return rc;
    uint32_t count = jfr__read_count(c);
    if (count > s->chunk->file->options.max_pool_entries - s->count)
        return over_limit(s, jfr__cursor_offset(c), err);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = jfr__read_long(c);
        uint64_t value = jfr__cursor_offset(c);
        jfr__plan_run(skip, c, NULL);
        if (c->failed)
            return jfr__bad_value(value, err);
        void *list = s->found;
        if (jfr__grow(&s->chunk->file->allocator, &list, &s->cap, s->count + 1, sizeof(*s->found)) <
            0)
            return jfr__fail_nomem(err);
        s->found = list;
        s->found[s->count++] = (struct found){type, id, value};
    }
    return 0;
}

/*
 * Of two constants with the same id, the one in the earlier checkpoint is used, and within one
 * checkpoint the later one. That is the last one in the order of the walk, as in the JDK
 * (ChunkParser.fillConstantPools).
 */
static int put_together(const struct scan *s, jfr__constants *all, jfr_error *err)
{
    jfr__arena *arena = &s->chunk->arena;
    for (size_t i = 0; i < s->count; i++) {
        const struct found *f = &s->found[i];
        if (jfr__idmap_put(&all[f->type].index, f->id) == JFR_NONE)
            return jfr__arena_fail(arena, err);
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct found *f = &s->found[i];
        jfr__constants *c = &all[f->type];
        if (c->list == NULL) {
            jfr__idmap_finish(&c->index);
            c->list = jfr__arena_zalloc(arena, c->index.count, sizeof(*c->list));
        }
        if (c->list == NULL)
            return jfr__arena_fail(arena, err);
        c->list[jfr__idmap_find(&c->index, f->id)] = (jfr__constant){f->id, f->offset};
    }
    return 0;
}

static int build(jfr_chunk *chunk, jfr__constants **out, jfr_error *err)
{
    jfr__generic *g = chunk->generic;
    jfr__constants *all = jfr__arena_zalloc(&chunk->arena, g->type_count, sizeof(*all));
    if (all == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    for (uint32_t i = 0; i < g->type_count; i++)
        jfr__idmap_init(&all[i].index, &g->from_arena);
    struct scan s = {.chunk = chunk};
    const jfr__pool_visitor visitor = {note_pool, NULL, &s};
    int rc = jfr__checkpoints_walk(chunk, &visitor, err);
    if (rc == 0)
        rc = put_together(&s, all, err);
    if (s.found != NULL)
        chunk->file->allocator.free(chunk->file->allocator.ctx, s.found);
    *out = all;
    return rc;
}

/* Returns the constants of all types, or NULL with a code in `*rc`. */
static const jfr__constants *get_all(jfr_chunk *chunk, int *rc, jfr_error *err)
{
    jfr__generic *g = NULL;
    *rc = jfr__generic_get(chunk, &g, err);
    if (*rc < 0)
        return NULL;
    if (g->constants == NULL) {
        jfr__constants *built = NULL;
        *rc = build(chunk, &built, err);
        g->constants = *rc == 0 ? built : NULL;
    }
    return g->constants;
}

int jfr__constant_find(jfr_chunk *chunk, uint32_t type, uint64_t id, uint32_t *index,
                       uint64_t *offset, jfr_error *err)
{
    int rc;
    const jfr__constants *all = get_all(chunk, &rc, err);
    if (all == NULL)
        return rc;
    *index = jfr__idmap_find(&all[type].index, id);
    if (*index == JFR_NONE)
        return 0;
    *offset = all[type].list[*index].offset;
    return 1;
}

/* Returns the constants of one type, as get_all does. */
static const jfr__constants *get_of_type(jfr_chunk *chunk, uint32_t type, int *rc, jfr_error *err)
{
    const jfr__constants *all = get_all(chunk, rc, err);
    if (all == NULL)
        return NULL;
    if (type < chunk->generic->type_count)
        return &all[type];
    *rc = jfr__fail(err, JFR_ERR_USAGE, 0, "Type %u does not exist: the chunk has %u.", type,
                    chunk->generic->type_count);
    return NULL;
}

static const jfr__constant *get_constant(jfr_chunk *chunk, uint32_t type, uint32_t index, int *rc,
                                         jfr_error *err)
{
    const jfr__constants *c = get_of_type(chunk, type, rc, err);
    if (c == NULL)
        return NULL;
    if (index < c->index.count)
        return &c->list[index];
    *rc = jfr__fail(err, JFR_ERR_USAGE, 0, "Constant %u does not exist: the type has %u.", index,
                    c->index.count);
    return NULL;
}

int jfr_chunk_constant_count(jfr_chunk *chunk, uint32_t type, uint32_t *count, jfr_error *err)
{
    int rc;
    const jfr__constants *c = get_of_type(chunk, type, &rc, err);
    if (c == NULL)
        return rc;
    *count = c->index.count;
    return 0;
}

int jfr_chunk_constant_id(jfr_chunk *chunk, uint32_t type, uint32_t index, uint64_t *id,
                          jfr_error *err)
{
    int rc;
    const jfr__constant *c = get_constant(chunk, type, index, &rc, err);
    if (c == NULL)
        return rc;
    *id = c->id;
    return 0;
}

int jfr_chunk_constant(jfr_chunk *chunk, uint32_t type, uint32_t index, jfr_variant *out,
                       jfr_error *err)
{
    int rc;
    const jfr__constant *c = get_constant(chunk, type, index, &rc, err);
    if (c == NULL)
        return rc;
    jfr__arena_reset(&chunk->scratch);
    return jfr__constant_read(chunk, type, index, c->offset, &chunk->scratch, out, err);
}
