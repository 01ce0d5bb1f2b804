# SPDX-License-Identifier: Apache-2.0
"""The real backend against a real store: what is acknowledged is stored whole, once; what is wrong
is refused early and clearly.

usage: backend_e2e.py MODE BACKEND CLIENT CHDB-HTTP [TEST...]
MODE: embedded (the engine in the backend) or http (a server behind it; for sanitised builds)."""
import datetime
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import lab as parts
import metrics_page
from lab import CODE, COLLECTOR, USER, wait_for


def expect(answer, **wanted):
    got = {key: answer[key] for key in wanted}
    assert got == wanted, f'{got}, wanted {wanted}'


# ---- acknowledgement ----

def test_a_batch_sent_twice_is_stored_once(lab):
    backend = lab.start()
    first, second = backend.send()[0], backend.send()[0]
    expect(first, outcome='accepted', http=200, rows=600)
    expect(second, outcome='duplicate', http=200, rows=0)
    expect(backend.send('--other-body')[0], outcome='rejected', code='batch_id_reused', http=409)
    backend.stop()
    counts = lab.ask('SELECT count(), sum(amount), uniqExact(stack_id) FROM profile_samples')
    assert counts.split() == ['600', str(first['value']), '100'], counts
    assert lab.ask("SELECT count() FROM ingestion_batches WHERE status = 'accepted'") == '1'
    assert lab.ask('SELECT count() FROM profile_windows') == '3'
    assert lab.ask('SELECT count() FROM profile_threads') == '1'


def test_unknown_stacks_are_asked_for_per_workload(lab):
    backend = lab.start()
    expect(backend.send('--no-stacks')[0], outcome='need_stacks', needed=100, rows=0)
    expect(backend.send()[0], outcome='accepted')
    expect(backend.send('--no-stacks', '--seed', '2')[0], outcome='accepted')
    expect(backend.send('--no-stacks', '--seed', '3', '--workload', 'other')[0],
           outcome='need_stacks', needed=100)
    backend.stop()
    assert lab.ask('SELECT count() FROM profile_samples') == '1200'
    assert lab.ask('SELECT uniqExact(workload, stack_id) FROM profile_stacks') == '100'


