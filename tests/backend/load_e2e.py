# SPDX-License-Identifier: Apache-2.0
"""A fleet of collectors (hotstack-load) against backends and stores that are killed: what is acknowledged is in every
table once, and nothing else is.

usage: load_e2e.py MODE KILLS HANG-SECONDS BACKEND LOAD CLIENT CHDB-HTTP [TEST...], as lab.main says.
KILLS: how many the first series has, the others have fewer; HOTSTACK_TEST_SEED makes other ones. HANG-SECONDS: how long a store does not answer;
the backend's own time limits are a quarter of it."""
import collections
import datetime
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

import lab as parts
from clickhouse_front import SERVERS
from fleet import HOUR_MS, STORED, SUMS, Fleet, assert_holds, assert_sums_hold, merge, wait_for_sums

KILLS_A_ROUND = 10
WINDOWS_A_KILL = 4  # of each node; one or two are acknowledged between two kills, and all others after the last one
MINUTE_MS, DAY_MS = 60000, 86400000
SMALL = {'nodes': 2, 'jvms': 3, 'rows': 60, 'threads': 10}
SUMS_FLAGS = ('--rollups-every', '200ms', '--rollups-grace', '0s')
KILLS, HANG_S = int(sys.argv[2]), int(sys.argv[3])
FEWER_KILLS, FEW_KILLS = max(2, KILLS // 4), max(1, KILLS // 10)


def past_hours(lab):
    """Returns a start whose windows are in past hours."""
    return (lab.start_ms // HOUR_MS - 3) * HOUR_MS


def leave_tokens(lab):
    """Takes away what tells the next engine of the kill, so that it does not mend the tokens (libchsink, tokens.c)."""
    (lab.path('data') / 'status').unlink(missing_ok=True)


def kill_backend(lab, flags, mend=True):
    """kill -9 of a backend; another one takes its place."""
    name = random.choice(list(lab.backends))
    port = lab.backends[name].port
    lab.backends[name].kill()
    if not mend and lab.mode == 'embedded':
        leave_tokens(lab)
    lab.start(*flags, port=port, name=name)


def kill_store(lab, _flags, mend=True):
    """kill -9 of the server behind the backend; it comes back on its port."""
    port = lab.store.port
    lab.store.process.kill()
    lab.store.process.wait()
    if not mend:
        leave_tokens(lab)
    lab.store = parts.Store(lab, lab.path('data'), port)


def kill_and_leave_tokens(lab, flags):
    """Kills the store like a ClickHouse server, whose tokens nobody repairs."""
    kill_store(lab, flags, mend=False) if lab.mode == 'http' else kill_backend(lab, flags, mend=False)


def forget_tokens(lab):
    """Removes the deduplication windows; the backend is restarted if it has the store."""
    if lab.mode == 'embedded':
        lab.backend.stop()
    with lab.counter() as ask:
        for table in (*SUMS, 'profile_stacks', 'ingestion_batches'):
            ask(f'ALTER TABLE {table} MODIFY SETTING non_replicated_deduplication_window = 0')
    if lab.mode == 'embedded':
        lab.start(*SUMS_FLAGS)


def wait_for_more(fleet):
    """Waits for an acknowledgement that the fleet did not have before."""
    before = len(fleet.acknowledged())
    parts.wait_for('an acknowledgement', lambda: len(fleet.acknowledged()) > before or not fleet.is_running())


def kill_series(lab, fleet, kills, deeds, flags):
    """Kills parts at random moments while the fleet sends. Returns how often: fewer times than `kills` if it has sent all."""
    for number in range(kills):
        wait_for_more(fleet)
        time.sleep(random.uniform(0, 0.25))
        if not fleet.is_running():
            return number
        random.choice(deeds)(lab, flags)
    return kills


def survive(lab, kills, deeds, backends=1, forgetful=False, **options):
    """A fleet sends until all is acknowledged, through a series of kills; then the store is looked at. Returns how many kills
    there were. forgetful: the store keeps no insert tokens."""
    for number in range(backends):
        lab.start(*SUMS_FLAGS, name=str(number or ''))
    if forgetful:
        forget_tokens(lab)
    fleet = Fleet(lab, start_ms=past_hours(lab), windows=WINDOWS_A_KILL * kills, **{**SMALL, **options})
    fleet.start(*lab.backends.values())
    try:
        made = kill_series(lab, fleet, kills, deeds, SUMS_FLAGS)
        fleet.wait()
    finally:
        fleet.stop()
    wait_for_sums(lab.backend)
    for one in lab.backends.values():
        one.stop()
    with lab.counter() as ask:
        assert_holds(ask, fleet.expected(), fleet.acknowledged())
        assert_sums_hold(ask)
    return made


def series(lab, deeds, kills=FEWER_KILLS, **more):
    """Kills in rounds, after each of which the store is looked at and emptied."""
    seed = int(os.environ.get('HOTSTACK_TEST_SEED', '1'))
    while kills > 0:
        random.seed(seed)
        begun = time.monotonic()
        made = survive(lab, min(kills, KILLS_A_ROUND), deeds, seed=seed, **more)
        assert made > 0, 'the fleet ended before the first kill: it needs more windows'
        print(f'# {made} kills of seed {seed}: {(time.monotonic() - begun) / made:.1f} s each, the checks included', flush=True)
        lab.empty()
        kills, seed = kills - made, seed + 1


def test_what_is_acknowledged_outlives_kills(lab):
    series(lab, [kill_backend, kill_store] if lab.mode == 'http' else [kill_backend], KILLS)


def test_profiles_and_snapshots_in_batches_of_their_own_outlive_kills(lab):
    series(lab, [kill_backend, kill_store] if lab.mode == 'http' else [kill_backend], apart=True)


def test_two_backends_share_a_store_through_kills(lab):
    if lab.mode == 'http':
        series(lab, [kill_backend, kill_store], backends=2)


def test_retries_outlive_the_tokens_of_the_store(lab):
    """Like a batch that is sent again after the deduplication window. If the store is a server, the backend lives: the
    server goes on with the write of a dead one during the next try, and only tokens protect against that."""
    series(lab, [kill_store] if lab.mode == 'http' else [kill_backend], forgetful=True)


def test_tokens_that_nobody_mends_lose_nothing(lab):
    series(lab, [kill_and_leave_tokens])


def test_servers_of_other_versions_and_settings_keep_a_batch_once(lab):
    if lab.mode != 'http':
        return
    for server in SERVERS:
        print(f'# a server {server.name}', flush=True)
        lab.server = server
        # The server goes on with the write of a dead backend during the next try; only tokens protect against that.
        deeds = [kill_backend, kill_store] if server.keeps_tokens else [kill_store]
        series(lab, deeds, FEW_KILLS)


def test_tokens_work_whatever_the_profile_of_the_server_says(lab):
    """Sends a batch twice as if for the first time, when the ledger does not know it: only tokens detect that."""
    if lab.mode != 'http':
        return
    for lab.server in (server for server in SERVERS if server.keeps_tokens):
        backend = lab.start()
        assert backend.send()[0]['outcome'] == 'accepted'
        lab.store.ask('ALTER TABLE ingestion_batches DELETE WHERE 1 SETTINGS mutations_sync = 2')
        assert backend.send()[0]['outcome'] == 'accepted'
        assert lab.store.ask('SELECT count() FROM profile_samples') == '600', lab.server.name
        lab.empty()


def lose_blocks(lab):
    """Makes the state after a kill between an insert token and its block: the store has tokens without their blocks."""
    with lab.counter() as ask:
        blocks = ask("SELECT path FROM system.parts WHERE active AND database = 'hotstack' AND table != 'schema_migrations'")
    port = lab.store.port if lab.mode == 'http' else None
    if port:
        lab.store.close()
    for path in blocks.split():
        shutil.rmtree(path)
    if port:
        lab.store = parts.Store(lab, lab.path('data'), port)


def test_a_token_without_its_block_loses_nothing(lab):
    backend = lab.start()
    sent = backend.send()[0]
    assert sent['outcome'] == 'accepted'
    backend.stop()
    lose_blocks(lab)
    backend = lab.start()
    assert [backend.send('--attempt', attempt)[0]['outcome'] for attempt in '23'] == ['accepted', 'duplicate']
    backend.stop()
    with lab.counter() as ask:
        assert ask('SELECT count(), sum(amount) FROM profile_samples').split() == ['600', str(sent['value'])]
        for table, rows in (('profile_windows', 3), ('profile_threads', 1), ('profile_stacks', 100),
                            (f'ingestion_batches WHERE {STORED}', 1)):
            assert ask(f'SELECT count() FROM {table}') == str(rows), table


# ---- a store that hangs ----

def saved(lab, *flags):
    """Returns the bytes that ingest-client would send."""
    subprocess.run([lab.programs['client'], '--save', str(lab.path('body')), '--start-ms', str(lab.start_ms), *flags],
                   check=True, env=lab.environment)
    return lab.path('body').read_bytes()


def post(backend, route, body):
    """HTTP status, answer and ms until it came."""
    begun = time.monotonic()
    status, _, data = backend.call('POST', f'/v1/ingest/{route}', {'Content-Type': 'application/x-protobuf'}, body,
                                   parts.COLLECTOR)
    return status, data, (time.monotonic() - begun) * 1000


class Reporter:
    """A collector that sends its heartbeat and its status over and over."""

    def __init__(self, lab, backend):
        self.backend = backend
        self.bodies = {'heartbeat': saved(lab, '--heartbeat'), 'status': saved(lab, '--status')}
        self.beats = 0  # accepted ones

    def report(self):
        """Sends both once. Returns whether the status was accepted, and the ms until each answer."""
        status, data, wait = post(self.backend, 'heartbeat', self.bodies['heartbeat'])
        assert status == 200, data
        self.beats += 1
        status, data, other = post(self.backend, 'status', self.bodies['status'])
        assert status == 200 or status == 503 and b'store_unavailable' in data, (status, data)
        return status == 200, [wait, other]

    def report_until(self, end):
        """Returns the outcomes of the status reports, and all waits."""
        outcomes, waits = [], []
        while time.monotonic() < end:
            accepted, both = self.report()
            outcomes.append(accepted)
            waits += both
            time.sleep(0.05)
        return outcomes, waits


def ask_many(backend, count):
    """So many queries at once; returns the threads and their answers."""
    path = '/v1/flamegraph?namespace=load&workload=service-0&type=cpu'
    answers = []
    threads = [threading.Thread(target=lambda number=number: answers.append(backend.call('GET', f'{path}&limit={number + 1}')))
               for number in range(count)]
    for thread in threads:
        thread.start()
    return threads, answers


def hang(lab, reporter):
    """Stops the store for HANG_S, in which it is asked and reported to. Returns what Reporter.report_until does."""
    lab.store.process.send_signal(signal.SIGSTOP)
    try:
        end = time.monotonic() + HANG_S
        threads, answers = ask_many(reporter.backend, 40)
        told = reporter.report_until(end)
        for thread in threads:
            thread.join()
    finally:
        lab.store.process.send_signal(signal.SIGCONT)
    for status, headers, data in answers:
        assert status == 503 and headers['Retry-After'] and b'the store' in data.lower(), (status, data)
    return told


def assert_put_off(outcomes):
    """Asserts that status reports were accepted only until the backend noticed that the store hangs."""
    noticed = outcomes.index(False) if False in outcomes else len(outcomes)
    assert noticed < len(outcomes) and not any(outcomes[noticed:]), outcomes


def test_a_store_that_hangs_stops_nobody_else(lab):
    """While the store does not answer, heartbeats are accepted, status reports put off and queries answered with a 503, all of
    them at once; everything that was accepted or sent again arrives when the store answers."""
    if lab.mode != 'http':
        return  # the engine in the backend cannot be held
    timeout_ms = HANG_S * 1000 // 4
    backend = lab.start('--query-timeout', f'{timeout_ms}ms', '--store-timeout', f'{timeout_ms}ms',
                        '--ingest-reports-every', '100ms')
    reporter = Reporter(lab, backend)
    fleet = Fleet(lab, start_ms=past_hours(lab), windows=30, **SMALL).start(backend)
    try:
        wait_for_more(fleet)
        _, before = reporter.report_until(time.monotonic() + 1)
        outcomes, waits = hang(lab, reporter)
        parts.wait_for('a status report to be accepted', lambda: reporter.report()[0])
        fleet.wait()
    finally:
        fleet.stop()
    quick = sum(wait <= 100 for wait in waits)
    print(f'# {len(waits)} answers while the store hung: median {statistics.median(waits):.1f} ms (before: '
          f'{statistics.median(before):.1f} ms), {quick / len(waits):.1%} within 100 ms, longest {max(waits):.1f} ms')
    assert_put_off(outcomes)
    # An answer that waited for the store would take the whole time limit.
    assert statistics.median(waits) < 10 * statistics.median(before) + timeout_ms / 10
    backend.stop()
    assert_holds(lab.ask, fleet.expected(), fleet.acknowledged())
    beats = lab.ask("SELECT count() FROM collector_heartbeats WHERE instance = 'instance-1'")
    assert beats == str(reporter.beats), f'{beats} of {reporter.beats} accepted heartbeats are stored'


# ---- time ----

def send_all(lab, **options):
    """Runs a small fleet and returns the results of its calls, and the fleet."""
    fleet = Fleet(lab, **{**SMALL, 'windows': 6, **options}).start(lab.backend)
    try:
        return fleet.wait(), fleet
    finally:
        fleet.stop()


def partitions(ask):
    """{(table, day): rows} by the store's own partitions."""
    out = ask("SELECT table, partition, sum(rows) FROM system.parts WHERE active AND database = 'hotstack' "
              f"AND table IN ({', '.join(repr(table) for table in SUMS)}) GROUP BY 1, 2")
    rows = (line.split('\t') for line in out.splitlines())
    return {(table, day): int(count) for table, day, count in rows}


def expected_partitions(expected):
    sums = collections.Counter()
    for (table, _, _, day), (rows, *_) in expected.items():
        if table in SUMS:
            sums[table, str(datetime.date(1970, 1, 1) + datetime.timedelta(days=day))] += rows
    return dict(sums)


def test_late_batches_out_of_order_and_over_midnight_lie_where_they_belong(lab):
    lab.start()
    midnight = lab.start_ms // DAY_MS * DAY_MS
    fleets = [send_all(lab, seed=seed, start_ms=start, newest_first=True)[1]
              for seed, start in ((1, midnight - DAY_MS - 3 * MINUTE_MS), (2, midnight - 5 * DAY_MS))]
    lab.backend.stop()
    expected = merge(fleet.expected() for fleet in fleets)
    with lab.counter() as ask:
        assert_holds(ask, expected, fleets[-1].acknowledged())
        assert partitions(ask) == expected_partitions(expected)


def test_a_clock_that_is_an_hour_slow_stores_what_it_says(lab):
    lab.start()
    came, fleet = send_all(lab, start_ms=lab.start_ms - HOUR_MS - 6 * MINUTE_MS)
    assert came['codes'] == {}
    lab.backend.stop()
    assert_holds(lab.ask, fleet.expected(), fleet.acknowledged())


def test_a_clock_that_is_an_hour_fast_is_named(lab):
    lab.start()
    came, _ = send_all(lab, start_ms=lab.start_ms + HOUR_MS, rejected=True)
    assert came['codes'] == {'window_in_future': 12} and came['batch']['rejected'] == 12
    # Windows less than five minutes ahead are accepted, as clocks differ a little.
    came, fleet = send_all(lab, start_ms=lab.start_ms + 2 * MINUTE_MS, windows=1)
    assert came['codes'] == {}
    lab.backend.stop()
    assert_holds(lab.ask, fleet.expected(), fleet.acknowledged())


parts.main(globals(), 'backend', 'load', 'client', 'chdb_http', arguments=[sys.argv[1], *sys.argv[4:]])
