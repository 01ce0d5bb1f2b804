# SPDX-License-Identifier: Apache-2.0
"""Acknowledged batches are stored whole, once; wrong batches are refused by name.

usage: ingest_e2e.py MODE BACKEND CLIENT CHDB-HTTP [TEST...], as lab.main says."""
import os
import random
import signal
import socket
import threading

import lab as parts
from lab import COLLECTOR, expect, ingest, wait_for


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
        """Sends as two collectors, so that batches are written at the same time."""
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
    """The state after a kill whose insert tokens have expired: some tables have the batch, the ledger does not."""
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


def test_a_batch_in_doubt_is_not_taken_for_another_of_the_same_windows(lab):
    """After a clock was set back, two batches have windows of one JVM with the same starts. The second one is sent again although
    the ledger does not know it."""
    backend = lab.start()
    same_jvm = str(1 + 2 * 3 * 5 * 7)  # the client's labels and pids are remainders of the seed
    first, second, again = (backend.send(*flags)[0] for flags in (
        (), ('--seed', same_jvm, '--attempt', '2'), ('--seed', same_jvm, '--attempt', '3')))
    assert [one['outcome'] for one in (first, second, again)] == ['accepted', 'accepted', 'duplicate']
    backend.stop()
    counts = [lab.ask(f'SELECT count() FROM {table}') for table in
              ('profile_samples', 'profile_windows', 'profile_threads',
               "ingestion_batches WHERE status = 'accepted'")]
    assert counts == ['1200', '6', '2', '2'], counts
    assert lab.ask('SELECT uniqExact(target_id, time, source) FROM profile_windows') == '3'
    assert lab.ask('SELECT sum(amount) FROM profile_samples') == str(first['value'] + second['value'])


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
    """Makes a zstd frame of RLE blocks: 4 bytes for each 128 KiB."""
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


parts.main(globals(), 'backend', 'client', 'chdb_http')
