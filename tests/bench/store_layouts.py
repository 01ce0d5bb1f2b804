# SPDX-License-Identifier: Apache-2.0
"""Order keys and codecs of the store's tables beside alternatives: bytes a row, by column, and the CPU time of reads.

The rows of the large tables are made from a real recording: its stacks, pools and weights, drawn anew for every window of some
services and JVMs. Those of the small tables are what a backend stored of hotstack-load, so --store names its data directory. The
tables are those of the schema, and each alternative changes one thing. docs/formats/storage.md has the figures of one run.

usage: store_layouts.py CHDB-HTTP --recording PREFIX [--windows N] | --store DIRECTORY [--tables A,B]
PREFIX: what `hotstack convert --threads RECORDING -o PREFIX.collapsed` wrote. HOTSTACK_LIBCHDB names the engine."""
import argparse
import collections
import hashlib
import http.client
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time

SCHEMA = pathlib.Path(__file__).parents[2] / 'daemons/backend/adapters/store/schema/0001_profiles.sql'
SCHEMA_TEXT = SCHEMA.read_text()
SERVICES, JVMS, START, ROUNDS = 3, 6, 1769850000, 40
DRAWS = {'cpu': (1, 600), 'alloc_bytes': (3, 300), 'lock_delay': (4, 20)}
COUNTS = {'alloc_bytes': 'alloc_objects', 'lock_delay': 'lock_count'}

def plain_labels(table):
    """Every label of a table, a string of few values or a small number, by the default codec, LZ4."""
    begin = SCHEMA_TEXT.index(f'CREATE TABLE IF NOT EXISTS {table}\n')
    labels = re.findall(r'^( +\w+ +(?:LowCardinality\(String\)|UInt8)) CODEC\(ZSTD\(1\)\)', SCHEMA_TEXT[begin:SCHEMA_TEXT.index('ENGINE', begin)], re.MULTILINE)
    return [(f'{label} CODEC(ZSTD(1))', label) for label in labels]


def columns_of(table, kind):
    """The columns of a table that have the default codec and a type that matches."""
    begin = SCHEMA_TEXT.index(f'CREATE TABLE IF NOT EXISTS {table}\n')
    found = re.findall(rf'^( +\w+ +{kind})(?=,| +--|\n)', SCHEMA_TEXT[begin:SCHEMA_TEXT.index('ENGINE', begin)], re.MULTILINE)
    return [column for column in found if 'CODEC' not in column]


def every_column(table):
    """Columns that have the default codec, LZ4, by ZSTD(1)."""
    return [(column, f'{column} CODEC(ZSTD(1))') for column in columns_of(table, r"[A-Z]\w+(?:\((?:\w|[()', ])+\))?")]


def every_time(table):
    return [(column, f'{column} CODEC(Delta, ZSTD(1))') for column in columns_of(table, r"DateTime(?:64\(3, 'UTC'\)|\('UTC'\))")]


def arrays(codec, before):
    """Arrays of a table by another codec than `before`."""
    return [(f'Array({kind}){before}', f'Array({kind}){codec}') for kind in ('UInt32', 'UInt64')]


# Sums as recorded beside the estimates, in place of what the estimates add to them.
RECORDED = [(f'{name}_added{gap}UInt64 CODEC(T64, ZSTD(1))', f'{name}_added UInt64 EPHEMERAL, recorded_{name} UInt64 DEFAULT {name} - {name}_added CODEC({codec})')
            for name, gap, codec in (('amount', ' ', 'ZSTD(3)'), ('count', '  ', 'T64, ZSTD(1)'))] + [
           (f'ALIAS {name} - {name}_added', f'ALIAS recorded_{name}') for name in ('amount', 'count')]


def amounts(codec):
    return [('amount       UInt64 CODEC(ZSTD(3))', f'amount       UInt64 CODEC({codec})')]


