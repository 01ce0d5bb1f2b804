# SPDX-License-Identifier: Apache-2.0
"""Queries answer with what was sent, and without a read where the client has the answer.

usage: query_e2e.py MODE BACKEND CLIENT CHDB-HTTP [TEST...], as lab.main says."""
import time

import lab as parts
from lab import reads, settled, time_ms


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
    assert one['pools'] == ['ctimer'], 'the pools of the seconds'
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


def test_a_type_is_shown_over_time(lab):
    backend = lab.start()
    total = sum(answer['value'] for answer in backend.send('--count', '3')) // 3
    start = lab.start_ms
    selection = {'namespace': '', 'workload': 'shop', 'type': 'cpu', 'from': start - 10000, 'to': start + 20000}
    # One window of ten seconds, all of whose CPU time is in its first second.
    told = backend.json('/v1/timeline', buckets=30, **selection)
    assert (told['bucket_ms'], told['unit'], told['total']) == (1000, 'ns', str(total)), told
    assert told['values'] == [None] * 10 + [str(total)] + ['0'] * 9 + [None] * 10, told
    assert told['meta']['coverage']['share'] == 1.0
    counts = backend.json('/v1/timeline', **{**selection, 'type': 'alloc_objects'})
    assert (counts['bucket_ms'], counts['unit']) == (1000, 'count'), 'no bucket is shorter than a second'
    assert counts['values'] == [None] * 10 + ['0'] * 10 + [None] * 10, 'its seconds were not sent'
    pool = backend.json('/v1/timeline', pool='ctimer', buckets=3, **selection)
    assert pool['values'] == [None, str(total), None], pool
    assert backend.json('/v1/timeline', pool='pool-0-#', buckets=3, **selection)['values'] == [None, '0', None]
    assert set(backend.json('/v1/timeline', pod='nobody', **selection)['values']) == {None}
    day = {**selection, 'from': start - 12 * 3600000, 'to': start + 12 * 3600000}
    long = backend.json('/v1/timeline', buckets=12, **day)
    assert long['bucket_ms'] == 7200000
    assert [value for value in long['values'] if value not in (None, '0')] == [str(total)], long
    assert int(backend.json('/v1/timeline', **{**day, 'type': 'alloc_objects'})['total']) == 1200


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


def test_a_picture_that_holds_reads_no_samples(lab):
    backend = lab.start()
    backend.send()
    path = '/v1/flamegraph?namespace=&workload=shop&type=cpu'

    def read_stacks():
        return parts.metrics(backend)['hotstack_backend_cached_stacks_misses_total']

    tag = backend.call('GET', path)[1]['ETag']
    before = reads(backend)
    assert read_stacks() == 100
    assert backend.call('GET', path, {'If-None-Match': tag})[0] == 304
    after = reads(backend)
    assert after - before == 2, 'the windows, and what was lost, decide'
    # Another picture of the same stacks: sums are read, frames are not.
    assert backend.call('GET', path + '&lines=1', {'If-None-Match': tag})[0] == 200
    assert (reads(backend), read_stacks()) == (after + 3, 100)
    assert backend.call('GET', path + '&pool=pool-1-%23', {'If-None-Match': tag})[0] == 200


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
            ('/v1/timeline?namespace=&workload=shop', 400, 'type'),
            ('/v1/timeline?namespace=&workload=shop&type=cpu&buckets=0', 400, '500'),
            ('/v1/timeline?namespace=&workload=shop&type=cpu&facet=running', 400, 'no such parameter'),
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


parts.main(globals(), 'backend', 'client', 'chdb_http')
