-- SPDX-License-Identifier: Apache-2.0
-- Schema version 1. Statements end with a line that holds only ";".
-- {retention_days} is replaced by a number from 1 to 7 before a statement runs.
--
-- Every table is a target of deduplicated inserts (docs/formats/storage.md): one batch writes
-- exactly one block per table with the token "<batch id>/<table>", and every column that decides a
-- partition comes from inside the batch, so that a retry meets its own token in the same partition.

-- One row a batch that was stored, and one a batch that was refused, or several of one sender.
CREATE TABLE IF NOT EXISTS ingestion_batches
(
    created      DateTime64(3, 'UTC'),           -- the collector's clock, from inside the batch
    batch_id     FixedString(16),                -- all zero: the row stands for several
    digest       FixedString(16),
    kind         LowCardinality(String),         -- profiles
    status       LowCardinality(String),         -- accepted, duplicate, rejected, retry
    batches      UInt32,                         -- that the row stands for
    sender       LowCardinality(String),         -- the token's name
    cluster      LowCardinality(String),
    node         LowCardinality(String),
    instance     LowCardinality(String),
    first_seen   DateTime64(3, 'UTC'),
    last_seen    DateTime64(3, 'UTC'),
    attempts     UInt32,
    data_from    DateTime64(3, 'UTC'),           -- of its windows and snapshots
    data_to      DateTime64(3, 'UTC'),
    windows      UInt32,
    sample_rows  UInt32,
    snapshots    UInt32,
    thread_rows  UInt32,
    stacks       UInt32,
    body_bytes   UInt64,
    code         LowCardinality(String),         -- why it was refused
    message      String CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(created)
ORDER BY batch_id
TTL toStartOfDay(created) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

CREATE TABLE IF NOT EXISTS profile_samples
(
    cluster      LowCardinality(String) CODEC(ZSTD(1)),
    namespace    LowCardinality(String) CODEC(ZSTD(1)),
    workload     LowCardinality(String) CODEC(ZSTD(1)),
    source       UInt8 CODEC(ZSTD(1)),
    time         DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),   -- its window's start
    stack_id     FixedString(16) CODEC(ZSTD(1)),
    target_id    UInt64 CODEC(ZSTD(1)),
    pod          LowCardinality(String) CODEC(ZSTD(1)),
    container    LowCardinality(String) CODEC(ZSTD(1)),
    node         LowCardinality(String) CODEC(ZSTD(1)),
    app_version  LowCardinality(String) CODEC(ZSTD(1)),
    pool         LowCardinality(String) CODEC(ZSTD(1)),
    facet        UInt8 CODEC(ZSTD(1)),
    object       LowCardinality(String) CODEC(ZSTD(1)),  -- class allocated, or of the lock
    amount       UInt64 CODEC(ZSTD(3)),          -- the estimate, in the source's unit
    amount_added UInt64 CODEC(T64, ZSTD(1)),     -- by the estimate to what was recorded: 0 in most rows
    count        UInt64 CODEC(T64, ZSTD(1)),     -- the estimate of events
    count_added  UInt64 CODEC(T64, ZSTD(1)),
    raw_amount   UInt64 ALIAS amount - amount_added,
    raw_count    UInt64 ALIAS count - count_added
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (cluster, namespace, workload, source, toStartOfHour(time), stack_id, target_id, time, pool)
TTL toStartOfDay(time) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- One row a (target, window, source): totals, coverage, and the ledger of what was cut.
CREATE TABLE IF NOT EXISTS profile_windows
(
    cluster        LowCardinality(String),
    namespace      LowCardinality(String),
    workload       LowCardinality(String),
    workload_kind  LowCardinality(String),
    source         UInt8,
    time           DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    target_id      UInt64 CODEC(ZSTD(1)),
    pod            LowCardinality(String),
    container      LowCardinality(String),
    node           LowCardinality(String),
    host_pid       UInt32,
    jvm_version    LowCardinality(String),
    app_version    LowCardinality(String),
    length_ms      UInt32,
    covered_ms     UInt32,
    engine         LowCardinality(String),
    interval       UInt64,
    amount           UInt64,
    amount_added     UInt64,
    count            UInt64,
    count_added      UInt64,
    raw_amount       UInt64 ALIAS amount - amount_added,
    raw_count        UInt64 ALIAS count - count_added,
    truncated_amount UInt64,
    truncated_count  UInt64,
    dropped_amount   UInt64,
    dropped_count    UInt64,
    dropped_stacks   UInt64,
    lost_events      UInt64,
    reason           UInt16,                       -- why nothing was recorded, 0 = it was
    batch            UInt32,                       -- beginning of its batch's id, and what the batch wrote
    sample_rows      UInt32,                       -- of this window in profile_samples
    thread_rows      UInt32,                       -- and in profile_threads
    second_pool      Array(LowCardinality(String)) CODEC(ZSTD(1)),  -- sparse per-second totals: four
    second_index     Array(UInt32) CODEC(ZSTD(3)),  -- columns, one entry a (pool, second) that is not zero
    second_amount    Array(UInt64) CODEC(ZSTD(3)),
    second_count     Array(UInt64) CODEC(ZSTD(3))
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (cluster, namespace, workload, source, time, target_id)
TTL toStartOfDay(time) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

CREATE TABLE IF NOT EXISTS profile_threads
(
    cluster      LowCardinality(String) CODEC(ZSTD(1)),
    namespace    LowCardinality(String) CODEC(ZSTD(1)),
    workload     LowCardinality(String) CODEC(ZSTD(1)),
    source       UInt8 CODEC(ZSTD(1)),
    time         DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    target_id    UInt64 CODEC(ZSTD(1)),
    pool         LowCardinality(String) CODEC(ZSTD(1)),
    name         LowCardinality(String) CODEC(ZSTD(1)),
    os_tid       UInt64,
    java_tid     UInt64,
    amount       UInt64 CODEC(ZSTD(3)),          -- the estimate, in the source's unit
    amount_added UInt64 CODEC(T64, ZSTD(1)),     -- by the estimate to what was recorded: 0 in most rows
    count        UInt64 CODEC(T64, ZSTD(1)),     -- the estimate of events
    count_added  UInt64 CODEC(T64, ZSTD(1)),
    raw_amount   UInt64 ALIAS amount - amount_added,
    raw_count    UInt64 ALIAS count - count_added
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (cluster, namespace, workload, source, toStartOfHour(time), target_id, pool, name, time)
TTL toStartOfDay(time) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- One row a (target, thread snapshot): whether it was taken, and what it lacks.
CREATE TABLE IF NOT EXISTS thread_snapshot_runs
(
    cluster          LowCardinality(String),
    namespace        LowCardinality(String),
    workload         LowCardinality(String),
    target_id        UInt64 CODEC(ZSTD(1)),
    time             DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    pod              LowCardinality(String),
    container        LowCardinality(String),
    node             LowCardinality(String),
    host_pid         UInt32,
    app_version      LowCardinality(String),
    interval_ms      UInt32,                     -- since the snapshot before, 0 = the first
    threads_total    UInt32,
    threads_listed   UInt32,
    reason           UInt16,                     -- why there is none, 0 = it was taken
    cut              UInt16,
    offers           UInt16,
    longest_pause_ns UInt64,
    batch            UInt32,                     -- beginning of its batch's id
    sightings        UInt32                      -- that the batch wrote of it in deadlock_sightings
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (cluster, namespace, workload, target_id, time)
TTL toStartOfDay(time) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- One row a (target, snapshot, thread). Amounts are those since the snapshot before, plus 1; 0 = not
-- known.
CREATE TABLE IF NOT EXISTS thread_snapshots
(
    cluster         LowCardinality(String),
    namespace       LowCardinality(String),
    workload        LowCardinality(String),
    target_id       UInt64 CODEC(ZSTD(1)),
    time            DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    java_tid        UInt64 CODEC(T64, ZSTD(1)),
    os_tid          UInt64 CODEC(T64, ZSTD(1)),
    name            LowCardinality(String) CODEC(ZSTD(1)),
    pool            LowCardinality(String),
    state           UInt8,
    flags           UInt16,
    interval_ms     UInt32,
    cpu_ns          UInt64 CODEC(T64, ZSTD(1)),
    allocated_bytes UInt64 CODEC(T64, ZSTD(1)),
    blocked_ms      UInt64 CODEC(T64, ZSTD(1)),
    waited_ms       UInt64 CODEC(T64, ZSTD(1)),
    stack_id        FixedString(16) CODEC(ZSTD(1)),       -- all zero: not taken
    lock_class      LowCardinality(String),               -- "": it waits for no lock
    lock_id         UInt32,                               -- identity hash
    owner_tid       UInt64 CODEC(T64, ZSTD(1)),           -- 0 = nobody, or not known
    owner           String CODEC(ZSTD(1)),
    carries_tid     UInt64 CODEC(T64, ZSTD(1)),           -- the virtual thread that a carrier runs, 0 = none
    carries         String CODEC(ZSTD(1)),                -- its name
    held_class      Array(LowCardinality(String)),        -- locks it holds, four columns
    held_id         Array(UInt32),
    held_kind       Array(UInt8),                         -- 1 monitor, 2 java.util.concurrent
    held_depth      Array(UInt32)                         -- of the frame that locked it
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (cluster, namespace, workload, target_id, toStartOfHour(time), java_tid, time)
TTL toStartOfDay(time) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- One row a (target, snapshot, thread of a cycle), in the cycle's order.
CREATE TABLE IF NOT EXISTS deadlock_sightings
(
    cluster      LowCardinality(String),
    namespace    LowCardinality(String),
    workload     LowCardinality(String),
    target_id    UInt64 CODEC(ZSTD(1)),
    cycle        UInt64,                                  -- the same in every snapshot of one deadlock
    time         DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    position     UInt32,
    java_tid     UInt64,
    name         String CODEC(ZSTD(1)),
    stack_id     FixedString(16) CODEC(ZSTD(1)),
    lock_class   LowCardinality(String),                  -- that it waits for
    lock_id      UInt32,
    lock_kind    UInt8,                                   -- 1 monitor, 2 java.util.concurrent, 0 not known
    held_depth   UInt32,                                  -- of the frame that locked the lock that the thread
                                                          -- before waits for, plus 1; 0 = not known
    inferred     UInt8                                    -- 1: probable; 0: the JVM found it
)
ENGINE = MergeTree
PARTITION BY toDate(time)
ORDER BY (cluster, namespace, workload, target_id, cycle, time, position)
TTL toStartOfDay(time) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- Known per (cluster, namespace, workload, day, stack_id). The same stack may stand in several
-- parts until a merge; readers take any of the equal rows.
CREATE TABLE IF NOT EXISTS profile_stacks
(
    cluster      LowCardinality(String),
    namespace    LowCardinality(String),
    workload     LowCardinality(String),
    day          Date,
    stack_id     FixedString(16) CODEC(ZSTD(1)),
    normaliser   UInt8,
    flags        UInt8,                            -- bit 0: cut by the depth limit
    class        Array(LowCardinality(String)) CODEC(ZSTD(3)),  -- frames leaf first, five columns
    method       Array(LowCardinality(String)) CODEC(ZSTD(3)),
    file         Array(LowCardinality(String)) CODEC(ZSTD(3)),
    line         Array(UInt32) CODEC(ZSTD(3)),
    kind         Array(UInt8) CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY day
ORDER BY (cluster, namespace, workload, stack_id)
TTL toStartOfDay(day) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- Hourly sums of the samples, which long ranges read. The rows of one generation are of one service
-- and hour. rollup_runs gets a row when they are all there, and the newest run of an hour decides.
CREATE TABLE IF NOT EXISTS profile_rollups
(
    cluster      LowCardinality(String) CODEC(ZSTD(1)),
    namespace    LowCardinality(String) CODEC(ZSTD(1)),
    workload     LowCardinality(String) CODEC(ZSTD(1)),
    source       UInt8 CODEC(ZSTD(1)),
    hour         DateTime('UTC') CODEC(Delta, ZSTD(1)),
    stack_id     FixedString(16) CODEC(ZSTD(1)),
    target_id    UInt64 CODEC(ZSTD(1)),
    pod          LowCardinality(String) CODEC(ZSTD(1)),
    container    LowCardinality(String) CODEC(ZSTD(1)),
    node         LowCardinality(String) CODEC(ZSTD(1)),
    app_version  LowCardinality(String) CODEC(ZSTD(1)),
    pool         LowCardinality(String) CODEC(ZSTD(1)),
    facet        UInt8 CODEC(ZSTD(1)),
    object       LowCardinality(String) CODEC(ZSTD(1)),
    amount       UInt64 CODEC(ZSTD(3)),
    amount_added UInt64 CODEC(T64, ZSTD(1)),
    count        UInt64 CODEC(T64, ZSTD(1)),
    count_added  UInt64 CODEC(T64, ZSTD(1)),
    raw_amount   UInt64 ALIAS amount - amount_added,
    raw_count    UInt64 ALIAS count - count_added,
    generation   UInt64 CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(hour)
ORDER BY (cluster, namespace, workload, source, hour, stack_id, target_id, pool)
TTL toStartOfDay(hour) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1
;

CREATE TABLE IF NOT EXISTS rollup_runs
(
    cluster      LowCardinality(String),
    namespace    LowCardinality(String),
    workload     LowCardinality(String),
    hour         DateTime('UTC'),
    generation   UInt64,                         -- the greatest of an hour is the newest
    windows      UInt64,                         -- of profile_windows that it sums; 0: withdrawn
    made         DateTime('UTC')
)
ENGINE = MergeTree
PARTITION BY toDate(hour)
ORDER BY (cluster, namespace, workload, hour, generation)
TTL toStartOfDay(hour) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1
;

CREATE TABLE IF NOT EXISTS target_status_history
(
    observed      DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    cluster       LowCardinality(String),
    namespace     LowCardinality(String),
    workload_kind LowCardinality(String),
    workload      LowCardinality(String),
    pod           LowCardinality(String),
    container     LowCardinality(String),
    pod_uid       LowCardinality(String),
    container_id  LowCardinality(String),
    node          LowCardinality(String),
    instance      LowCardinality(String),
    target_id     UInt64,
    boot_id       LowCardinality(String),
    host_pid      UInt32,
    ns_pid        UInt32,
    start_ticks   UInt64,
    started       DateTime64(3, 'UTC'),
    jvm_version   LowCardinality(String),
    jvm_vendor    LowCardinality(String),
    main_class    LowCardinality(String),
    app_version   LowCardinality(String),
    image         LowCardinality(String),
    service       LowCardinality(String),
    state         UInt8,
    reason        UInt16,
    session       UInt8,
    detail        String CODEC(ZSTD(1)),
    last_window   DateTime64(3, 'UTC'),
    mode          UInt8,
    mode_until    DateTime64(3, 'UTC'),
    length_ms     UInt32,                        -- of the last window
    covered_ms    UInt32,                        -- of it really recorded
    collector_ns  UInt64 CODEC(T64, ZSTD(1))     -- CPU time of the collector for that window, plus 1; 0 = not known
)
ENGINE = MergeTree
PARTITION BY toDate(observed)
ORDER BY (cluster, namespace, workload, target_id, observed)
TTL toStartOfDay(observed) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;

-- One row a heartbeat. Drops: one entry a cause, counted since the run began, with the times when
-- those were cut that no earlier heartbeat told of; 0 = none.
CREATE TABLE IF NOT EXISTS collector_heartbeats
(
    received        DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    cluster         LowCardinality(String),
    node            LowCardinality(String),
    instance        LowCardinality(String),
    version         LowCardinality(String),
    engine          LowCardinality(String),      -- the profiler and its version
    run_id          UInt64,
    started         DateTime64(3, 'UTC'),
    sent            DateTime64(3, 'UTC'),
    queued_bytes    UInt64 CODEC(T64, ZSTD(1)),
    queued_batches  UInt64 CODEC(T64, ZSTD(1)),
    queue_bytes     UInt64 CODEC(T64, ZSTD(1)),  -- that the queue may hold
    oldest_queued   DateTime64(3, 'UTC'),
    cut_batches     UInt64 CODEC(T64, ZSTD(1)),
    last_success    DateTime64(3, 'UTC'),
    drop_cause      Array(UInt8),
    drop_batches    Array(UInt64),
    drop_oldest_ms  Array(UInt64),
    drop_newest_ms  Array(UInt64),
    jvms_seen       UInt32,
    jvms_profiled   UInt32
)
ENGINE = MergeTree
PARTITION BY toDate(received)
ORDER BY (cluster, instance, received)
TTL toStartOfDay(received) + INTERVAL {retention_days} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 100000
;