# table: [(what, [(text of the schema, its replacement)])]; the first is the schema as it is.
LAYOUTS = {
    'profile_samples': [
        ('the schema', []),
        ('order: hour, time, stack', [('toStartOfHour(time), stack_id, target_id, time, pool', 'toStartOfHour(time), time, stack_id, target_id, pool')]),
        ('order: hour, target, stack, time', [('toStartOfHour(time), stack_id, target_id, time, pool', 'toStartOfHour(time), target_id, stack_id, time, pool')]),
        ('order: hour, stack, target, pool, time', [('stack_id, target_id, time, pool)', 'stack_id, target_id, pool, time)')]),
        ('recorded sums beside the estimates', RECORDED),
        ('amounts: T64, ZSTD(1)', amounts('T64, ZSTD(1)')),
        ('amounts: ZSTD(1)', amounts('ZSTD(1)')),
        ('amounts: Delta, ZSTD(1)', amounts('Delta, ZSTD(1)')),
        ('counts: ZSTD(3)', [('CODEC(T64, ZSTD(1))', 'CODEC(ZSTD(3))')]),
        ('ids: LZ4', [('stack_id     FixedString(16) CODEC(ZSTD(1))', 'stack_id     FixedString(16) CODEC(LZ4)')]),
        ('ids: ZSTD(3)', [('stack_id     FixedString(16) CODEC(ZSTD(1))', 'stack_id     FixedString(16) CODEC(ZSTD(3))')]),
        ('ids: LZ4, amounts: LZ4', [('stack_id     FixedString(16) CODEC(ZSTD(1))', 'stack_id     FixedString(16) CODEC(LZ4)'), *amounts('LZ4')]),
        ('time: ZSTD(1)', [("CODEC(Delta, ZSTD(1)),   -- its window's start", "CODEC(ZSTD(1)),")]),
        ('time: T64, ZSTD(1)', [("CODEC(Delta, ZSTD(1)),   -- its window's start", "CODEC(T64, ZSTD(1)),")]),
        ('time: DoubleDelta, ZSTD(1)', [("CODEC(Delta, ZSTD(1)),   -- its window's start", "CODEC(DoubleDelta, ZSTD(1)),")]),
        ('labels: LZ4', plain_labels),
        ('skip index: pool, set(100)', [('ALIAS count - count_added\n', 'ALIAS count - count_added,\n    INDEX by_pool pool TYPE set(100) GRANULARITY 1\n')]),
        ('skip index: target, bloom', [('ALIAS count - count_added\n', 'ALIAS count - count_added,\n    INDEX by_target target_id TYPE bloom_filter GRANULARITY 1\n')]),
    ],
    'profile_windows': [
        ('the schema', []),
        ('order: target, time', [('source, time, target_id)', 'source, target_id, time)')]),
        ('seconds: LZ4', arrays('', ' CODEC(ZSTD(3))')),
        ('seconds: ZSTD(1)', arrays(' CODEC(ZSTD(1))', ' CODEC(ZSTD(3))')),
        ('seconds: T64, ZSTD(1)', arrays(' CODEC(T64, ZSTD(1))', ' CODEC(ZSTD(3))')),
    ],
    'profile_threads': [
        ('the schema', []),
        ('recorded sums beside the estimates', RECORDED),
        ('amounts: T64, ZSTD(1)', amounts('T64, ZSTD(1)')),
        ('counts: ZSTD(3)', [('CODEC(T64, ZSTD(1))', 'CODEC(ZSTD(3))')]),
        ('names: plain strings, ZSTD(1)', [('name         LowCardinality(String)', 'name         String')]),
        ('order: time, target, pool, name', [('source, toStartOfHour(time), target_id, pool, name, time)', 'source, time, target_id, pool, name)')]),
        ('order: target, time, pool, name', [('source, toStartOfHour(time), target_id, pool, name, time)', 'source, target_id, time, pool, name)')]),
    ],
    'thread_snapshots': [
        ('the schema', []),
        ('names: plain strings, ZSTD(1)', [('name            LowCardinality(String)', 'name            String')]),
        ('order: target, time, thread', [('target_id, toStartOfHour(time), java_tid, time)', 'target_id, time, java_tid)')]),
        ('order: hour, thread, target, time', [('target_id, toStartOfHour(time), java_tid, time)', 'toStartOfHour(time), java_tid, target_id, time)')]),
        ('amounts: ZSTD(1)', [('CODEC(T64, ZSTD(1))', 'CODEC(ZSTD(1))')]),
    ],
    'profile_stacks': [
        ('the schema', []),
        ('order: stack alone', [('ORDER BY (cluster, namespace, workload, stack_id)', 'ORDER BY stack_id')]),
        ('frames: LZ4', [(' CODEC(ZSTD(3))', '')]),
        ('frames: ZSTD(1)', [(' CODEC(ZSTD(3))', ' CODEC(ZSTD(1))')]),
        ('frames: plain strings, ZSTD(3)', [('Array(LowCardinality(String))', 'Array(String)')]),
    ],
}
# The same for the tables whose rows are those of a store.
SMALL = {
    'ingestion_batches': [
        ('the schema', []),
        ('order: created, batch', [('ORDER BY batch_id', 'ORDER BY (created, batch_id)')]),
        ('all columns: ZSTD(1)', every_column),
        ('times: Delta, ZSTD(1)', every_time),
    ],
    'thread_snapshot_runs': [
        ('the schema', []),
        ('order: time, target', [('workload, target_id, time)', 'workload, time, target_id)')]),
        ('all columns: ZSTD(1)', every_column),
    ],
    'deadlock_sightings': [
        ('the schema', []),
        ('order: time, target, cycle', [('target_id, cycle, time, position)', 'time, target_id, cycle, position)')]),
        ('all columns: ZSTD(1)', every_column),
    ],
    'target_status_history': [
        ('the schema', []),
        ('order: observed, target', [('workload, target_id, observed)', 'workload, observed, target_id)')]),
        ('all columns: ZSTD(1)', every_column),
        ('times: Delta, ZSTD(1)', every_time),
    ],
    'collector_heartbeats': [
        ('the schema', []),
        ('order: received', [('ORDER BY (cluster, instance, received)', 'ORDER BY (received, cluster, instance)')]),
        ('all columns: ZSTD(1)', every_column),
        ('times: Delta, ZSTD(1)', every_time),
    ],
    'profile_rollups': [
        ('the schema', []),
        ('order: hour, target, stack', [('hour, stack_id, target_id, pool)', 'hour, target_id, stack_id, pool)')]),
        ('amounts: T64, ZSTD(1)', amounts('T64, ZSTD(1)')),
    ],
    'rollup_runs': [
        ('the schema', []),
        ('order: hour, service', [('(cluster, namespace, workload, hour, generation)', '(hour, cluster, namespace, workload, generation)')]),
        ('all columns: ZSTD(1)', every_column),
    ],
}

