/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum table { SAMPLES, WINDOWS, THREADS, STATES, RUNS, DEADLOCKS, STACKS, BATCHES } table;

static const char *const names[] = {
    [SAMPLES] = "profile_samples",   [WINDOWS] = "profile_windows",
    [THREADS] = "profile_threads",   [STATES] = "thread_snapshots",
    [RUNS] = "thread_snapshot_runs", [DEADLOCKS] = "deadlock_sightings",
    [STACKS] = "profile_stacks",     [BATCHES] = "ingestion_batches",
};

/* It has no padding, because its bytes are compared. */
typedef struct line_key {
    uint64_t target; /* of stacks: the service's number */
    uint32_t table, source, day, unused;
} line_key;

typedef struct line {
    uint64_t rows;
    uint64_t sums[4];
} line;

typedef struct stack_key {
    uint32_t service, day;
    uint8_t id[STACK_ID_SIZE];
} stack_key;

typedef struct sums {
    key_table keys;   /* line_key */
    key_table stacks; /* stack_key */
    line *lines;
    size_t room;
} sums;

static int add(sums *to, line_key key, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t more[] = {a, b, c, d};
    uint32_t index = 0;
    bool is_new = false;

    if (array_reserve((void **)&to->lines, &to->room, to->keys.count, sizeof(*to->lines)) != 0 ||
        key_table_add(&to->keys, &key, &index, &is_new) != 0)
        return -1;
    if (is_new)
        to->lines[index] = (line){0};
    to->lines[index].rows++;
    for (size_t i = 0; i < 4; i++)
        to->lines[index].sums[i] += more[i];
    return 0;
}

static int add_sum(sums *to, line_key key, const profile_sum *sum)
{
    return add(to, key, sum->raw_amount, sum->amount, sum->raw_count, sum->count);
}

/* Adds a stack that a service uses, once per day. */
static int add_stack(sums *to, const fleet *f, const batch *one, uint32_t target, uint32_t stack)
{
    stack_key key = {.service = target % f->services, .day = one->day};
    uint32_t index = 0;
    bool is_new = false;

    memcpy(key.id, one->stacks[stack].id, STACK_ID_SIZE);
    if (key_table_add(&to->stacks, &key, &index, &is_new) != 0)
        return -1;
    const line_key own = {.table = STACKS, .target = key.service, .day = one->day};
    return is_new ? add(to, own, 0, 0, 0, 0) : 0;
}

static line_key key_of_window(const batch *one, const uint64_t *targets, table of, uint32_t window)
{
    const batch_window *at = &one->windows[window];

    return (line_key){
        .table = of, .target = targets[at->target], .source = at->part.source, .day = one->day};
}

static int add_profiles(sums *to, const fleet *f, const batch *one, const uint64_t *targets)
{
    int rc = 0;

    for (uint32_t i = 0; i < one->window_count && rc == 0; i++)
        rc = add_sum(to, key_of_window(one, targets, WINDOWS, i), &one->windows[i].part.total);
    for (size_t i = 0; i < one->row_count && rc == 0; i++) {
        const batch_row *row = &one->rows[i];
        rc = add_sum(to, key_of_window(one, targets, SAMPLES, row->window), &row->sum);
        if (rc == 0)
            rc = add_stack(to, f, one, one->windows[row->window].target, row->stack);
    }
    for (size_t i = 0; i < one->thread_count && rc == 0; i++)
        rc = add_sum(to, key_of_window(one, targets, THREADS, one->threads[i].window),
                     &one->threads[i].sum);
    return rc;
}

static line_key key_of_snapshot(const batch *one, const uint64_t *targets, table of,
                                uint32_t snapshot)
{
    return (line_key){
        .table = of, .target = targets[one->snapshots[snapshot].target], .day = one->day};
}

/* Adds a sighting with its position in the cycle; a fleet's cycles have two threads each. */
static int add_sighting(sums *to, const batch *one, const uint64_t *targets, size_t i)
{
    const batch_deadlock *d = &one->deadlocks[i];
    const batch_state *state = &one->states[d->thread];

    return add(to, key_of_snapshot(one, targets, DEADLOCKS, state->snapshot), d->cycle, i % 2,
               state->java_tid, one->locks[state->lock - 1].identity);
}

static int add_snapshots(sums *to, const fleet *f, const batch *one, const uint64_t *targets)
{
    int rc = 0;

    for (uint32_t i = 0; i < one->snapshot_count && rc == 0; i++) {
        const batch_snapshot *at = &one->snapshots[i];
        rc = add(to, key_of_snapshot(one, targets, RUNS, i), at->threads_total, at->threads_total,
                 at->interval_ms, at->longest_pause_ns);
    }
    for (size_t i = 0; i < one->state_count && rc == 0; i++) {
        const batch_state *at = &one->states[i];
        rc = add(to, key_of_snapshot(one, targets, STATES, at->snapshot), at->cpu_ns,
                 at->allocated_bytes, at->java_tid, at->waited_ms);
        if (rc == 0 && at->stack > 0)
            rc = add_stack(to, f, one, one->snapshots[at->snapshot].target, at->stack - 1);
    }
    for (size_t i = 0; i < one->deadlock_count && rc == 0; i++)
        rc = add_sighting(to, one, targets, i);
    return rc;
}

static int add_batch(sums *to, const fleet *f, batch_name name)
{
    const line_key ledger = {.table = BATCHES};
    batch one;
    int rc = fleet_batch(f, name, &one);
    uint64_t *targets = rc == 0 ? calloc(one.target_count + 1, sizeof(*targets)) : NULL;

    rc = targets != NULL ? add(to, ledger, 0, 0, 0, 0) : -1;
    for (uint32_t i = 0; rc == 0 && i < one.target_count; i++)
        targets[i] = fleet_target_id(&one, i);
    if (rc == 0)
        rc = add_profiles(to, f, &one, targets);
    if (rc == 0)
        rc = add_snapshots(to, f, &one, targets);
    free(targets);
    batch_clear(&one);
    return rc;
}

static void print_line(const fleet *f, const line_key *key, const line *one, FILE *out)
{
    char name[NAME_SIZE];

    if (key->table == STACKS)
        fleet_service(f, (uint32_t)key->target, name);
    else
        (void)snprintf(name, sizeof(name), "%016" PRIx64, key->target);
    (void)fprintf(out, "%s\t%s\t%u\t%u\t%" PRIu64, names[key->table], name, key->source, key->day,
                  one->rows);
    for (size_t i = 0; i < 4; i++)
        (void)fprintf(out, "\t%" PRIu64, one->sums[i]);
    (void)fputc('\n', out);
}

int expect_print(const fleet *f, FILE *out)
{
    sums all = {.keys.key_size = sizeof(line_key), .stacks.key_size = sizeof(stack_key)};
    int rc = 0;

    for (uint32_t node = 0; node < f->nodes && rc == 0; node++) {
        for (uint32_t window = 0; window < f->windows && rc == 0; window++) {
            for (uint32_t part = 0; part < fleet_parts(f) && rc == 0; part++)
                rc = add_batch(&all, f, (batch_name){node, window, part});
        }
    }
    for (size_t i = 0; i < all.keys.count && rc == 0; i++) {
        line_key key;
        memcpy(&key, all.keys.keys + i * sizeof(key), sizeof(key));
        print_line(f, &key, &all.lines[i], out);
    }
    key_table_clear(&all.keys);
    key_table_clear(&all.stacks);
    free(all.lines);
    return rc;
}
