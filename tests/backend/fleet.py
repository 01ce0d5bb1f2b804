# SPDX-License-Identifier: Apache-2.0
"""hotstack-load in a test: a fleet that sends, and the oracle that tells what a store must hold of it."""
import json
import pathlib
import subprocess

import lab as parts

RECORDING = pathlib.Path(__file__).parents[1] / 'data/jfr/async-profiler-4.5-jdk17.jfr.gz'
HOUR_MS = 3600000
STORED = "status = 'accepted'"  # of the ledger's rows; others tell of refusals

# Table: its source and the four sums that hotstack-load --expect prints (tests/support/load/expect.h).
SUMS = {
    'profile_samples': ('source', 'raw_amount, amount, raw_count, count'),
    'profile_windows': ('source', 'raw_amount, amount, raw_count, count'),
    'profile_threads': ('source', 'raw_amount, amount, raw_count, count'),
    'thread_snapshots': ('0', 'cpu_ns, allocated_bytes, java_tid, waited_ms'),
    'thread_snapshot_runs': ('0', 'threads_total, threads_listed, interval_ms, longest_pause_ns'),
    'deadlock_sightings': ('0', 'cycle, position, java_tid, lock_id'),
}


class Fleet:
    """One run of hotstack-load. Options as the program's: nodes=4, windows=20, apart=True ..."""

    def __init__(self, lab, rejected=False, **options):
        self.lab = lab
        self.rejected = rejected  # all batches will be
        self.options = ['--recording', str(RECORDING)]
        for name, value in options.items():
            flag = '--' + name.replace('_', '-')
            self.options += [flag] if value is True else [flag, str(value)]
        self.list = lab.path('acknowledged')
        self.process = None

    def start(self, *backends):
        urls = [word for backend in backends
                for word in ('--url', f'http://127.0.0.1:{backend.port}')]
        self.process = subprocess.Popen(
            [self.lab.programs['load'], *self.options, *urls, '--token-file',
             str(self.lab.path('collector-token')), '--acknowledged', str(self.list),
             '--backoff', '100', '--backoff-max', '1000'],
            stdout=subprocess.PIPE, text=True, env=self.lab.environment)
        return self

    def acknowledged(self):
        """Returns the ids of the acknowledged batches."""
        text = self.list.read_text() if self.list.exists() else ''
        return [line.split()[0] for line in text.splitlines()]

    def is_running(self):
        return self.process.poll() is None

    def wait(self):
        """Returns the results of the calls; every batch must be acknowledged, or rejected."""
        out, _ = self.process.communicate()
        assert self.process.returncode == (1 if self.rejected else 0), \
            f'hotstack-load: exit {self.process.returncode}: {out}'
        return json.loads(out)

    def stop(self):
        if self.process is not None and self.is_running():
            self.process.kill()
            self.process.wait()

    def expected(self):
        """{(table, key, source, day): [rows, four sums]}"""
        out = subprocess.run([self.lab.programs['load'], *self.options, '--expect'], check=True,
                             capture_output=True, text=True, env=self.lab.environment).stdout
        return parse(out)


def parse(text):
    rows = (line.split('\t') for line in text.splitlines())
    return {(table, key, int(source), int(day)): [int(number) for number in numbers]
            for table, key, source, day, *numbers in rows}


def merge(parts_of):
    """Returns the sums of several fleets in one store."""
    whole = {}
    for part in parts_of:
        for key, numbers in part.items():
            whole[key] = [a + b for a, b in zip(whole.get(key, [0] * 5), numbers)]
    return whole


def held(ask):
    """Returns the content of a store in the form of Fleet.expected."""
    queries = [
        f"SELECT '{table}', leftPad(lower(hex(target_id)), 16, '0'), {source}, toUInt32(toDate(time)), count(), "
        f"{', '.join(f'sum({column})' for column in columns.split(', '))} FROM {table} GROUP BY 1, 2, 3, 4"
        for table, (source, columns) in SUMS.items()]
    queries += [
        "SELECT 'profile_stacks', workload, 0, toUInt32(day), uniqExact(stack_id), 0, 0, 0, 0 FROM profile_stacks "
        'GROUP BY 1, 2, 3, 4',
        f"SELECT 'ingestion_batches', '{'0' * 16}', 0, 0, count(), 0, 0, 0, 0 FROM ingestion_batches WHERE {STORED}"]
    return parse('\n'.join(text for query in queries if (text := ask(query))))


def assert_holds(ask, expected, acknowledged):
    """Asserts that the store has all expected rows, each batch once in every table."""
    found = held(ask)
    wrong = {key: (found.get(key), expected.get(key)) for key in {*found, *expected}
             if found.get(key) != expected.get(key)}
    assert not wrong, f'{len(wrong)} of {len(expected)} sums differ (found, expected): {dict(list(wrong.items())[:3])}'
    ids = ask(f'SELECT lower(hex(batch_id)) FROM ingestion_batches WHERE {STORED}').split()
    assert len(ids) == len(set(ids)), 'a batch is in the ledger twice'
    assert set(acknowledged) <= set(ids), 'an acknowledged batch is not in the ledger'


def assert_sums_hold(ask):
    """Asserts that the hourly sums that a read would use equal those of the samples."""
    key = 'workload, source, target_id, hex(stack_id), pool, facet, object'
    sums = 'sum(raw_amount), sum(amount), sum(raw_count), sum(count)'
    runs = ('SELECT workload, hour, max(generation) FROM rollup_runs GROUP BY workload, hour '
            'HAVING argMax(windows, generation) > 0')
    rolled = ask(f'SELECT toUInt32(hour), {key}, {sums} FROM profile_rollups WHERE (workload, hour, generation) IN '
                 f'({runs}) GROUP BY hour, {key} ORDER BY ALL')
    whole = ask(f'SELECT toUInt32(toStartOfHour(time)) AS hour, {key}, {sums} FROM profile_samples '
                f'GROUP BY hour, {key} ORDER BY ALL')
    assert rolled == whole, 'the hourly sums are not those of the samples'


def wait_for_sums(backend):
    """Waits until the job has found nothing left to sum."""
    def settled():
        page = parts.metrics(backend)
        return page['hotstack_backend_rollup_passes_total'] >= before + 3 and \
            page['hotstack_backend_rollup_pending'] == 0
    before = parts.metrics(backend)['hotstack_backend_rollup_passes_total']
    parts.wait_for('the hourly sums', settled)
