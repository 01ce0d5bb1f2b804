/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of a chunk in parts on several threads, and joins the results.
 */
#include "error_impl.h"
#include "memory_impl.h"
#include "sums/sum_impl.h"

#include <string.h>

/* ---- parts ---- */

static uint64_t first_event(const jfr_chunk *chunk)
{
    return chunk->info.offset + JFR__HEADER_SIZE;
}

enum { FAR_PARTS = 4 };

/*
 * Guesses where a part begins. Parts have about equal numbers of bytes of events. async-profiler
 * writes its pools after the events, in one checkpoint, whose offset the header states. If no event
 * is found, for example inside a large event, the previous part continues. This search is bounded:
 * beyond the bound the chunk's end is used, and the parts then do not fit together.
 */
static uint64_t part_begin(const jfr_chunk *chunk, uint32_t part, uint32_t parts)
{
    uint64_t first = first_event(chunk);
    uint64_t end = chunk->end;
    uint64_t pools = chunk->info.offset + chunk->header.pool_offset;
    if (part == 0)
        return first;
    if (chunk->info.finished && pools > first && pools < end)
        end = pools;
    for (uint32_t far = 0; part < parts && far < FAR_PARTS; part++, far++) {
        uint64_t at;
        if (jfr__sums_guess(chunk, first + (end - first) / parts * part, &at))
            return at;
    }
    return chunk->end;
}

static bool add_piece(jfr__tally *sums, uint32_t part, uint64_t from)
{
    void *pieces = sums->pieces;
    if (jfr__grow(&sums->allocator, &pieces, &sums->piece_cap, (size_t)sums->piece_count + 1,
                  sizeof(*sums->pieces)) < 0) {
        sums->rc = JFR_ERR_NOMEM;
        return false;
    }
    sums->pieces = pieces;
    sums->pieces[sums->piece_count++] =
        (jfr__piece){.part = part, .first_row = sums->row_count + 1, .from = from};
    return true;
}

static void read_part(jfr__tally *sums, uint32_t part, uint64_t from, uint64_t to)
{
    if (!add_piece(sums, part, from))
        return;
    jfr__sums_walk(sums, from, to);
    sums->pieces[sums->piece_count - 1].reached = sums->reached;
}

static int why(const jfr__tally *sums, jfr_error *err)
{
    if (sums->rc == JFR_ERR_NOMEM)
        return jfr__fail_nomem(err);
    return jfr__fail(err, JFR_ERR_LIMIT, sums->chunk->info.offset,
                     "The chunk has more distinct stacks and threads than max_rows (%u): read it "
                     "by samples.",
                     sums->max_rows);
}

void jfr__tally_parts(jfr__tally *sums, const jfr_chunk *chunk, uint32_t parts,
                      jfr__next_part *next, void *ctx)
{
    jfr__sums_prepare(sums, chunk);
    sums->parts = parts;
    while (sums->rc == 0 && !sums->lost) {
        uint32_t part = next(ctx);
        if (part >= parts)
            break;
        read_part(sums, part, part_begin(chunk, part, parts), part_begin(chunk, part + 1, parts));
    }
    jfr__sums_leave(sums);
    if (sums->rc == 0)
        sums->rc = jfr__sums_find_stacks(sums);
}

/* ---- joining the parts ---- */

static void first_piece(jfr__tally *const *sums, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sums[i]->next_piece = 0;
}

/* Finds the next part. Returns the number of the tally that read it, or `count` if none did. */
static uint32_t find_piece(jfr__tally *const *sums, uint32_t count, uint32_t part,
                           const jfr__piece **out)
{
    uint32_t i = 0;
    while (i < count && (sums[i]->next_piece == sums[i]->piece_count ||
                         sums[i]->pieces[sums[i]->next_piece].part != part))
        i++;
    if (i < count)
        *out = &sums[i]->pieces[sums[i]->next_piece++];
    return i;
}

/* Returns whether each part begins where the previous one ended, and each part was read to its end.
 */
static bool fits(jfr__tally *const *sums, uint32_t count, const jfr_chunk *chunk, uint64_t *at)
{
    const jfr__piece *piece;
    *at = first_event(chunk);
    first_piece(sums, count);
    for (uint32_t part = 0; part < sums[0]->parts; part++) {
        if (find_piece(sums, count, part, &piece) == count || piece->from != *at)
            return false;
        *at = piece->reached;
    }
    for (uint32_t i = 0; i < count; i++)
        if (sums[i]->lost)
            return false;
    return true;
}

/* Reads all events into the first sums, as one part. */
static int read_alone(jfr__tally *const *sums, uint32_t count, const jfr_chunk *chunk)
{
    for (uint32_t i = 0; i < count; i++) {
        jfr__sums_prepare(sums[i], chunk);
        sums[i]->parts = 1;
    }
    if (sums[0]->rc == 0)
        read_part(sums[0], 0, first_event(chunk), chunk->end);
    sums[0]->stats.reread++;
    return sums[0]->rc == 0 ? jfr__sums_find_stacks(sums[0]) : sums[0]->rc;
}

