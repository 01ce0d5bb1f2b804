/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the blocks of a batch's thread snapshots: docs/formats/storage.md. */
#include <stdlib.h>

#include "sql.h"
#include "table.h"
#include "write_impl.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- thread_snapshot_runs ---- */

static void put_run(table *t, const profile_batch *b, uint32_t i, uint32_t listed,
                    uint32_t sightings)
{
    const snapshot_columns *n = &b->snapshots;
    const target_columns *targets = &b->targets;
    uint32_t target = n->target.at[i];

    put_service(t, b, target, 1);
    table_put_uint(t, target_id_at(targets, &b->strings, target));
    table_put_ms(t, n->taken_ms.at[i]);
    table_put_text(t, string_of(b, &targets->pod, target));
    table_put_text(t, string_of(b, &targets->container, target));
    table_put_text(t, b->collector.node);
    table_put_uint(t, targets->host_pid.at[target]);
    table_put_text(t, string_of(b, &targets->app_version, target));
    table_put_uint(t, n->interval_ms.at[i]);
    table_put_uint(t, n->threads_total.at[i]);
    table_put_uint(t, listed);
    table_put_uint(t, n->reason.at[i]);
    table_put_uint(t, n->cut.at[i]);
    table_put_uint(t, n->offers.at[i]);
    table_put_uint(t, n->longest_pause_ns.at[i]);
    table_put_uint(t, batch_mark(b));
    table_put_uint(t, sightings);
}

/* Returns how many threads of deadlocks a snapshot has. */
static uint32_t count_sightings(const profile_batch *b, uint32_t snapshot)
{
    uint32_t count = 0;

    for (size_t i = 0; i < b->deadlocks.thread.count; i++)
        count += b->states.snapshot.at[b->deadlocks.thread.at[i]] == snapshot;
    return count;
}

int clickhouse__write_snapshot_runs(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,
        {"target_id", "UInt64"},
        {"time", MOMENT},
        {"pod", LOW},
        {"container", LOW},
        {"node", LOW},
        {"host_pid", "UInt32"},
        {"app_version", LOW},
        {"interval_ms", "UInt32"},
        {"threads_total", "UInt32"},
        {"threads_listed", "UInt32"},
        {"reason", "UInt16"},
        {"cut", "UInt16"},
        {"offers", "UInt16"},
        {"longest_pause_ns", "UInt64"},
        {"batch", "UInt32"},
        {"sightings", "UInt32"},
    };
    const profile_batch *b = w->batch;
    const u32s states = b->states.snapshot;
    table t;
    int rc = table_begin(&t, "thread_snapshot_runs", columns, COUNT(columns), err);
    size_t at = 0;

    for (uint32_t i = 0; i < b->snapshots.target.count && rc == 0; i++) {
        size_t first = at;
        while (at < states.count && states.at[at] == i)
            at++;
        put_run(&t, b, i, (uint32_t)(at - first), count_sightings(b, i));
    }
    if (rc == 0)
        rc = insert_table(&t, to, w, false, err);
    table_end(&t);
    return rc;
}

/* ---- thread_snapshots ---- */

/* Appends the held locks of thread `i`, which begin at *at; moves *at past them. */
static void put_held(table *t, const profile_batch *b, uint32_t i, size_t *at)
{
    const held_columns *h = &b->held;
    size_t first = *at;
    chs_column *classes = table_next(t), *ids = table_next(t), *kinds = table_next(t),
               *depths = table_next(t);

    while (*at < h->thread.count && h->thread.at[*at] == i)
        ++*at;
    size_t count = *at - first; /* the validator ensures at most HELD_PER_THREAD_MAX */
    chs_bytes names[HELD_PER_THREAD_MAX];
    uint64_t numbers[3][HELD_PER_THREAD_MAX];
    for (size_t k = 0; k < count; k++) {
        uint32_t lock = h->lock.at[first + k];
        text name = string_of(b, &b->locks.class_name, lock);
        names[k] = (chs_bytes){name.data, name.length};
        numbers[0][k] = b->locks.identity.at[lock];
        numbers[1][k] = h->kind.at[first + k];
        numbers[2][k] = h->depth.at[first + k];
    }
    chs_append_bytes_array(classes, names, count);
    chs_append_uint_array(ids, numbers[0], count);
    chs_append_uint_array(kinds, numbers[1], count);
    chs_append_uint_array(depths, numbers[2], count);
}

/* Returns the id of a thread's stack; all zero if it has none. */
static text stack_of(const profile_batch *b, uint32_t i)
{
    static const char none[STACK_ID_BYTES];
    uint32_t stack = b->states.stack.at[i];

    return (text){stack > 0 ? b->stack_ids.data + (size_t)(stack - 1) * STACK_ID_BYTES : none,
                  STACK_ID_BYTES};
}

static void put_lock(table *t, const profile_batch *b, uint32_t i)
{
    uint32_t lock = b->states.lock.at[i];

    table_put_text(t, lock > 0 ? string_of(b, &b->locks.class_name, lock - 1) : (text){"", 0});
    table_put_uint(t, lock > 0 ? b->locks.identity.at[lock - 1] : 0);
}