ONE = "cluster = 'east' AND namespace = 'shop' AND workload = 'service-1'"


def hours(first, minutes):
    begin = START + first * 60
    return (f"time >= toDateTime({begin}, 'UTC') AND time < toDateTime({begin + minutes * 60}, 'UTC') AND toStartOfHour(time) >= "
            f"toStartOfHour(toDateTime({begin}, 'UTC')) AND toStartOfHour(time) <= toStartOfHour(toDateTime({begin + minutes * 60}, 'UTC'))")


SUMS = f'SELECT stack_id, sum(raw_amount), sum(amount), sum(raw_count), count() FROM {{}} WHERE {ONE} AND source = 1 AND '
READS = {
    'profile_samples': [('one hour', SUMS + hours(0, 60)), ('ten minutes', SUMS + hours(20, 10)), ('one pool', SUMS + hours(0, 60) + " AND pool = 'C# CompilerThre'"),
                        ('one JVM', SUMS + hours(0, 60) + ' AND target_id = (SELECT max(target_id) FROM raw_profile_samples)')],
    'profile_windows': [('freshness, one hour', f'SELECT max(time), sum(lost_events), sum(length_ms), sum(cityHash64(target_id, time, amount)) FROM {{}} WHERE {ONE} AND source = 1 AND ' + hours(0, 60)),
                        ('services, two hours', 'SELECT cluster, namespace, workload, uniqExact(target_id), max(time) FROM {} WHERE ' + hours(0, 120) + ' GROUP BY cluster, namespace, workload')],
    'profile_threads': [('one hour', f'SELECT target_id, name, sum(amount) FROM {{}} WHERE {ONE} AND source = 1 AND ' + hours(0, 60) + ' GROUP BY target_id, name'),
                        ('ten minutes', f'SELECT target_id, name, sum(amount) FROM {{}} WHERE {ONE} AND source = 1 AND ' + hours(20, 10) + ' GROUP BY target_id, name')],
    'thread_snapshots': [('one hour', f'SELECT target_id, java_tid, sum(cpu_ns), count() FROM {{}} WHERE {ONE} AND ' + hours(0, 60) + ' GROUP BY target_id, java_tid'),
                         ('newest of each', f'SELECT target_id, java_tid, argMax(state, time) FROM {{}} WHERE {ONE} AND ' + hours(50, 10) + ' GROUP BY target_id, java_tid'),
                         ('one thread', f'SELECT * FROM {{}} WHERE {ONE} AND java_tid = 17 AND target_id = (SELECT max(target_id) FROM raw_thread_snapshots) AND ' + hours(0, 60))],
    'profile_stacks': [('all of a service', f'SELECT stack_id, class, method, file, line, kind FROM {{}} WHERE {ONE}'),
                       ('a hundred', f'SELECT stack_id, class, method, file, line, kind FROM {{}} WHERE {ONE} AND stack_id IN (SELECT stack_id FROM raw_profile_stacks WHERE {ONE} ORDER BY stack_id LIMIT 100)')],
}
LOADED = "cluster = 'load' AND namespace = 'load' AND workload = 'service-0'"
READS |= {
    'ingestion_batches': [('is a batch there', "SELECT status, digest FROM {} WHERE batch_id = unhex('7f000000000000000000000000000000')"),
                          ('outcomes, one hour', 'SELECT status, sum(batches) FROM {} WHERE created >= now() - INTERVAL 1 HOUR GROUP BY status')],
    'thread_snapshot_runs': [('one hour', f'SELECT target_id, max(time), sum(threads_total) FROM {{}} WHERE {LOADED} AND time >= now() - INTERVAL 1 HOUR GROUP BY target_id')],
    'deadlock_sightings': [('one hour', f'SELECT target_id, cycle, min(time), max(time) FROM {{}} WHERE {LOADED} AND time >= now() - INTERVAL 1 HOUR GROUP BY target_id, cycle')],
    'target_status_history': [('newest of each', 'SELECT * FROM {} WHERE observed >= now() - INTERVAL 1 HOUR ORDER BY observed DESC LIMIT 1 BY cluster, target_id'),
                              ('one JVM', f'SELECT * FROM {{}} WHERE {LOADED} AND target_id = (SELECT max(target_id) FROM hotstack.thread_snapshot_runs WHERE {LOADED}) ORDER BY observed DESC')],
    'collector_heartbeats': [('newest of each', 'SELECT * FROM {} WHERE received >= now() - INTERVAL 1 HOUR ORDER BY received DESC LIMIT 1 BY cluster, instance')],
    'profile_rollups': [('an hour', f'SELECT stack_id, sum(amount) FROM {{}} WHERE {LOADED} AND source = 1 AND hour = (SELECT min(hour) FROM hotstack.rollup_runs) GROUP BY stack_id'),
                        ('one JVM', f'SELECT stack_id, sum(amount) FROM {{}} WHERE {LOADED} AND source = 1 AND target_id = (SELECT max(target_id) FROM hotstack.thread_snapshot_runs WHERE {LOADED}) GROUP BY stack_id')],
    'rollup_runs': [('newest of each', 'SELECT workload, hour, max(generation) FROM {} GROUP BY workload, hour')],
}


