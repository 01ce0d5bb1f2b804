#include "error.h"
#include "generic.h"

enum { CHECKPOINT_TYPE = 1 };

static int damaged(jfr_error *err, uint64_t offset)
{
    return jfr__fail(err, JFR_ERR_FORMAT, offset, "A checkpoint is damaged at this offset.");
}

static int take_pools(jfr_chunk *chunk, jfr__cursor *c, jfr__take_pool take, void *ctx,
                      jfr_error *err)
{
    uint32_t pools = jfr__read_count(c);
    for (uint32_t i = 0; i < pools; i++) {
        uint64_t offset = jfr__cursor_offset(c);
        uint64_t id = jfr__read_long(c);
        uint32_t type = jfr__idmap_find(&chunk->meta.by_id, id);
        if (c->failed || type == JFR_NONE)
            return damaged(err, offset);
        int rc = take(ctx, type, c, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The checkpoint at `offset` (see pool.c); `*delta` receives how far before it the previous lies.
 */
static int walk_one(jfr_chunk *chunk, uint64_t offset, uint64_t end, uint64_t *delta,
                    jfr__take_pool take, void *ctx, jfr_error *err)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, offset, end);
    jfr__event_head head;
    *delta = 0;
    if (!jfr__event_next(&c, &head) || head.type != CHECKPOINT_TYPE)
        return damaged(err, offset);
    c.end = c.base + head.end;
    (void)jfr__read_long(&c); /* start */
    (void)jfr__read_long(&c); /* duration */
    *delta = 0 - jfr__read_long(&c);
    (void)jfr__read_u8(&c); /* kinds */
    return take_pools(chunk, &c, take, ctx, err);
}

static int walk_chain(jfr_chunk *chunk, jfr__take_pool take, void *ctx, jfr_error *err)
{
    uint64_t first = chunk->info.offset + JFR__HEADER_SIZE;
    uint64_t at = chunk->info.offset + chunk->header.pool_offset;
    uint64_t end = chunk->end;
    for (;;) {
        uint64_t delta;
        int rc = walk_one(chunk, at, end, &delta, take, ctx, err);
        if (rc < 0 && rc != JFR_ERR_FORMAT)
            return rc;
        if (delta == 0 || delta > at - first)
            return 0;
        end = at;
        at -= delta;
    }
}

static int walk_events(jfr_chunk *chunk, jfr__take_pool take, void *ctx, jfr_error *err)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, chunk->info.offset + JFR__HEADER_SIZE, chunk->end);
    jfr__event_head head;
    while (jfr__cursor_left(&c) > 0 && jfr__event_next(&c, &head)) {
        uint64_t delta;
        int rc = 0;
        if (head.type == CHECKPOINT_TYPE)
            rc = walk_one(chunk, head.offset, head.end, &delta, take, ctx, err);
        if (rc < 0 && rc != JFR_ERR_FORMAT)
            return rc;
        c.pos = c.base + head.end;
    }
    return 0;
}

/* Damage was reported as a loss when the chunk was opened: here its checkpoint just ends. */
int jfr__checkpoints_walk(jfr_chunk *chunk, jfr__take_pool take, void *ctx, jfr_error *err)
{
    return chunk->info.finished ? walk_chain(chunk, take, ctx, err)
                                : walk_events(chunk, take, ctx, err);
}