static void put_state(table *t, const profile_batch *b, uint32_t i, size_t *held)
{
    const state_columns *s = &b->states;
    uint32_t snapshot = s->snapshot.at[i], target = b->snapshots.target.at[snapshot];

    put_service(t, b, target, 1);
    table_put_uint(t, target_id_at(&b->targets, &b->strings, target));
    table_put_ms(t, b->snapshots.taken_ms.at[snapshot]);
    table_put_uint(t, s->java_tid.at[i]);
    table_put_uint(t, s->os_tid.at[i]);
    table_put_text(t, string_of(b, &s->name, i));
    table_put_text(t, string_of(b, &s->pool, i));
    table_put_uint(t, s->state.at[i]);
    table_put_uint(t, s->flags.at[i]);
    table_put_uint(t, b->snapshots.interval_ms.at[snapshot]);
    table_put_uint(t, s->cpu_ns.at[i]);
    table_put_uint(t, s->allocated_bytes.at[i]);
    table_put_uint(t, s->blocked_ms.at[i]);
    table_put_uint(t, s->waited_ms.at[i]);
    table_put_text(t, stack_of(b, i));
    put_lock(t, b, i);
    table_put_uint(t, s->owner_tid.at[i]);
    table_put_text(t, string_of(b, &s->owner, i));
    table_put_uint(t, s->carries_tid.at[i]);
    table_put_text(t, string_of(b, &s->carries, i));
    put_held(t, b, i, held);
}

int clickhouse__write_snapshots(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,
        {"target_id", "UInt64"},
        {"time", MOMENT},
        {"java_tid", "UInt64"},
        {"os_tid", "UInt64"},
        {"name", LOW},
        {"pool", LOW},
        {"state", "UInt8"},
        {"flags", "UInt16"},
        {"interval_ms", "UInt32"},
        {"cpu_ns", "UInt64"},
        {"allocated_bytes", "UInt64"},
        {"blocked_ms", "UInt64"},
        {"waited_ms", "UInt64"},
        {"stack_id", "FixedString(16)"},
        {"lock_class", LOW},
        {"lock_id", "UInt32"},
        {"owner_tid", "UInt64"},
        {"owner", "String"},
        {"carries_tid", "UInt64"},
        {"carries", "String"},
        {"held_class", "Array(" LOW ")"},
        {"held_id", "Array(UInt32)"},
        {"held_kind", "Array(UInt8)"},
        {"held_depth", "Array(UInt32)"},
    };
    table t;
    int rc = table_begin(&t, "thread_snapshots", columns, COUNT(columns), err);
    size_t held = 0;

    for (uint32_t i = 0; i < w->batch->states.snapshot.count && rc == 0; i++)
        put_state(&t, w->batch, i, &held);
    if (rc == 0)
        rc = insert_table(&t, to, w, false, err);
    table_end(&t);
    return rc;
}

/* ---- deadlock_sightings ---- */

/* Returns the first held lock of thread `i`: the entries are sorted by thread. */
static size_t find_held(const held_columns *h, uint32_t i)
{
    size_t low = 0, high = h->thread.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->thread.at[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Gets how thread `i` holds a lock; returns false where the snapshot does not say. lock: its index
 * plus 1. */
static bool find_holding(const profile_batch *b, uint32_t i, uint32_t lock, uint32_t *kind,
                         uint32_t *depth)
{
    const held_columns *h = &b->held;

    for (size_t k = find_held(h, i); k < h->thread.count && h->thread.at[k] == i; k++) {
        if (h->lock.at[k] + 1 == lock) {
            *kind = h->kind.at[k];
            *depth = h->depth.at[k];
            return true;
        }
    }
    return false;
}

/* Appends entry `k` of the cycle [first, end). */
static void put_sighting(table *t, const profile_batch *b, size_t first, size_t end, size_t k)
{
    const u32s threads = b->deadlocks.thread;
    uint32_t i = threads.at[k], snapshot = b->states.snapshot.at[i];
    uint32_t target = b->snapshots.target.at[snapshot];
    uint32_t next = threads.at[k + 1 < end ? k + 1 : first];
    uint32_t before = threads.at[k > first ? k - 1 : end - 1];
    uint32_t kind = 0, depth = 0, ignored = 0;

    put_service(t, b, target, 1);
    table_put_uint(t, target_id_at(&b->targets, &b->strings, target));
    table_put_uint(t, b->deadlocks.cycle.at[k]);
    table_put_ms(t, b->snapshots.taken_ms.at[snapshot]);
    table_put_uint(t, k - first);
    table_put_uint(t, b->states.java_tid.at[i]);
    table_put_text(t, string_of(b, &b->states.name, i));
    table_put_text(t, stack_of(b, i));
    put_lock(t, b, i);
    find_holding(b, next, b->states.lock.at[i], &kind, &ignored);
    table_put_uint(t, kind);
    bool known = find_holding(b, i, b->states.lock.at[before], &kind, &depth) && kind == 1;
    table_put_uint(t, known ? depth + 1 : 0);
    table_put_uint(t, b->deadlocks.inferred.at[k]);
}

int clickhouse__write_deadlocks(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,
        {"target_id", "UInt64"},
        {"cycle", "UInt64"},
        {"time", MOMENT},
        {"position", "UInt32"},
        {"java_tid", "UInt64"},
        {"name", "String"},
        {"stack_id", "FixedString(16)"},
        {"lock_class", LOW},
        {"lock_id", "UInt32"},
        {"lock_kind", "UInt8"},
        {"held_depth", "UInt32"},
        {"inferred", "UInt8"},
    };
    const profile_batch *b = w->batch;
    const deadlock_columns *d = &b->deadlocks;
    table t;
    int rc = table_begin(&t, "deadlock_sightings", columns, COUNT(columns), err);

    for (size_t first = 0, end; first < d->cycle.count && rc == 0; first = end) {
        uint32_t snapshot = b->states.snapshot.at[d->thread.at[first]];
        for (end = first; end < d->cycle.count && d->cycle.at[end] == d->cycle.at[first] &&
                          b->states.snapshot.at[d->thread.at[end]] == snapshot;)
            end++;
        for (size_t k = first; k < end; k++)
            put_sighting(&t, b, first, end, k);
    }
    if (rc == 0)
        rc = insert_table(&t, to, w, false, err);
    table_end(&t);
    return rc;
}
