/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the profiles of a simulated JVM: rows, seconds and threads of its window. */
#include "fleet_impl.h"

#include <stdio.h>
#include <string.h>

enum { SECONDS = WINDOW_MS / 1000, THREADS = 8, EVENTS_MAX = 20 };

static uint64_t window_start(const making *m)
{
    return m->f->start_ms + (uint64_t)m->name.window * WINDOW_MS;
}

/* Adds a pool's name. If a recording has few rows, several pools use the same ones. */
static int add_pool(making *m, uint32_t pool, size_t copy, uint32_t *index)
{
    size_t length = 0;
    const char *text = string_table_at(&m->f->from->read.strings, pool, &length);
    char name[256];

    if (copy == 0)
        return string_table_add(&m->to->strings, text, length, index);
    (void)snprintf(name, sizeof(name), "%.200s-%zu-#", text, copy);
    return making_text(m, name, index);
}

/* Adds row `at` of a source; a recording has `counts[source]` of them, and further rows are copies
 * for other pools. */
static int add_row(making *m, uint32_t window, uint32_t source, uint64_t at)
{
    const stock *from = m->f->from;
    const profile_row *recorded = &from->read.rows[from->rows[source][at % from->counts[source]]];
    batch *to = m->to;
    batch_row *row = BATCH_NEXT(to->rows, to->row_room, to->row_count);
    uint64_t events = 1 + making_roll(m) % EVENTS_MAX;
    const profile_sum *sum = &recorded->sum;

    if (row == NULL)
        return -1;
    *row = (batch_row){.window = window, .facet = recorded->facet};
    row->sum = (profile_sum){.raw_amount = sum->raw_amount / sum->raw_count * events,
                             .amount = sum->amount / sum->raw_count * events,
                             .raw_count = events,
                             .count = sum->count / sum->raw_count * events};
    to->row_count++;
    profile_sum_add(&to->windows[window].part.total, &row->sum);
    if (add_pool(m, recorded->pool, at / from->counts[source], &row->pool_str) != 0 ||
        batch_move_string(&to->strings, &from->read.strings, recorded->object, &row->object_str) !=
            0)
        return -1;
    return making_stack(m, recorded->stack, &row->stack);
}

/* Adds the rows of a window: most are the service's hot ones, which are in every window; the others
 * change. */
static int add_rows(making *m, uint32_t window, uint32_t source, uint32_t service, uint64_t rows)
{
    uint64_t recorded = m->f->from->counts[source];
    uint64_t all = (2 * rows + recorded - 1) / recorded * recorded;
    uint64_t hot = rows * 7 / 10, first = (uint64_t)service * 7919 % all;
    uint64_t shift = making_roll(m) % (all - hot);

    for (uint64_t i = 0; i < rows; i++) {
        uint64_t at = i < hot ? i : hot + (shift + i - hot) % (all - hot);
        if (add_row(m, window, source, (first + at) % all) != 0)
            return -1;
    }
    return 0;
}

/* Adds the seconds, each of which has the same share of the window. */
static int add_seconds(batch *to, uint32_t window, uint32_t pool)
{
    const profile_sum *total = &to->windows[window].part.total;

    for (uint32_t i = 0; i < SECONDS; i++) {
        batch_second *second = BATCH_NEXT(to->seconds, to->second_room, to->second_count);
        if (second == NULL)
            return -1;
        *second = (batch_second){.window = window,
                                 .pool_str = pool,
                                 .second = i,
                                 .amount = total->amount / SECONDS + 1,
                                 .count = total->count / SECONDS + 1};
        to->second_count++;
    }
    return 0;
}

static int add_threads(making *m, uint32_t window)
{
    batch *to = m->to;
    const profile_sum *total = &to->windows[window].part.total;

    for (uint32_t i = 0; i < THREADS; i++) {
        batch_thread *thread = BATCH_NEXT(to->threads, to->thread_room, to->thread_count);
        char name[NAME_SIZE];
        if (thread == NULL)
            return -1;
        *thread = (batch_thread){.window = window,
                                 .os_tid = 2000 + i,
                                 .java_tid = 20 + i,
                                 .sum = {total->raw_amount / THREADS, total->amount / THREADS,
                                         total->raw_count / THREADS, total->count / THREADS}};
        to->thread_count++;
        (void)snprintf(name, sizeof(name), "worker-%u", i);
        if (making_text(m, name, &thread->name_str) != 0 ||
            making_text(m, "worker-#", &thread->pool_str) != 0)
            return -1;
    }
    return 0;
}

static int add_window(making *m, uint32_t jvm, uint32_t source, uint64_t rows)
{
    batch *to = m->to;
    uint32_t index = (uint32_t)to->window_count;
    batch_window *window = BATCH_NEXT(to->windows, to->window_room, to->window_count);

    if (window == NULL)
        return -1;
    *window = (batch_window){.target = jvm,
                             .start_ms = window_start(m),
                             .length_ms = WINDOW_MS,
                             .covered_ms = WINDOW_MS,
                             .part = {.source = source, .interval = 10000000}};
    to->window_count++;
    uint32_t engine = 0;
    if (making_text(m, "ctimer", &engine) != 0)
        return -1;
    to->windows[index].engine_str = engine;
    if (rows > 0 && add_rows(m, index, source, jvm % m->f->services, rows) != 0)
        return -1;
    if (rows == 0 || source != PROFILE_SOURCE_CPU)
        return 0;
    return add_seconds(to, index, to->rows[to->row_count - 1].pool_str) != 0
               ? -1
               : add_threads(m, index);
}

int making_windows(making *m, uint32_t jvm)
{
    const stock *from = m->f->from;
    uint32_t left = from->sources;
    uint64_t rows = m->f->rows;

    for (uint32_t source = 1; source < PROFILE_SOURCE_END; source++) {
        if (from->counts[source] == 0)
            continue;
        uint64_t share = rows / left;
        if (add_window(m, jvm, source, share) != 0)
            return -1;
        rows -= share;
        left--;
    }
    return 0;
}