def test_what_is_acknowledged_outlives_a_kill(lab):
    """kill -9 at random points while batches come in; then all are sent again."""
    random.seed(int(os.environ.get('HOTSTACK_TEST_SEED', '1')))
    acknowledged, sent = set(), 24

    def send_all():
        """Two collectors at once, so that batches are written side by side."""
        found = [[], []]

        def send(index):
            found[index] = backend.send('--count', '12', '--seed', str(1 + 12 * index))

        senders = [threading.Thread(target=send, args=(index,)) for index in (0, 1)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        return found[0] + found[1]

    backend = lab.start()
    for _ in range(3):
        killer = threading.Timer(random.uniform(0.05, 1.0), backend.process.kill)
        killer.start()
        answers = send_all()
        killer.join()
        backend.process.wait()
        acknowledged |= {a['seed'] for a in answers if a['outcome'] in ('accepted', 'duplicate')}
        backend = lab.start()
    if lab.mode == 'http' and acknowledged:
        seen = int(lab.store.ask(
            "SELECT count() FROM ingestion_batches WHERE status = 'accepted'"))
        assert seen >= len(acknowledged), f'{seen} in the ledger, {len(acknowledged)} acknowledged'
    answers = send_all()
    for answer in answers:
        assert answer['outcome'] in ('accepted', 'duplicate'), answer
        if answer['seed'] in acknowledged:
            expect(answer, outcome='duplicate')
    backend.stop()
    total = str(sum(a['value'] for a in answers))
    counts = lab.ask('SELECT count(), sum(amount) FROM profile_samples')
    assert counts.split() == [str(600 * sent), total], (counts, total)
    assert lab.ask('SELECT count(), uniqExact(batch_id) FROM ingestion_batches '
                   "WHERE status = 'accepted'").split() == \
        [str(sent), str(sent)]
    assert lab.ask('SELECT count() FROM profile_windows') == str(3 * sent)


def test_a_batch_in_doubt_is_completed_not_doubled(lab):
    """As after a kill whose insert tokens are gone: some tables have the batch, the ledger does not."""
    backend = lab.start()
    expect(backend.send()[0], outcome='accepted')
    backend.stop()
    for table in ('ingestion_batches', 'profile_samples'):
        lab.ask(f'ALTER TABLE {table} DELETE WHERE 1 SETTINGS mutations_sync = 2')
    for table in ('ingestion_batches', 'profile_windows', 'profile_threads', 'profile_samples'):
        lab.ask(f'ALTER TABLE {table} MODIFY SETTING non_replicated_deduplication_window = 0')
    backend = lab.start()
    expect(backend.send('--attempt', '2')[0], outcome='accepted')
    expect(backend.send('--attempt', '3')[0], outcome='duplicate')
    backend.stop()
    counts = [lab.ask(f'SELECT count() FROM {table}') for table in
              ('profile_samples', 'profile_windows', 'profile_threads',
               "ingestion_batches WHERE status = 'accepted'")]
    assert counts == ['600', '3', '1', '1'], counts


def test_a_store_that_is_down_means_retry(lab):
    holder = socket.socket()
    holder.bind(('127.0.0.1', 0))
    port = holder.getsockname()[1]
    flags = [flag for flag in lab.flags() if flag not in ('--data-dir', str(lab.path('data')))]
    if lab.store is not None:
        lab.store.close()
        lab.store = None
    backend = lab.backend = parts.Backend(
        lab, [*flags, '--listen', '127.0.0.1:0', '--store-kind', 'clickhouse', '--store-url',
              f'http://127.0.0.1:{port}'])
    assert backend.call('GET', '/readyz', token=None)[0] == 200
    expect(backend.send()[0], outcome='retry', code='store_unavailable', http=503)
    status, headers, _ = backend.get('/v1/services')
    assert (status, headers['Retry-After']) == (503, '5')
    holder.close()
    store = parts.Store(lab, lab.path('data'), port)
    try:
        backend.wait_ready()
        expect(backend.send()[0], outcome='accepted')
        backend.stop()
        assert store.ask('SELECT count() FROM profile_samples') == '600'
    finally:
        store.close()


def test_a_store_that_is_behind_costs_nothing_but_a_retry(lab):
    if lab.mode != 'http':
        return  # the engine in the backend cannot be held
    backend = lab.start('--ingest-queue', '1')
    assert b'malformed' in ingest(backend, b'garbage')[2]
    lab.store.process.send_signal(signal.SIGSTOP)
    sent = []
    sender = threading.Thread(target=lambda: sent.extend(backend.send()))
    try:
        sender.start()
        # Payloads are not read now: even garbage is answered with retry.
        wait_for('the queue to be full', lambda: b'store_busy' in ingest(backend, b'garbage')[2])
        status, headers, _ = ingest(backend, b'garbage')
        assert status == 429 and 1 <= int(headers['Retry-After']) <= 15
        assert backend.call('GET', '/healthz', token=None)[0] == 200
    finally:
        lab.store.process.send_signal(signal.SIGCONT)
        sender.join()
    expect(sent[0], outcome='accepted')
    assert b'malformed' in ingest(backend, b'garbage')[2]
    backend.stop()
    assert lab.ask('SELECT count() FROM profile_samples') == '600'


# ---- refusals ----

def test_wrong_batches_are_rejected_by_name(lab):
    backend = lab.start()
    day = 86400000
    rows = [
        (['--wrong-totals'], {}, 'totals_mismatch', 422),
        (['--wrong-stack'], {}, 'stack_id_mismatch', 422),
        (['--contract', '2'], {}, 'contract_unknown', 422),
        (['--cluster', ''], {}, 'bad_identity', 422),
        (['--workload', ''], {}, 'bad_identity', 422),
        ([], {'start_ms': lab.start_ms - 8 * day}, 'window_too_old', 422),
        ([], {'start_ms': lab.start_ms + 3600000}, 'window_in_future', 422),
        ([], {'start_ms': lab.start_ms // day * day - 5000}, 'wrong_day', 422),
        (['--rows', '40000', '--stacks', '5000'], {}, 'too_many_rows', 413),
    ]
    for flags, more, code, status in rows:
        expect(backend.send(*flags, **more)[0], outcome='rejected', code=code, http=status)
    backend.stop()
    assert lab.ask('SELECT count() FROM profile_samples') == '0'
    assert lab.ask('SELECT count() FROM profile_stacks') == '0'


def ingest(backend, body, **headers):
    return backend.call('POST', '/v1/ingest/profiles',
                        {'Content-Type': 'application/x-protobuf', **headers}, body, COLLECTOR)


def test_garbage_is_malformed(lab):
    backend = lab.start()
    random.seed(7)
    for size in (0, 1, 7, 1000, 200000):
        status, _, data = ingest(backend, random.randbytes(size))
        assert status == 400 and (b'malformed' in data), (size, status, data)
    # A field that stands twice, and columns that are not packed, are refused before unpacking.
    assert b'malformed' in ingest(backend, b'\x0a\x01a\x0a\x01b')[2]
    status, _, data = ingest(backend, b'x', **{'Content-Encoding': 'gzip'})
    assert status == 400 and b'unsupported_encoding' in data
    status, _, data = ingest(backend, b'not zstd', **{'Content-Encoding': 'zstd'})
    assert status == 400 and b'bad_compression' in data
    expect(backend.send()[0], outcome='accepted')


def zstd_bomb(mebibytes):
    """A zstd frame of RLE blocks: 4 bytes for each 128 KiB."""
    block = 128 * 1024
    frame = b'\x28\xb5\x2f\xfd\x00\x50'
    count = mebibytes * 8
    for i in range(count):
        header = (block << 3) | (1 << 1) | (1 if i == count - 1 else 0)
        frame += header.to_bytes(3, 'little') + b'\0'
    return frame


def test_a_bomb_is_refused_within_memory(lab):
    backend = lab.start()
    before = backend.resident_kib()
    status, _, data = ingest(backend, zstd_bomb(1024), **{'Content-Encoding': 'zstd'})
    assert status == 413 and b'payload_too_large' in data, (status, data)
    assert backend.resident_kib() - before < 120 * 1024
    expect(backend.send()[0], outcome='accepted')


def test_a_gigabyte_is_refused_before_it_comes(lab):
    backend = lab.start()
    before = backend.resident_kib()
    head = ('POST /v1/ingest/profiles HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-protobuf\r\n'
            f'Authorization: Bearer {COLLECTOR}\r\n')
    answer = backend.raw(f'{head}Content-Length: 1073741824\r\n\r\n'.encode() + b'x' * 1000)
    assert answer.startswith(b'HTTP/1.1 413') and b'payload_too_large' in answer, answer
    connection = socket.create_connection(('127.0.0.1', backend.port), timeout=60)
    connection.sendall(f'{head}Transfer-Encoding: chunked\r\n\r\n'.encode())
    chunk = b'100000\r\n' + b'x' * 0x100000 + b'\r\n'
    sent = 0
    try:
        while sent < 1024:
            connection.sendall(chunk)
            sent += 1
    except OSError:
        pass
    connection.close()
    assert sent < 200, f'{sent} MiB were taken'
    assert backend.resident_kib() - before < 120 * 1024
    expect(backend.send()[0], outcome='accepted')


def test_the_gate_stands_in_front(lab):
    backend = lab.start(ready=False)
    for request in (
            b'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
            b'GET /healthz HTTP/1.1\r\n\r\n',
            b'GET http://a/healthz HTTP/1.1\r\nHost: a\r\n\r\n',
            b'GET /healthz HTTP/1.1\nHost: a\n\n',
            b'GET /healthz%00 HTTP/1.1\r\nHost: a\r\n\r\n',
            b'GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n',
            b'POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
            b'POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\nx'):
        answer = backend.raw(request)
        assert answer.startswith(b'HTTP/1.1 400 ') and b'Connection: close' in answer, answer
    assert b'200 OK' in backend.raw(b'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')


# ---- who may ----

def test_every_call_needs_the_right_token(lab):
    backend = lab.start(ready=False)
    calls = [('GET', '/metrics'), ('GET', '/v1/services'), ('GET', '/v1/services/-/shop'),
             ('GET', '/v1/flamegraph'), ('GET', '/v1/top'), ('GET', '/v1/status'),
             ('DELETE', '/v1/session'), ('POST', '/v1/ingest/profiles'),
             ('POST', '/v1/ingest/status'), ('POST', '/v1/ingest/heartbeat')]
    bodies = set()
    for method, path in calls:
        for token in (None, 'wrong-token-0123456789', COLLECTOR[:-1], COLLECTOR + 'x', USER.upper()):
            status, _, data = backend.call(method, path, token=token)
            assert status == 401, (method, path, token, status)
            bodies.add(data)
    assert len(bodies) == 1, 'a 401 says more than that'
    for method, path in calls[1:7]:
        assert backend.call(method, path, token=COLLECTOR)[0] == 403, path
    for method, path in calls[7:]:
        assert backend.call(method, path, token=USER)[0] == 403, path
    for path in ('/healthz', '/readyz'):
        status, _, data = backend.call('GET', path, token=None)
        assert status == 200 and len(data) < 10
    log = lab.path('log').read_text()
    assert COLLECTOR not in log and USER not in log


def test_two_tokens_are_valid_while_one_is_rotated(lab):
    lab.path('old').write_text('old-collector-token-1\n')
    backend = lab.start('--auth-collector-token-previous-file', str(lab.path('old')), ready=False)
    for token, status in (('old-collector-token-1', 200), (COLLECTOR, 200),
                          ('other-collector-token', 401)):
        assert backend.call('GET', '/metrics', token=token)[0] == status


def test_tokens_change_while_it_runs(lab):
    new, other = 'new-user-token-0123456789', 'other-user-token-0123456789'
    settings = lab.path('backend.yaml')
    settings.write_text('{}\n')
    backend = lab.start('--config', str(settings), ready=False)
    cookie = {'Cookie': log_in(backend, {'token': USER})[1]['Set-Cookie'].split(';')[0]}

    def status(token, headers=None):
        return backend.call('GET', '/metrics', headers, token=token)[0]

    def replace(name, text):
        lab.path('fresh').write_text(text)
        lab.path('fresh').rename(lab.path(name))

    assert (status(USER), status(None, cookie), status(new)) == (200, 200, 401)
    # A secret's file: the old token and its sessions are refused, the new one is in force.
    replace('user-token', new + '\n')
    wait_for('the new token', lambda: status(new) == 200)
    assert (status(USER), status(None, cookie), status(COLLECTOR)) == (401, 401, 200)
    # The settings' file.
    replace('backend.yaml', f'tokens: [{{name: ann, role: user, token: {other}}}]\n')
    wait_for('the other token', lambda: status(other) == 200)
    # Settings that cannot be used change nothing, and this shows.
    replace('backend.yaml', 'tokens: [{name: ann, role: user, token: short}]\n')
    wait_for('the refusal', lambda: 'stay in force' in lab.path('log').read_text())
    page = backend.call('GET', '/metrics', token=other)[2].decode()
    assert '\nhotstack_backend_config_last_reload_successful 0\n' in page, page
    # SIGHUP: a setting that needs a restart is named.
    replace('backend.yaml', 'retention: 2d\n')
    backend.process.send_signal(signal.SIGHUP)
    wait_for('the end of the other token', lambda: status(other) == 401)
    assert status(new) == 200
    log = lab.path('log').read_text()
    assert 'retention has changed, which takes a restart' in log and other not in log, log


def test_a_scope_bounds_what_is_sent_and_seen(lab):
    settings = lab.path('backend.yaml')
    settings.write_text(
        'tokens:\n'
        '  - {name: north, role: collector, token: north-token-0123456789, clusters: [north]}\n'
        '  - {name: ann, role: user, token: ann-token-0123456789, workloads: [shop]}\n')
    lab.path('north').write_text('north-token-0123456789\n')
    backend = lab.start('--config', str(settings))
    expect(backend.send('--cluster', 'north', '--workload', 'shop',
                        token_file=lab.path('north'))[0], outcome='accepted')
    expect(backend.send('--cluster', 'south', token_file=lab.path('north'))[0], http=403,
           outcome='none')
    expect(backend.send('--seed', '2', '--workload', 'bank')[0], outcome='accepted')

    def ask(path):
        status, _, data = backend.call('GET', path, token='ann-token-0123456789')
        return status, data
    status, data = ask('/v1/services')
    assert [s['workload'] for s in json.loads(data)['services']] == ['shop']
    status, data = ask('/v1/flamegraph?namespace=&workload=bank&type=cpu')
    assert status == 403 and b'forbidden_scope' in data and b'Cart' not in data
    assert ask('/v1/services/-/bank')[0] == 403
    assert ask('/v1/retention')[0] == 403, 'it is about all services'
    assert ask('/v1/flamegraph?namespace=&workload=shop&type=cpu')[0] == 200
    assert 'ann asked for' in lab.path('log').read_text()


def log_in(backend, body, **headers):
    return backend.call('POST', '/v1/session', {'Content-Type': 'application/json', **headers},
                        json.dumps(body), token=None)


def test_sessions(lab):
    backend = lab.start()
    status, headers, data = log_in(backend, {'token': USER})
    cookie = headers['Set-Cookie']
    assert status == 204 and data == b''
    for word in ('HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=900'):
        assert word in cookie, (word, cookie)
    mine = {'Cookie': cookie.split(';')[0]}
    assert backend.call('GET', '/v1/services', mine, token=None)[0] == 200
    own = {'Origin': f'http://127.0.0.1:{backend.port}'}
    assert backend.call('DELETE', '/v1/session', {**mine, 'Origin': 'http://evil.example'},
                        token=None)[0] == 403
    assert backend.call('DELETE', '/v1/session', {**mine, **own}, token=None)[0] == 204
    assert backend.call('GET', '/v1/services', mine, token=None)[0] == 401
    assert log_in(backend, {'code': CODE}, Origin='http://evil.example')[0] == 403
    assert log_in(backend, {'code': CODE})[0] == 204
    assert log_in(backend, {'code': CODE})[0] == 401
    assert log_in(backend, {'token': COLLECTOR})[0] == 401
    assert log_in(backend, {'token': USER, 'code': CODE})[0] == 400
    assert log_in(backend, ['token'])[0] == 400
    statuses = [log_in(backend, {'token': f'guess-number-{i:06}'})[0] for i in range(12)]
    assert statuses[0] == 401 and statuses[-1] == 429, statuses
    assert log_in(backend, {'token': USER})[0] == 429


# ---- hourly sums ----

def rollup_metric(backend, name):
    page = backend.get('/metrics')[2].decode()
    return int(re.search(rf'^hotstack_backend_rollup_{name} (\d+)$', page, re.M)[1])


def settle_sums(backend):
    """Two passes that begin from now on: the second finds nothing to do."""
    before = rollup_metric(backend, 'passes_total')
    parts.wait_for('two passes', lambda: rollup_metric(backend, 'passes_total') >= before + 3)
    assert rollup_metric(backend, 'pending') == 0 and rollup_metric(backend, 'failures_total') == 0


def test_long_ranges_are_read_from_hourly_sums(lab):
    flags = ('--rollups-every', '100ms', '--rollups-grace', '0s')
    backend = lab.start(*flags)
    hour = (lab.start_ms // 3600000 - 2) * 3600000
    sent = [backend.send('--seed', seed, start_ms=hour + 60000)[0] for seed in '12']
    sent.append(backend.send('--seed', '3')[0])

    def total(**choice):
        query = {'namespace': '', 'workload': 'shop', 'type': 'alloc_bytes', **choice,
                 'from': str(hour - 3600000), 'to': str(lab.start_ms + 60000)}
        return int(backend.json('/v1/flamegraph', **query)['profiles'][0]['value_total'])

    settle_sums(backend)
    assert rollup_metric(backend, 'generations_total') >= 1
    whole = sum(a['value'] for a in sent) // 3
    assert total() == whole
    # A late batch counts at once, and the hour is summed anew.
    sent.append(backend.send('--seed', '4', start_ms=hour + 120000)[0])
    whole = sum(a['value'] for a in sent) // 3
    assert total() == whole
    settle_sums(backend)
    assert total() == whole
    backend.stop()

    # Sums that do not hold are found and made anew.
    lab.ask("ALTER TABLE profile_rollups DELETE WHERE pool = 'pool-1-#' SETTINGS mutations_sync = 2")
    backend = lab.start(*flags)
    parts.wait_for('the drift', lambda: rollup_metric(backend, 'drift_total') == 1)
    settle_sums(backend)
    assert total() == whole
    by_pool = total(pool='pool-1-#')
    backend.stop()

    # The samples of a summed hour are not read.
    lab.ask(f'ALTER TABLE profile_samples DELETE WHERE time < toDateTime({hour // 1000 + 3600}) '
            'SETTINGS mutations_sync = 2')
    backend = lab.start(*flags)
    assert total() == whole
    assert total(pool='pool-1-#') == by_pool > 0
    assert total(pod='nobody') == 0


def test_every_filter_holds_for_samples_and_sums(lab):
    """One table of filters, asked of a store that has both a summed hour and samples after it."""
    flags = ('--rollups-every', '100ms', '--rollups-grace', '0s')
    backend = lab.start(*flags)
    hour = (lab.start_ms // 3600000 - 2) * 3600000
    for seed in range(1, 7):
        workload = 'shop' if seed < 6 else 'bank'
        cluster = 'east' if seed % 2 else 'west'
        for start_ms in (hour + 60000, lab.start_ms):
            answer = backend.send('--seed', str(seed + (300 if start_ms == lab.start_ms else 0)),
                                  '--workload', workload, '--cluster', cluster, start_ms=start_ms)
            expect(answer[0], outcome='accepted')

    settle_sums(backend)
    backend.stop()

    columns = {'cluster': 'cluster', 'pod': 'pod', 'container': 'container', 'version': 'app_version',
               'jvm': "lower(leftPad(hex(target_id), 16, '0'))", 'pool': 'pool', 'object': 'object',
               'facet': 'facet'}
    facets = {'lock_delay': {'monitor': 1, 'park': 2}, 'alloc_bytes': {'in_tlab': 3, 'outside_tlab': 4}}
    jvm = lab.ask("SELECT lower(leftPad(hex(max(target_id)), 16, '0')) FROM profile_samples")
    rows = [('cpu', {}), ('cpu', {'cluster': 'east'}), ('cpu', {'pod': 'pod-1'}), ('cpu', {'container': 'app'}),
            ('cpu', {'version': '1.2'}), ('cpu', {'jvm': jvm}), ('cpu', {'pool': 'pool-1-#'}),
            ('alloc_bytes', {'object': 'byte[]'}), ('alloc_bytes', {'facet': 'in_tlab'}),
            ('alloc_bytes', {'facet': 'outside_tlab', 'object': 'java.lang.String'}),
            ('lock_delay', {'facet': 'monitor'}), ('lock_delay', {'facet': 'park', 'pool': 'pool-1-#'}),
            ('lock_delay', {'cluster': 'west', 'pod': 'pod-4', 'container': 'app', 'version': '1.1',
                            'object': 'byte[]', 'pool': 'pool-0-#', 'facet': 'monitor'})]
    sources = {'cpu': 1, 'alloc_bytes': 3, 'lock_delay': 4}
    wanted = {}
    for workload in ('shop', 'bank'):
        for index, (kind, choice) in enumerate(rows):
            terms = [f"workload = '{workload}'", f'source = {sources[kind]}']
            for name, value in choice.items():
                told = facets[kind][value] if name == 'facet' else f"'{value}'"
                terms.append(f'{columns[name]} = {told}')
            wanted[workload, index] = [int(lab.ask(f'SELECT sum(amount) FROM profile_samples WHERE {" AND ".join([*terms, time])}'))
                                       for time in ('1', f'time < toDateTime({hour // 1000 + 3600})')]
    # The summed hour has no samples any more: what it answers comes from its sums.
    lab.ask(f'ALTER TABLE profile_samples DELETE WHERE time < toDateTime({hour // 1000 + 3600}) '
            'SETTINGS mutations_sync = 2')
    backend = lab.start(*flags)
    for (workload, index), (total, old) in wanted.items():
        kind, choice = rows[index]
        query = {'namespace': '', 'workload': workload, 'type': kind, **choice,
                 'from': str(hour - 3600000), 'to': str(lab.start_ms + 60000)}
        graph = backend.json('/v1/flamegraph', **query)['profiles'][0]
        assert int(graph['value_total']) == total, (workload, kind, choice, graph['value_total'], total)
        assert int(backend.json('/v1/top', **query)['total']) == total, (workload, kind, choice)
        assert workload == 'bank' or 0 < old < total, (workload, kind, choice, old, total)


def test_a_picture_that_holds_reads_no_samples(lab):
    backend = lab.start()
    backend.send()
    path = '/v1/flamegraph?namespace=&workload=shop&type=cpu'

    def reads():
        page = backend.get('/metrics')[2].decode()
        name = 'hotstack_backend_store_read_duration_seconds_count{result="ok"}'
        stacks = int(re.search(r'^hotstack_backend_cached_stacks_misses_total (\d+)$', page, re.M)[1])
        return int(re.search(rf'^{re.escape(name)} (\d+)$', page, re.M)[1]), stacks

    tag = backend.call('GET', path)[1]['ETag']
    before, read_stacks = reads()
    assert read_stacks == 100
    assert backend.call('GET', path, {'If-None-Match': tag})[0] == 304
    after, _ = reads()
    assert after - before == 2, 'the windows, and what was lost, decide'
    # Another picture of the same stacks: sums are read, frames are not.
    assert backend.call('GET', path + '&lines=1', {'If-None-Match': tag})[0] == 200
    assert reads() == (after + 3, read_stacks)
    assert backend.call('GET', path + '&pool=pool-1-%23', {'If-None-Match': tag})[0] == 200


# ---- metrics ----

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
    parts.wait_for('the drops', lambda: sum(value for name, value in read()[1].items()
                                            if name.startswith('collector_dropped_batches{')) == 3)
    parts.wait_for('the figures', lambda: read()[1].get('store_table_rows{table="profile_samples"}') == 1200)
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


# ---- queries ----

def time_ms(told):
    return round(datetime.datetime.fromisoformat(told).timestamp() * 1000)


def test_what_was_sent_is_answered(lab):
    backend = lab.start()
    answers = backend.send('--count', '3')
    per_type = sum(a['value'] for a in answers) // 3
    backend.send('--status')
    settled('the status', backend, '/v1/status', lambda a: a['targets'])
    services = backend.json('/v1/services')
    assert [(s['namespace'], s['workload']) for s in services['services']] == [('', 'shop')]
    assert services['services'][0]['types']['cpu']['value_total'] == str(per_type)
    assert services['services'][0]['types']['cpu']['unit'] == 'ns'
    objects = services['services'][0]['types']['alloc_objects']
    assert (objects['raw_total'], objects['value_total']) == ('600', '1200'), 'the counts of alloc'
    one = backend.json('/v1/services/-/shop')
    assert one['workload'] == 'shop' and one['targets'][0]['state'] == 'profiling'
    selection = {'namespace': '', 'workload': 'shop', 'type': 'lock_delay'}
    graph = backend.json('/v1/flamegraph', **selection)
    profile = graph['profiles'][0]
    assert profile['value_total'] == str(per_type)
    assert sum(profile['nodes']['self']) == per_type
    assert graph['meta']['ledger']['seen'] == str(per_type)
    assert graph['meta']['coverage'] == {'share': 1.0, 'lost_windows': 0, 'reason': None}
    small = backend.json('/v1/flamegraph', limit=5, **selection)
    assert len(small['profiles'][0]['nodes']['depth']) == 5
    assert int(small['meta']['ledger']['omitted']) > 0 and small['meta']['nodes_omitted'] > 0
    top = backend.json('/v1/top', **selection)
    assert top['total'] == str(per_type) and top['unit'] == 'ns'
    assert sum(int(row['self']) for row in top['rows']) == per_type
    everywhere = max(top['rows'], key=lambda row: int(row['total']))
    assert everywhere['total'] == str(per_type), 'the callers stand in every stack'
    lines = backend.json('/v1/top', lines=1, limit=1000, **selection)['rows']
    assert all(row['file'] == 'Cart.java' and row['line'] >= 10 for row in lines)
    by_pool = [int(backend.json('/v1/top', pool=f'pool-{i}-#', **selection)['total']) for i in range(8)]
    assert sum(by_pool) == per_type and 0 < by_pool[0] < per_type, by_pool
    busy = backend.json('/v1/threads', namespace='', workload='shop')['busy']
    assert {thread['confidence'] for thread in busy} == {'profile_only'}, 'there is no snapshot'

    def total_of(**choice):
        return int(backend.json('/v1/flamegraph', **selection, **choice)['profiles'][0]['value_total'])

    counts = backend.json('/v1/flamegraph', **{**selection, 'type': 'lock_count'})['profiles'][0]
    assert (counts['raw_total'], counts['value_total'], counts['samples']) == ('600', '1200', 600)
    assert sum(total_of(jvm=jvm) for jvm in {thread['jvm'] for thread in busy}) == per_type
    for choice in ({'jvm': 'f' * 16}, {'pod': 'nobody'}, {'version': 'x'}, {'container': 'x'}, {'pool': 'x'}):
        assert total_of(**choice) == 0, choice
    target = backend.json('/v1/status', **{'workload': 'shop', 'namespace': ''})['targets'][0]
    assert target['pid'] == 4711 and target['jvm_version'] == '21.0.8+9-LTS'
    told = {key: target[key] for key in ('service', 'mode', 'session', 'coverage')}
    assert told == {'service': 'cart', 'mode': 'temporary', 'session': 'owned', 'coverage': 0.94}
    assert target['overhead'] == 0.002
    assert time_ms(target['mode_until']) == lab.start_ms + 600000
    assert len(target['jvm']) == 16 and one['targets'] == [target]


def test_the_history_of_a_jvm_is_told(lab):
    backend = lab.start()
    early = lab.start_ms - 600000
    # Seeds five apart are the same JVM; a temporary mode ends 10 minutes after it is reported.
    for seed, start_ms in (('1', early), ('6', early), ('11', lab.start_ms), ('2', lab.start_ms)):
        backend.send('--status', '--seed', seed, start_ms=start_ms)
    everything = settled('both', backend, '/v1/status', lambda a: len(a['targets']) == 2)
    assert len(everything['targets']) == 2 and 'history' not in everything
    jvm = next(t['jvm'] for t in everything['targets'] if t['node'] == 'instance-4')
    one = backend.json('/v1/status', jvm=jvm)
    assert [t['jvm'] for t in one['targets']] == [jvm]
    times = [(time_ms(t['since']), time_ms(t['observed'])) for t in one['history']]
    assert times == [(lab.start_ms, lab.start_ms), (early, early)], times
    assert all(t['mode'] == 'temporary' and t['jvm'] == jvm for t in one['history'])
    first = backend.json('/v1/status', jvm=jvm, limit=1)
    assert first['history'] == one['history'][:1] and first['meta']['nodes_omitted'] == 1
    assert backend.json('/v1/status', jvm='0' * 15 + '1')['history'] == []
    assert backend.call('GET', '/v1/status?jvm=17')[0] == 400


def test_a_jvm_that_newer_reports_of_its_collector_lack_has_exited(lab):
    backend = lab.start('--ingest-reports-every', '100ms')
    # Seeds seven apart are of one collector; the newer report is about another service alone.
    backend.send('--status', '--seed', '1', start_ms=lab.start_ms - 20000)
    backend.send('--status', '--seed', '8', '--workload', 'bank')
    both = settled('both', backend, '/v1/status', lambda a: len(a['targets']) == 2)
    jvm = next(t['jvm'] for t in both['targets'] if t['workload'] == 'shop')
    for choice in ({}, {'namespace': '', 'workload': 'shop'}, {'jvm': jvm}):
        told = {t['workload']: (t['state'], t['reason']) for t in backend.json('/v1/status', **choice)['targets']}
        assert told['shop'] == ('exited', 'process_exited'), (choice, told)
        assert told.get('bank', ('profiling', '')) == ('profiling', ''), (choice, told)


def test_a_tag_holds_until_something_comes(lab):
    backend = lab.start()
    backend.send()
    for path in ('/v1/services?', '/v1/status?', '/v1/services/-/shop?',
                 '/v1/flamegraph?namespace=&workload=shop&type=cpu&',
                 '/v1/top?namespace=&workload=shop&type=cpu&'):
        status, headers, _ = backend.call('GET', path)
        tag = headers['ETag']
        assert status == 200 and headers['Cache-Control'] == 'no-cache, private'
        # A range that has moved on over the same data is the same picture.
        later = f'{path}to={int(time.time() * 1000) + 5000}'
        status, _, data = backend.call('GET', later, {'If-None-Match': tag})
        assert (status, data) == (304, b''), (path, status)
    tag = backend.call('GET', path)[1]['ETag']
    backend.send('--seed', '2')
    assert backend.call('GET', path, {'If-None-Match': tag})[0] == 200


def test_wrong_parameters_are_named(lab):
    backend = lab.start()
    for path, status, word in (
            ('/v1/flamegraph', 400, 'namespace'),
            ('/v1/flamegraph?namespace=&workload=shop&type=heat', 400, 'heat'),
            ('/v1/flamegraph?namespace=&workload=shop&type=cpu&limit=0', 400, 'limit'),
            ('/v1/flamegraph?namespace=&workload=shop&type=cpu&limit=200001', 400, '200000'),
            ('/v1/flamegraph?namespace=&workload=shop&type=cpu&jvm=7', 400, 'hexadecimal'),
            ('/v1/flamegraph?namespace=&workload=shop&type=cpu&facet=park', 400, 'has none'),
            ('/v1/flamegraph?namespace=&workload=shop&type=lock_delay&facet=x', 400, 'monitor and park'),
            ('/v1/threads?workload=shop', 400, 'namespace'),
            ('/v1/threads/one?namespace=&workload=shop', 400, 'java_tid'),
            ('/v1/threads/lanes?namespace=&workload=shop&buckets=501', 400, '500'),
            ('/v1/threads?namespace=&workload=shop&busy=101', 400, '100'),
            ('/v1/deadlocks/nothing', 404, 'not_found'),
            ('/v1/services?form=1', 400, 'form'),
            ('/v1/services?from=yesterday', 400, 'from'),
            ('/v1/services?from=2026-13-01T00:00:00Z', 400, 'from'),
            ('/v1/services?from=5&to=4', 400, 'before'),
            ('/v1/services?from=1&from=2', 400, 'twice'),
            ('/v1/services?from=1&to=2', 410, 'oldest'),
            ('/v1/services/-/nobody', 404, 'not_found'),
            ('/v1/nothing', 404, 'not_found'),
            ("/v1/flamegraph?namespace='&workload=%27%29%20OR%201=1%20--&type=cpu", 200, '"value_total":"0"'),
    ):
        got, _, data = backend.call('GET', path)
        assert got == status and word in data.decode(), (path, got, data)

# ---- collectors and the ledger ----

def settled(what, backend, path, condition, **query):
    """The answer, once what is written a moment later is in it."""
    return wait_for(what, lambda: (answer := backend.json(path, **query)) and condition(answer) and answer)


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


# ---- settings ----

def run_backend(lab, *flags):
    return subprocess.run([lab.programs['backend'], *flags], capture_output=True, text=True,
                          env={**lab.environment, 'HOTSTACK_LIBCHDB': '/nonexistent/libchdb.so'})


def test_mistakes_in_settings_are_named(lab):
    settings = lab.path('bad.yaml')
    settings.write_text('listen: 127.0.0.1:0\nhttp:\n  conections: 5\n')
    result = run_backend(lab, '--config', str(settings))
    assert result.returncode == 2 and 'bad.yaml' in result.stderr and '3' in result.stderr
    assert 'conections' in result.stderr
    tokens = ['--auth-user-token-file', str(lab.path('user-token')), '--listen', '127.0.0.1:0']
    result = run_backend(lab, '--data-dir', str(lab.path('d')), *tokens)
    assert result.returncode == 1 and '--store-url' in result.stderr, result.stderr
    result = run_backend(lab, '--store-kind', 'clickhouse', *tokens)
    assert result.returncode == 1 and 'store.url' in result.stderr
    result = run_backend(lab, '--data-dir', str(lab.path('d')))
    assert result.returncode == 1 and 'auth.collector_token_file' in result.stderr
    lab.path('short').write_text('short\n')
    result = run_backend(lab, '--auth-user-token-file', str(lab.path('short')))
    assert result.returncode == 1 and '16 to 512' in result.stderr


TESTS = [value for name, value in list(globals().items()) if name.startswith('test_')]


def main():
    mode, backend, client, chdb_http, *names = sys.argv[1:]
    parts.need_library()
    programs = {'backend': backend, 'client': client, 'chdb_http': chdb_http}
    tests = [test for test in TESTS if not names or test.__name__ in names]
    sys.exit(parts.run(tests, programs, mode))


main()
