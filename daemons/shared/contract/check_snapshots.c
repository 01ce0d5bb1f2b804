/* SPDX-License-Identifier: Apache-2.0 */
/* Makes check 9 of docs/formats/ingest.md, section Order of checks, for thread snapshots, their
 * locks and deadlocks. */
#include <base/seeded_hash.h>

#include <contract/check.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef unsigned long long ull;

enum { STATES = 7, FLAGS = 65536, REASONS = 65536, CUTS = 65536, HELD_KINDS = 3 };

static int check_snapshot_lengths(const profile_batch *b, verdict *v)
{
    const snapshot_columns *n = &b->snapshots;
    const state_columns *s = &b->states;
    const named_column snapshots[] = {
        {"target", n->target.count},           {"taken_ms", n->taken_ms.count},
        {"interval_ms", n->interval_ms.count}, {"threads_total", n->threads_total.count},
        {"reason", n->reason.count},           {"cut", n->cut.count},
        {"offers", n->offers.count},           {"longest_pause_ns", n->longest_pause_ns.count},
    };
    const named_column states[] = {
        {"snapshot", s->snapshot.count},
        {"java_tid", s->java_tid.count},
        {"os_tid", s->os_tid.count},
        {"name_str", s->name.count},
        {"pool_str", s->pool.count},
        {"state", s->state.count},
        {"flags", s->flags.count},
        {"cpu_ns", s->cpu_ns.count},
        {"allocated_bytes", s->allocated_bytes.count},
        {"blocked_ms", s->blocked_ms.count},
        {"waited_ms", s->waited_ms.count},
        {"stack", s->stack.count},
        {"lock", s->lock.count},
        {"owner_tid", s->owner_tid.count},
        {"owner_str", s->owner.count},
        {"carries_tid", s->carries_tid.count},
        {"carries_str", s->carries.count},
    };
    const named_column locks[] = {{"class_str", b->locks.class_name.count},
                                  {"identity", b->locks.identity.count}};
    const named_column held[] = {{"thread", b->held.thread.count},
                                 {"lock", b->held.lock.count},
                                 {"kind", b->held.kind.count},
                                 {"depth", b->held.depth.count}};
    const named_column deadlocks[] = {{"cycle", b->deadlocks.cycle.count},
                                      {"thread", b->deadlocks.thread.count},
                                      {"inferred", b->deadlocks.inferred.count}};

    if (check_lengths("snapshots", snapshots, COUNT(snapshots), "bad_columns", v) != 0 ||
        check_lengths("states", states, COUNT(states), "bad_columns", v) != 0 ||
        check_lengths("locks", locks, COUNT(locks), "bad_columns", v) != 0 ||
        check_lengths("held", held, COUNT(held), "bad_columns", v) != 0)
        return -1;
    return check_lengths("deadlocks", deadlocks, COUNT(deadlocks), "bad_columns", v);
}

static int check_snapshot_counts(const profile_batch *b, const ingest_limits *limits, verdict *v)
{
    const counted_group counts[] = {
        {"snapshots", b->snapshots.target.count, limits->windows_per_batch},
        {"states", b->states.snapshot.count, limits->rows_per_batch},
        {"locks", b->locks.class_name.count, limits->rows_per_batch},
        {"held", b->held.thread.count, limits->rows_per_batch},
        {"deadlocks", b->deadlocks.cycle.count, limits->rows_per_batch},
    };

    return check_group_counts(counts, COUNT(counts), v);
}

static int check_snapshot_ranges(const profile_batch *b, const ingest_limits *limits, verdict *v)
{
    size_t strings = b->strings.length.count, states = b->states.snapshot.count;
    size_t locks = b->locks.class_name.count;
    const ranged_column ranges[] = {
        {"snapshots.target", b->snapshots.target, b->targets.workload.count},
        {"snapshots.reason", b->snapshots.reason, REASONS},
        {"snapshots.cut", b->snapshots.cut, CUTS},
        {"snapshots.offers", b->snapshots.offers, CUTS},
        {"states.snapshot", b->states.snapshot, b->snapshots.target.count},
        {"states.name_str", b->states.name, strings},
        {"states.pool_str", b->states.pool, strings},
        {"states.owner_str", b->states.owner, strings},
        {"states.carries_str", b->states.carries, strings},
        {"states.state", b->states.state, STATES},
        {"states.flags", b->states.flags, FLAGS},
        {"states.stack", b->states.stack, b->stack_ids.length / STACK_ID_BYTES + 1},
        {"states.lock", b->states.lock, locks + 1},
        {"locks.class_str", b->locks.class_name, strings},
        {"held.thread", b->held.thread, states},
        {"held.lock", b->held.lock, locks},
        {"held.kind", b->held.kind, HELD_KINDS},
        {"held.depth", b->held.depth, limits->frames_per_stack},
        {"deadlocks.thread", b->deadlocks.thread, states},
        {"deadlocks.inferred", b->deadlocks.inferred, 2},
    };

    return check_ranged(ranges, COUNT(ranges), v);
}