class Store:
    def __init__(self, program, directory, data):
        port_file = directory / 'port'
        self.process = subprocess.Popen([program, '--path', str(data), '--port-file', str(port_file)])
        while not (port_file.exists() and port_file.read_text().strip()):
            assert self.process.poll() is None, 'chdb-http ended'
            time.sleep(0.05)
        self.port = int(port_file.read_text())

    def ask(self, sql, body=b''):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=600)
        connection.request('POST', '/?query=' + urllib_quote(sql) if body else '/', body or sql.encode())
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        assert answer.status == 200, data[:2000]
        return data

    def cpu_seconds(self):
        fields = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def rows(self, sql):
        return [line.split('\t') for line in self.ask(sql + ' FORMAT TSV').decode().splitlines()]


def urllib_quote(text):
    from urllib.parse import quote
    return quote(text)


def folded(thread):
    return re.sub(r'\d+', '#', re.sub(r' tid=\d+', '', thread)).strip('[]')


def read_stacks(prefix):
    """{type: [(pool, thread, frames, amount, count)]}"""
    found = {}
    for kind in DRAWS:
        counts = {}
        if kind in COUNTS:
            counts = dict(line.rsplit(' ', 1) for line in pathlib.Path(f'{prefix}.{COUNTS[kind]}.collapsed').read_text().splitlines())
        rows = []
        for line in pathlib.Path(f'{prefix}.{kind}.collapsed').read_text().splitlines():
            stack, amount = line.rsplit(' ', 1)
            thread, _, frames = stack.partition(';')
            count = int(counts.get(stack, 0)) or max(1, int(amount) // 2000000)
            rows.append((folded(thread), thread, frames, int(amount), count))
        found[kind] = rows
    return found


def begin_ms(window, jvm):
    """A window's start; collectors spread theirs over the minute."""
    return (START + window * 60) * 1000 + number('jitter', jvm) % 60000


def hex_id(*parts):
    return hashlib.blake2b('\0'.join(parts).encode(), digest_size=16).hexdigest()


def number(*parts):
    return int.from_bytes(hashlib.blake2b('\0'.join(map(str, parts)).encode(), digest_size=8).digest(), 'big')


def windows_of(stacks, count):
    """Each window of each JVM with what it drew: (service, jvm, start, kind, {row: draws})."""
    chance = random.Random(7)
    weights = {kind: [row[4] for row in rows] for kind, rows in stacks.items()}
    for window in range(count):
        for service in range(1, SERVICES + 1):
            for jvm in range(JVMS):
                for kind, (_, draws) in DRAWS.items():
                    drawn = chance.choices(range(len(stacks[kind])), weights[kind], k=chance.randint(draws // 2, draws * 3 // 2))
                    yield service, jvm, begin_ms(window, jvm), kind, collections.Counter(drawn)


def key(service, jvm):
    return f'east\tshop\tservice-{service}', number(service, jvm), f'service-{service}-7d9f6c5b8-{number(jvm, service) % 99999:05}'


def sample_lines(stacks, count):
    for service, jvm, start, kind, drawn in windows_of(stacks, count):
        head, target, pod = key(service, jvm)
        rows = {}
        for index, times in drawn.items():
            pool, _, frames, amount, events = stacks[kind][index]
            one = rows.setdefault((pool, frames), [0, 0])
            one[0] += times
            one[1] += times * max(1, amount // events)
        for (pool, frames), (times, amount) in rows.items():
            thing = f'class-{number(frames) % 40}' if kind != 'cpu' else ''
            facet = {'cpu': 0, 'alloc_bytes': 3, 'lock_delay': 1}[kind]
            yield (f"{head}\t{DRAWS[kind][0]}\t{start}\t{hex_id(str(service), frames)}\t{target}\t{pod}\tapp\tnode-{jvm}\t1.{service}.0\t{pool}"
                   f"\t{facet}\t{thing}\t{amount}\t{amount}\t{times}\t{times}\n")


def thread_lines(stacks, count):
    for service, jvm, start, kind, drawn in windows_of(stacks, count):
        head, target, _ = key(service, jvm)
        rows = {}
        for index, times in drawn.items():
            pool, thread, _, amount, events = stacks[kind][index]
            one = rows.setdefault((pool, thread.strip('[]')), [0, 0])
            one[0] += times
            one[1] += times * max(1, amount // events)
        for (pool, thread), (times, amount) in rows.items():
            yield (f'{head}\t{DRAWS[kind][0]}\t{start}\t{target}\t{pool}\t{thread}\t{4000 + number(thread) % 200}\t{number(thread) % 200}'
                   f'\t{amount}\t{amount}\t{times}\t{times}\n')


def window_lines(stacks, count):
    chance = random.Random(11)
    for service, jvm, start, kind, drawn in windows_of(stacks, count):
        head, target, pod = key(service, jvm)
        events = collections.Counter()
        amounts = collections.Counter()
        for index, times in drawn.items():
            pool, _, _, amount, seen = stacks[kind][index]
            for _ in range(times):
                at = (pool, chance.randrange(60))
                events[at] += 1
                amounts[at] += max(1, amount // seen)
        keys = sorted(events)
        total, counted = sum(amounts.values()), sum(events.values())
        lists = ['[' + ','.join(part) + ']' for part in (
            [f"'{pool}'" for pool, _ in keys], [str(second) for _, second in keys], [str(amounts[k]) for k in keys], [str(events[k]) for k in keys])]
        yield (f'{head}\tDeployment\t{DRAWS[kind][0]}\t{start}\t{target}\t{pod}\tapp\tnode-{jvm}\t{4000 + jvm}\t21.0.8+9-LTS\t1.{service}.0\t60000\t{59900 + jvm}'
               f'\tctimer\t10000000\t{total}\t{total}\t{counted}\t{counted}\t0\t0\t0\t0\t0\t0\t0\t' + '\t'.join(lists) + '\n')


def snapshot_lines(stacks, count):
    chance = random.Random(9)
    pools = sorted({row[0] for rows in stacks.values() for row in rows})
    frames = [row[2] for row in stacks['cpu']]
    for service in range(1, SERVICES + 1):
        for jvm in range(JVMS):
            head, target, _ = key(service, jvm)
            for minute in range(count):
                for tid in range(1, 201):
                    busy = tid % 20 == 0
                    state = 1 if busy and chance.random() < 0.5 else 3 + tid % 2
                    cpu = chance.randint(10 ** 6, 10 ** 10) if busy else (chance.randint(0, 10 ** 6) if chance.random() < 0.1 else 1)
                    stack = hex_id(str(service), chance.choice(frames)) if busy else '0' * 32
                    pool = pools[tid % len(pools)]
                    yield (f'{head}\t{target}\t{begin_ms(minute, jvm)}\t{tid}\t{4000 + tid}\t{pool.replace("#", str(tid))}\t{pool}\t{state}\t0\t60000\t{cpu}'
                           f'\t{cpu // 7 + 1}\t1\t1\t{stack}\t\t0\t0\t\t0\t\n')


def stack_lines(stacks, _):
    for service in range(1, SERVICES + 1):
        seen = set()
        for kind in DRAWS:
            for _, _, frames, _, _ in stacks[kind]:
                if frames in seen:
                    continue
                seen.add(frames)
                named = frames.split(';')[::-1]
                classes = [f.rpartition('.')[0].replace("'", '') for f in named]
                methods = [f.rpartition('.')[2].replace("'", '') for f in named]
                files = [c.rpartition('.')[2].partition('$')[0] + '.java' if c else '' for c in classes]
                quote = lambda items: '[' + ','.join(f"'{i}'" for i in items) + ']'
                lines = '[' + ','.join(str(10 + number(f) % 900) for f in named) + ']'
                kinds = '[' + ','.join('0' for _ in named) + ']'
                yield (f"east\tshop\tservice-{service}\t{hex_id(str(service), frames)}\t1\t0\t{quote(classes)}\t{quote(methods)}\t{quote(files)}\t{lines}\t{kinds}\n")


# table: (makes lines, columns of the lines, what they become)
SOURCES = {
    'profile_samples': (sample_lines, 'cluster String, namespace String, workload String, source UInt8, time UInt64, stack_id String, target_id UInt64, pod String, '
                        'container String, node String, app_version String, pool String, facet UInt8, object String, raw_amount UInt64, amount UInt64, raw_count UInt64, count UInt64'),
    'profile_windows': (window_lines, 'cluster String, namespace String, workload String, workload_kind String, source UInt8, time UInt64, target_id UInt64, pod String, container String, '
                        'node String, host_pid UInt32, jvm_version String, app_version String, length_ms UInt32, covered_ms UInt32, engine String, interval UInt64, raw_amount UInt64, '
                        'amount UInt64, raw_count UInt64, count UInt64, truncated_amount UInt64, truncated_count UInt64, dropped_amount UInt64, dropped_count UInt64, '
                        'dropped_stacks UInt64, lost_events UInt64, reason UInt16, second_pool Array(String), second_index Array(UInt32), second_amount Array(UInt64), second_count Array(UInt64)'),
    'profile_threads': (thread_lines, 'cluster String, namespace String, workload String, source UInt8, time UInt64, target_id UInt64, pool String, name String, os_tid UInt64, '
                        'java_tid UInt64, raw_amount UInt64, amount UInt64, raw_count UInt64, count UInt64'),
    'thread_snapshots': (snapshot_lines, 'cluster String, namespace String, workload String, target_id UInt64, time UInt64, java_tid UInt64, os_tid UInt64, name String, '
                         'pool String, state UInt8, flags UInt16, interval_ms UInt32, cpu_ns UInt64, allocated_bytes UInt64, blocked_ms UInt64, waited_ms UInt64, stack_id String, '
                         'lock_class String, lock_id UInt32, owner_tid UInt64, owner String, carries_tid UInt64, carries String'),
    'profile_stacks': (stack_lines, 'cluster String, namespace String, workload String, stack_id String, normaliser UInt8, flags UInt8, class Array(String), method Array(String), '
                       'file Array(String), line Array(UInt32), kind Array(UInt8)'),
}


def statement_of(table, name, changes):
    text = SCHEMA_TEXT
    begin = text.index(f'CREATE TABLE IF NOT EXISTS {table}\n')
    made = text[begin:text.index('\n;\n', begin)]
    for old, new in changes(table) if callable(changes) else changes:
        assert old in made, (table, old)
        made = made.replace(old, new)
    # Made rows are old: nothing expires here.
    made = re.sub(r'\nTTL [^\n]*', '', made).replace('ttl_only_drop_parts = 1, ', '').replace('ttl_only_drop_parts = 1', '')
    made = re.sub(r'\nSETTINGS *$', '', made)
    # Parts of one file for all columns would not tell the columns apart.
    made += (', ' if '\nSETTINGS ' in made else '\nSETTINGS ') + 'min_bytes_for_wide_part = 0'
    return made.replace(f'EXISTS {table}\n', f'EXISTS {name}\n', 1)


def load(store, table, stacks, windows):
    make, columns = SOURCES[table]
    store.ask(f'CREATE TABLE raw_{table} ({columns}) ENGINE = MergeTree ORDER BY tuple()')
    chunk = []
    for line in make(stacks, windows):
        chunk.append(line)
        if len(chunk) == 200000:
            store.ask(f'INSERT INTO raw_{table} FORMAT TSV', ''.join(chunk).encode())
            chunk = []
    if chunk:
        store.ask(f'INSERT INTO raw_{table} FORMAT TSV', ''.join(chunk).encode())


def selection(columns):
    names = [c.rsplit(' ', 1)[0] for c in columns.split(', ')]
    shown = {'time': "fromUnixTimestamp64Milli(toInt64(time), 'UTC')", 'stack_id': 'unhex(stack_id)', 'raw_amount': 'amount - raw_amount',
             'raw_count': 'count - raw_count'}
    stored = {'raw_amount': 'amount_added', 'raw_count': 'count_added'}
    return ', '.join(stored.get(n, n) for n in names), ', '.join(shown.get(n, n) for n in names)


def rows_of(table):
    """Returns the text after INSERT INTO."""
    if table in SMALL:
        return f'SELECT * FROM hotstack.{table}'
    names, shown = selection(SOURCES[table][1])
    if table == 'profile_stacks':
        names, shown = names + ', day', shown + f", toDate(toDateTime({START}, 'UTC')) AS day"
    # Hex digits of the raw table are told apart from the columns' names by a subquery.
    return f'({names}) SELECT {shown} FROM (SELECT * FROM raw_{table}) SETTINGS max_insert_block_size = 100000'


def measure(store, table, what, changes):
    name = f'{table}_{abs(hash(what)) % 10 ** 9}'
    store.ask(statement_of(table, name, changes))
    store.ask(f'INSERT INTO {name} {rows_of(table)}')
    store.ask(f'OPTIMIZE TABLE {name} FINAL')
    rows, size = map(int, store.rows(f"SELECT sum(rows), sum(data_compressed_bytes) FROM system.parts WHERE active AND table = '{name}'")[0])
    columns = store.rows(f"SELECT column, sum(column_data_compressed_bytes) AS b FROM system.parts_columns WHERE active AND table = '{name}' GROUP BY column ORDER BY b DESC LIMIT 8")
    times = []
    for _, sql in READS[table]:
        text = sql.format(name)
        if 'GROUP BY' not in text and table == 'profile_samples':
            text += ' GROUP BY stack_id'
        store.ask(text + ' FORMAT Null')
        begin = store.cpu_seconds()
        for _ in range(ROUNDS):
            store.ask(text + ' FORMAT Null')
        times.append((store.cpu_seconds() - begin) / ROUNDS * 1000)
    store.ask(f'DROP TABLE {name}')
    print(f'| {what} | {size / rows:.2f} | ' + ' | '.join(f'{t:.1f}' for t in times) + ' | ' + ', '.join(f'{c} {int(b) / rows:.2f}' for c, b in columns if int(b) / rows >= 0.01) + ' |', flush=True)
    return rows


def measure_all(store, options):
    stacks = read_stacks(options.recording) if options.recording else {}
    layouts = LAYOUTS if options.recording else SMALL
    for table in options.tables.split(',') if options.tables else layouts:
        if options.recording:
            load(store, table, stacks, options.windows)
        rows = store.rows(f'SELECT count() FROM {"raw_" if options.recording else "hotstack."}{table}')[0][0]
        print(f'\n### {table}, {int(rows):,} rows\n| layout | bytes a row | ' + ' | '.join(f'{name}, CPU ms' for name, _ in READS[table]) + ' | columns, bytes a row |')
        print('|---|---|' + '---|' * len(READS[table]) + '---|')
        for what, changes in layouts[table]:
            measure(store, table, what, changes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('chdb_http')
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument('--recording')
    source.add_argument('--store')
    parser.add_argument('--windows', type=int, default=120)
    parser.add_argument('--tables')
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix='hotstack-layouts-'))
    data = shutil.copytree(options.store, directory / 'data', symlinks=True) if options.store else directory / 'data'
    store = Store(options.chdb_http, directory, data)
    try:
        measure_all(store, options)
    finally:
        store.process.terminate()
        store.process.wait()
        shutil.rmtree(directory)


main()
