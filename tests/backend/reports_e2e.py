# SPDX-License-Identifier: Apache-2.0
"""Status reports, heartbeats, the ledger, what the store keeps, and the metrics of all that.

usage: reports_e2e.py MODE BACKEND CLIENT CHDB-HTTP [TEST...], as lab.main says."""
import signal

import lab as parts
import metrics_page
from lab import expect, ingest, settled, time_ms, wait_for


def test_metrics_are_what_prometheus_expects(lab):
    backend = lab.start('--rollups-every', '100ms')
    backend.send()
    backend.send()
    backend.send('--attempt', '2', '--seed', '2')
    backend.send('--status')
    backend.send('--heartbeat', '--dropped', '3')
    assert b'malformed' in ingest(backend, b'garbage')[2]
    backend.get('/v1/services')
    backend.get('/v1/flamegraph', namespace='', workload='shop', type='cpu')
    backend.call('GET', '/v1/services', token='wrong-token-0123456789')

    def read():
        page = backend.get('/metrics')[2].decode()
        rows = [line.rsplit(' ', 1) for line in page.splitlines() if not line.startswith('#')]
        return page, {name.removeprefix('hotstack_backend_'): float(value) for name, value in rows}

    # The figures of the tables are read now and then, and heartbeats are written together.
    wait_for('the drops', lambda: sum(value for name, value in read()[1].items()
                                            if name.startswith('collector_dropped_batches{')) == 3)
    wait_for('the figures', lambda: read()[1].get('store_table_rows{table="profile_samples"}') == 1200)
    page, found = read()
    for name, value in (('ingest_calls_total{kind="profiles",outcome="accepted"}', 2),
                        ('ingest_calls_total{kind="profiles",outcome="duplicate"}', 1),
                        ('ingest_calls_total{kind="profiles",outcome="rejected"}', 1),
                        ('ingest_calls_total{kind="status",outcome="accepted"}', 1),
                        ('ingest_duration_seconds_count{kind="profiles"}', 4),
                        ('ingest_in_doubt_checks_total{block="missing"}', 3),
                        ('insert_duration_seconds_count{table="profile_samples"}', 2),
                        ('query_duration_seconds_count{route="/v1/flamegraph"}', 1),
                        ('auth_refusals_total{why="unauthenticated"}', 1),
                        ('store_ttl_lag_seconds{table="profile_samples"}', 0),
                        ('store_oldest_row_timestamp_seconds{table="profile_samples"}',
                         lab.start_ms // 1000),
                        ('config_last_reload_successful', 1)):
        assert found.get(name) == value, (name, found.get(name), page)
    assert found['store_table_bytes{table="profile_samples"}'] > 1000
    assert found['store_table_parts{table="profile_samples"}'] >= 1
    assert found['store_read_duration_seconds_sum{result="ok"}'] > 0
    assert any(name.startswith('build_info{version="') for name in found), page
    if not metrics_page.is_checkable():
        raise parts.Skip(metrics_page.ABSENT)
    metrics_page.check(page)


def test_heartbeats_are_kept_and_answered_with_limits(lab):
    backend = lab.start('--ingest-reports-every', '100ms')
    expect(backend.send('--heartbeat')[0], outcome='accepted')
    expect(backend.send('--heartbeat', '--dropped', '2')[0], outcome='accepted')
    expect(backend.send('--heartbeat', '--seed', '2', '--cluster', 'west')[0], outcome='accepted')
    answer = settled('both collectors', backend, '/v1/collectors',
                     lambda a: len(a['collectors']) == 2 and a['collectors'][0]['drops'])
    one = answer['collectors'][0]
    told = {key: one[key] for key in ('cluster', 'instance', 'version', 'engine', 'state', 'jvms_seen')}
    assert told == {'cluster': 'test', 'instance': 'instance-1', 'version': 'instance-1',
                    'engine': 'async-profiler 4.6', 'state': 'alive', 'jvms_seen': 2}, told
    assert one['queue']['batches'] == 3 and one['queue']['bytes'] == 2048
    assert time_ms(one['queue']['oldest']) == lab.start_ms
    assert time_ms(one['last_success']) == lab.start_ms - 5000
    drop, = one['drops']
    assert (drop['cause'], drop['batches'], time_ms(drop['oldest'])) == ('queue_full', 2, lab.start_ms)
    assert drop['fix'] and answer['collectors'][1]['drops'] == []
    # A repeated report of the same drops does not count them twice.
    backend.send('--heartbeat', '--dropped', '2')
    backend.send('--heartbeat', '--seed', '3', '--cluster', 'west')
    settled('the third', backend, '/v1/collectors', lambda a: len(a['collectors']) == 3)
    again = backend.json('/v1/collectors', cluster='test')['collectors']
    assert [d['batches'] for d in again[0]['drops']] == [2], again
    assert backend.json('/v1/ingestion')['dropped'] == {
        'batches': 2, 'by_cause': {'queue_full': 2, 'disk': 0, 'damaged': 0, 'rejected': 0}}
    page = backend.get('/metrics')[2].decode()
    assert '\nhotstack_backend_flush_interval_seconds 60\n' in page


def test_the_ledger_tells_what_became_of_batches(lab):
    backend = lab.start('--ingest-reports-every', '100ms')
    expect(backend.send()[0], outcome='accepted')
    expect(backend.send()[0], outcome='duplicate')
    expect(backend.send('--seed', '2', '--wrong-totals')[0], outcome='rejected', code='totals_mismatch')
    assert ingest(backend, b'garbage')[0] == 400
    answer = settled('the ledger', backend, '/v1/ingestion',
                     lambda a: a['outcomes']['rejected'] == 2 and a['outcomes']['duplicate'] == 1)
    assert answer['outcomes'] == {'accepted': 1, 'duplicate': 1, 'rejected': 2, 'retry': 0, 'rows': 600}
    assert sum(b['accepted'] for b in answer['buckets']) == 1
    rejected = [r for r in answer['refused'] if r['status'] == 'rejected']
    assert {r['code'] for r in rejected} == {'totals_mismatch', 'malformed'}
    wrong = next(r for r in rejected if r['code'] == 'totals_mismatch')
    assert len(wrong['batch']) == 32 and wrong['instance'] == 'instance-2' and wrong['attempts'] == 1
    assert 'raw_amount' in wrong['message'] and wrong['windows'] == 3 and wrong['rows'] == 600
    broken = next(r for r in rejected if r['code'] == 'malformed')
    assert (broken['batch'], broken['instance']) == ('', '') and broken['sender'] == 'auth.collector_token'
    assert int(answer['events']['seen']) == 600
    assert backend.call('GET', '/v1/ingestion?buckets=501')[0] == 400
    backend.stop()
    assert lab.ask("SELECT count() FROM ingestion_batches WHERE status = 'accepted'") == '1'


def test_answers_tell_of_batches_that_never_came(lab):
    backend = lab.start('--ingest-reports-every', '100ms')
    backend.send('--status')
    selection = {'namespace': '', 'workload': 'shop', 'type': 'cpu'}
    loss = {'dropped_batches': 0, 'oldest_dropped': None, 'rejected_batches': 0, 'code': None}
    assert backend.json('/v1/flamegraph', **selection)['meta']['loss'] == loss
    backend.send('--wrong-totals')
    backend.send('--heartbeat')
    backend.send('--heartbeat', '--dropped', '3')
    meta = settled('the loss', backend, '/v1/flamegraph', lambda a: a['meta']['loss']['dropped_batches']
                   and a['meta']['loss']['rejected_batches'], **selection)['meta']
    assert meta['loss']['dropped_batches'] == 3 and meta['loss']['code'] == 'totals_mismatch'
    assert time_ms(meta['loss']['oldest_dropped']) == lab.start_ms
    # Neither of a service on other nodes, nor of another time.
    elsewhere = backend.json('/v1/flamegraph', **{**selection, 'workload': 'bank'})['meta']
    assert elsewhere['loss'] == loss
    earlier = {'from': str(lab.start_ms - 7200000), 'to': str(lab.start_ms - 3600000)}
    assert backend.json('/v1/flamegraph', **selection, **earlier)['meta']['loss'] == loss


def test_the_store_tells_what_it_keeps(lab):
    backend = lab.start()
    backend.send()
    answer = backend.json('/v1/retention')
    tables = {row['table']: row for row in answer['tables']}
    assert answer['days'] == 7 and time_ms(answer['oldest']) % 86400000 == 0
    samples = tables['profile_samples']
    assert (samples['rows'], samples['parts'], samples['ttl_lag_s']) == (600, 1, 0) and samples['bytes'] > 600
    assert time_ms(samples['oldest']) == lab.start_ms // 1000 * 1000
    assert tables['deadlock_sightings'] == {'table': 'deadlock_sightings', 'rows': 0, 'bytes': 0, 'parts': 0, 'oldest': None,
                                            'ttl_lag_s': 0}
    assert answer['rollups']['pending_hours'] == 0 and answer['rollups']['failures'] == 0
    assert backend.call('GET', '/v1/retention?cluster=test')[0] == 400
    backend.stop()


def test_a_new_retention_holds_for_every_table(lab):
    lab.start('--retention', '7d').stop()
    lab.start('--retention', '2d').stop()
    kept = lab.ask("SELECT name, extract(create_table_query, 'TTL [^;]*toIntervalDay\\((\\d+)\\)') FROM system.tables "
                   "WHERE database = 'hotstack' AND name != 'schema_migrations'")
    days = dict(line.split('\t') for line in kept.splitlines())
    assert len(days) == 12 and set(days.values()) == {'2'}, days


def test_a_store_of_another_build_is_refused_with_the_command_that_empties_it(lab):
    lab.start().stop()
    lab.ask("INSERT INTO schema_migrations SELECT 9, 'later', '', now64(3, 'UTC')")
    backend = lab.start(ready=False)
    wait_for('the refusal', lambda: 'use a newer backend' in backend.log.read_text())
    backend.stop()
    lab.ask("ALTER TABLE schema_migrations UPDATE checksum = 'another' WHERE 1 SETTINGS mutations_sync = 2")
    backend = lab.start(ready=False)
    command = f"rm -r '{lab.path('data')}'" if lab.mode == 'embedded' else "clickhouse-client --query 'DROP DATABASE hotstack'"
    wait_for('the refusal', lambda: command in backend.log.read_text())
    assert backend.send()[0]['outcome'] == 'retry'


def test_reports_wait_for_a_store_that_is_away(lab):
    if lab.mode != 'http':
        return  # the engine in the backend cannot be held
    backend = lab.start('--ingest-reports-every', '100ms')
    lab.store.process.send_signal(signal.SIGSTOP)
    try:
        expect(backend.send('--status')[0], outcome='accepted')
        expect(backend.send('--heartbeat')[0], outcome='accepted')
    finally:
        lab.store.process.send_signal(signal.SIGCONT)
    settled('the status', backend, '/v1/status', lambda a: len(a['targets']) == 1)
    settled('the collector', backend, '/v1/collectors', lambda a: len(a['collectors']) == 1)


parts.main(globals(), 'backend', 'client', 'chdb_http')