static bool equal_snapshot(const void *context, uint32_t a, uint32_t b)
{
    const snapshot_columns *n = context;

    return n->target.at[a] == n->target.at[b] && n->taken_ms.at[a] == n->taken_ms.at[b];
}

static uint64_t hash_snapshot(const void *context, uint32_t i)
{
    const snapshot_columns *n = context;
    const uint64_t key[] = {n->target.at[i], n->taken_ms.at[i]};

    return seeded_hash(key, sizeof(key));
}

static int check_held_order(const held_columns *h, verdict *v)
{
    size_t alike = 1;

    for (size_t i = 1; i < h->thread.count; i++) {
        if (h->thread.at[i] < h->thread.at[i - 1])
            return verdict_reject(v, "bad_columns",
                                  "held.thread: entry %zu is not in the order of threads.", i);
        alike = h->thread.at[i] == h->thread.at[i - 1] ? alike + 1 : 1;
        if (alike > HELD_PER_THREAD_MAX)
            return verdict_reject(v, "too_many_rows", "held: thread %u has more than %u locks.",
                                  h->thread.at[i], HELD_PER_THREAD_MAX);
    }
    return 0;
}

/* Threads must be sorted by snapshot and java_tid, held locks and deadlocks by thread and cycle,
 * which excludes duplicates. */
static int check_snapshot_order(const profile_batch *b, verdict *v)
{
    const state_columns *s = &b->states;

    for (size_t i = 1; i < s->snapshot.count; i++) {
        if (s->snapshot.at[i] < s->snapshot.at[i - 1] ||
            (s->snapshot.at[i] == s->snapshot.at[i - 1] &&
             s->java_tid.at[i] <= s->java_tid.at[i - 1]))
            return verdict_reject(v, "duplicate_row",
                                  "states: entry %zu is not behind the one before it by snapshot "
                                  "and java_tid.",
                                  i);
    }
    return check_held_order(&b->held, v);
}

static int check_snapshot_days(const profile_batch *b, verdict *v)
{
    const u64s *taken = &b->snapshots.taken_ms;

    for (size_t i = 0; i < taken->count; i++) {
        if (taken->at[i] / DAY_MS != b->day)
            return verdict_reject(v, "wrong_day",
                                  "snapshots.taken_ms: entry %zu is %llu, which is not in day %u.",
                                  i, (ull)taken->at[i], b->day);
    }
    return 0;
}

/* The class of a lock is stored once for each thread that waits for or holds it. */
static int check_lock_texts(const profile_batch *b, const ingest_limits *limits, verdict *v)
{
    const uint32_t *lengths = b->strings.length.at, *classes = b->locks.class_name.at;
    uint64_t sum = 0;

    for (size_t i = 0; i < b->held.lock.count; i++)
        sum += lengths[classes[b->held.lock.at[i]]];
    for (size_t i = 0; i < b->states.lock.count; i++)
        sum += b->states.lock.at[i] > 0 ? lengths[classes[b->states.lock.at[i] - 1]] : 0;
    if (sum <= limits->strings_bytes)
        return 0;
    return verdict_reject(v, "payload_too_large",
                          "locks: the classes of all held and awaited locks add up to %llu bytes; "
                          "at most %llu are allowed.",
                          (ull)sum, (ull)limits->strings_bytes);
}

int check_snapshots(const profile_batch *b, const ingest_limits *limits, verdict *v)
{
    if (check_snapshot_lengths(b, v) != 0 || check_snapshot_counts(b, limits, v) != 0 ||
        check_snapshot_ranges(b, limits, v) != 0 || check_snapshot_order(b, v) != 0 ||
        check_unique("snapshots (target, taken_ms)", b->snapshots.target.count, &b->snapshots,
                     equal_snapshot, hash_snapshot, v) != 0 ||
        check_texts("states.name_str", &b->strings, b->states.name, limits, v) != 0 ||
        check_texts("states.owner_str", &b->strings, b->states.owner, limits, v) != 0 ||
        check_texts("states.carries_str", &b->strings, b->states.carries, limits, v) != 0 ||
        check_lock_texts(b, limits, v) != 0)
        return -1;
    return check_snapshot_days(b, v);
}
