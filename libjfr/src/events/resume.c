/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where reading continues after bytes that are no event. */
#include "read/reader_impl.h"

#include "error_impl.h"

int jfr__boundary_add(jfr_chunk *chunk, uint64_t offset, jfr_error *err)
{
    void *list = chunk->boundaries;
    if (jfr__grow(&chunk->file->allocator, &list, &chunk->boundary_cap, chunk->boundary_count + 1,
                  sizeof(*chunk->boundaries)) < 0)
        return jfr__fail_nomem(err);
    chunk->boundaries = list;
    chunk->boundaries[chunk->boundary_count++] = offset;
    return 0;
}

/* The boundaries descend, because the chain of checkpoints goes backwards. */
uint64_t jfr__boundary_behind(const jfr_chunk *chunk, uint64_t offset)
{
    size_t low = 0;
    size_t high = chunk->boundary_count;
    while (low < high) {
        size_t half = low + (high - low) / 2;
        if (chunk->boundaries[half] > offset)
            low = half + 1;
        else
            high = half;
    }
    return low > 0 ? chunk->boundaries[low - 1] : chunk->end;
}

bool jfr__resume(jfr_chunk *chunk, jfr__cursor *c, uint64_t offset)
{
    uint64_t next = jfr__boundary_behind(chunk, offset);
    c->failed = false;
    c->pos = c->base + next;
    if (offset >= chunk->lost_to) {
        chunk->lost_to = next;
        jfr__loss_add(chunk->file, chunk->info.finished ? JFR_LOSS_BAD_EVENTS : JFR_LOSS_UNFINISHED,
                      offset, next - offset, chunk->info.offset);
    }
    return next < chunk->end;
}