static void add_counts(jfr_chunk_stats *to, jfr__tally *sums)
{
    to->events += sums->events;
    to->bad_events += sums->bad_events;
    for (int source = 0; source < JFR_SOURCE_COUNT; source++) {
        const uint64_t *skipped = sums->skipped[source];
        to->unmeasured_events[source] += skipped[JFR__UNMEASURED];
        to->rival_events[source] += skipped[JFR__RIVAL];
        to->native_samples += skipped[JFR__NATIVE];
        to->idle_waits += skipped[JFR__IDLE];
    }
    sums->stats.events += sums->events;
}

static int join(jfr__tally *const *sums, uint32_t count, jfr_chunk *chunk, jfr_error *err)
{
    uint64_t at;
    for (uint32_t i = 0; i < count; i++)
        if (sums[i]->rc < 0)
            return why(sums[i], err);
    bool fit = fits(sums, count, chunk, &at);
    if (!fit && sums[0]->parts > 1) {
        sums[0]->rc = read_alone(sums, count, chunk);
        if (sums[0]->rc < 0)
            return why(sums[0], err);
        at = sums[0]->reached;
    }
    if (sums[0]->lost && jfr__boundary_behind(chunk, at) < chunk->end)
        return jfr__fail(err, JFR_ERR_LIMIT, at,
                         "Events of the chunk are damaged, and more come behind them: read it by "
                         "samples.");
    jfr_samples_rewind(chunk);
    for (uint32_t i = 0; i < count; i++) {
        add_counts(&chunk->stats, sums[i]);
        int rc = jfr__sums_view(sums[i], chunk, err);
        if (rc < 0)
            return rc;
    }
    jfr__samples_end(chunk, at, sums[0]->lost);
    return 0;
}

/*
 * Sums need stack numbers of 32 bits, which all recorders write. Recordings with larger numbers
 * must be read by jfr_samples_next.
 */
static int check_numbers(const jfr_chunk *chunk, jfr_error *err)
{
    if (chunk->pools[JFR__POOL_STACK].index.max_key < JFR_NONE)
        return 0;
    return jfr__fail(err, JFR_ERR_LIMIT, chunk->info.offset,
                     "The chunk numbers its stacks beyond 32 bits: read it by samples.");
}

int jfr__tally_join(jfr__tally *const *sums, uint32_t count, jfr_chunk *chunk, jfr_error *err)
{
    int rc = check_numbers(chunk, err);
    if (rc == 0)
        rc = join(sums, count, chunk, err);
    if (rc == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        jfr__sums_clear(sums[i], 0);
    jfr_samples_rewind(chunk);
    return rc;
}

static uint32_t count_up(void *ctx)
{
    return (*(uint32_t *)ctx)++;
}

int jfr__tally_fill(jfr__tally *sums, jfr_chunk *chunk, jfr_error *err)
{
    uint32_t next = 0;
    jfr__tally_parts(sums, chunk, 1, count_up, &next);
    return jfr__tally_join(&sums, 1, chunk, err);
}

/* ---- rows by stack ---- */

size_t jfr__tally_count(jfr__tally *const *sums, uint32_t count)
{
    size_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
        rows += sums[i]->row_count;
    return rows;
}

/* Returns the group of a row: its stack, or one of the two groups after all stacks: rows without a
 * stack, and rows by second. */
static uint32_t group_of(const jfr__tally *sums, const jfr__row *row, uint32_t stacks)
{
    uint32_t stack = (uint32_t)row->key;
    if ((sums->lanes[row->key >> 32].split & JFR__LANE_SECONDS) != 0)
        return stacks + 1;
    return stack < stacks ? stack : stacks;
}

/* Numbers the rows that were first added by one piece, which sums[owner] read. */
static void put_piece(jfr__tally *const *sums, uint32_t owner, const jfr__piece *piece,
                      uint32_t stacks, uint32_t *begins, uint32_t *order)
{
    const jfr__tally *of = sums[owner];
    const jfr__piece *last = &of->pieces[of->piece_count - 1];
    uint32_t end = piece != last ? piece[1].first_row : of->row_count + 1;
    uint32_t before = (uint32_t)jfr__tally_count(sums, owner);
    for (uint32_t i = piece->first_row; i < end; i++) {
        if (of->rows[i].count != 0)
            order[begins[group_of(of, &of->rows[i], stacks)]++] = before + i - 1;
    }
}

void jfr__tally_sort(jfr__tally *const *sums, uint32_t count, uint32_t stacks, uint32_t *begins,
                     uint32_t *order)
{
    const jfr__piece *piece;
    memset(begins, 0, ((size_t)stacks + 3) * sizeof(*begins));
    for (uint32_t owner = 0; owner < count; owner++) {
        for (uint32_t i = 1; i <= sums[owner]->row_count; i++) {
            const jfr__row *row = &sums[owner]->rows[i];
            begins[group_of(sums[owner], row, stacks) + 1] += row->count != 0;
        }
    }
    for (uint32_t i = 0; i <= stacks + 1; i++)
        begins[i + 1] += begins[i];
    first_piece(sums, count);
    for (uint32_t part = 0; part < sums[0]->parts; part++) {
        uint32_t owner = find_piece(sums, count, part, &piece);
        if (owner < count)
            put_piece(sums, owner, piece, stacks, begins, order);
    }
    /* Each entry of `begins` has moved to the end of its group, which is the beginning of the next
     * group. */
    memmove(begins + 1, begins, ((size_t)stacks + 2) * sizeof(*begins));
    begins[0] = 0;
}
