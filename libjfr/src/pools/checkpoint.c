/* SPDX-License-Identifier: Apache-2.0 */
#include "pools/checkpoint_impl.h"

#include "error_impl.h"

/*
 * A checkpoint event: size, type 1, start, duration, delta to the previous checkpoint (a negative
 * long), a byte of kinds, number of pools; each pool: type id, number of entries; each entry: id,
 * value (JDK jdk.jfr.internal.consumer.ChunkParser.fillConstantPools).
 */
enum { CHECKPOINT_TYPE = 1 };

int jfr__pool_damaged(jfr_error *err, uint64_t offset, const char *what)
{
    return jfr__fail(err, JFR_ERR_FORMAT, offset, "A constant pool is damaged at this offset: %s.",
                     what);
}

static int visit_pools(jfr_chunk *chunk, jfr__cursor *c, uint32_t pools,
                       const jfr__pool_visitor *visitor, jfr_error *err)
{
    for (uint32_t i = 0; i < pools; i++) {
        uint64_t offset = jfr__cursor_offset(c);
        uint64_t id = jfr__read_long(c);
        if (c->failed)
            return jfr__pool_damaged(err, offset, "the checkpoint ends before its pools do");
        int rc =
            visitor->pool(visitor->ctx, jfr__idmap_find(&chunk->meta.by_id, id), offset, c, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/*
 * Visits the checkpoint at `offset`, which must end before `end`: otherwise a hostile file could
 * make overlapping checkpoints be read again and again. `*delta` receives the distance to the
 * previous checkpoint.
 */
static int visit(jfr_chunk *chunk, uint64_t offset, uint64_t end, uint64_t *delta,
                 const jfr__pool_visitor *visitor, jfr_error *err)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, offset, end);
    jfr__event_head head;
    *delta = 0;
    if (!jfr__event_next(&c, &head) || head.type != CHECKPOINT_TYPE)
        return jfr__pool_damaged(err, offset, "no checkpoint is here");
    c.end = c.base + head.end;
    (void)jfr__read_long(&c); /* start */
    (void)jfr__read_long(&c); /* duration */
    *delta = 0 - jfr__read_long(&c);
    (void)jfr__read_u8(&c); /* kinds: flush, chunk header, statics, thread */
    uint32_t pools = jfr__read_count(&c);
    if (c.failed)
        return jfr__pool_damaged(err, offset, "the checkpoint ends inside its head");
    return visit_pools(chunk, &c, pools, visitor, err);
}

/* Ignores the error of a damaged checkpoint: only its own rest is lost, and the others are still
 * visited. */
static int tolerate(const jfr__pool_visitor *visitor, int rc, const jfr_error *why, jfr_error *err)
{
    if (rc == JFR_ERR_FORMAT) {
        if (visitor->damage != NULL)
            visitor->damage(visitor->ctx, why->offset);
        return 0;
    }
    if (err != NULL && rc < 0)
        *err = *why;
    return rc;
}

/*
 * Visits the chain of checkpoints. The header names the last one, and each names the previous one.
 */
static int walk_chain(jfr_chunk *chunk, const jfr__pool_visitor *visitor, jfr_error *err)
{
    uint64_t first = chunk->info.offset + JFR__HEADER_SIZE;
    uint64_t at = chunk->info.offset + chunk->header.pool_offset;
    uint64_t end = chunk->end;
    for (;;) {
        uint64_t delta;
        jfr_error why;
        int rc = visit(chunk, at, end, &delta, visitor, &why);
        if (rc == 0 && jfr__boundary_add(chunk, at, err) < 0)
            return JFR_ERR_NOMEM;
        if (rc == 0 && at - chunk->info.offset >= chunk->info.size / 2)
            chunk->middle = at;
        rc = tolerate(visitor, rc, &why, err);
        if (rc != 0 || delta == 0)
            return rc;
        /* The chain must go backwards, since it could otherwise be endless. */
        if (delta > at - first) {
            why.offset = at;
            return tolerate(visitor, JFR_ERR_FORMAT, &why, err);
        }
        end = at;
        at -= delta;
    }
}

/* The chain of an unfinished chunk is not reliable, so its checkpoints are found by walking the
 * events. */
static int walk_events(jfr_chunk *chunk, const jfr__pool_visitor *visitor, jfr_error *err)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, chunk->info.offset + JFR__HEADER_SIZE, chunk->end);
    jfr__event_head head;
    while (jfr__cursor_left(&c) > 0 && jfr__event_next(&c, &head)) {
        uint64_t delta;
        jfr_error why;
        int rc = 0;
        if (head.type == CHECKPOINT_TYPE)
            rc = visit(chunk, head.offset, head.end, &delta, visitor, &why);
        rc = tolerate(visitor, rc, &why, err);
        if (rc != 0)
            return rc;
        c.pos = c.base + head.end;
    }
    return 0;
}

int jfr__checkpoints_walk(jfr_chunk *chunk, const jfr__pool_visitor *visitor, jfr_error *err)
{
    return chunk->info.finished ? walk_chain(chunk, visitor, err)
                                : walk_events(chunk, visitor, err);
}
