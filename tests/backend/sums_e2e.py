# SPDX-License-Identifier: Apache-2.0
"""Long ranges are answered from hourly sums, exactly as from the samples.

usage: sums_e2e.py MODE BACKEND CLIENT CHDB-HTTP [TEST...], as lab.main says."""
import lab as parts
from fleet import wait_for_sums
from lab import expect


def rollup_metric(backend, name):
    return parts.metrics(backend)[f'hotstack_backend_rollup_{name}']


def settle_sums(backend):
    wait_for_sums(backend)
    assert rollup_metric(backend, 'failures_total') == 0


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
    # A late batch counts at once, and the hour is summed again.
    sent.append(backend.send('--seed', '4', start_ms=hour + 120000)[0])
    whole = sum(a['value'] for a in sent) // 3
    assert total() == whole
    settle_sums(backend)
    assert total() == whole
    backend.stop()

    # Wrong sums are found and made again.
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
    rows = [('cpu', {}), ('cpu', {'cluster': 'east'}), ('cpu', {'pod': 'pod-1'}), ('cpu', {'container': 'app'}),
            ('cpu', {'version': '1.2'}), ('cpu', {'jvm': None}), ('cpu', {'pool': 'pool-1-#'}),
            ('alloc_bytes', {'object': 'byte[]'}), ('alloc_bytes', {'facet': 'in_tlab'}),
            ('alloc_bytes', {'facet': 'outside_tlab', 'object': 'java.lang.String'}),
            ('lock_delay', {'facet': 'monitor'}), ('lock_delay', {'facet': 'park', 'pool': 'pool-1-#'}),
            ('lock_delay', {'cluster': 'west', 'pod': 'pod-4', 'container': 'app', 'version': '1.1',
                            'object': 'byte[]', 'pool': 'pool-0-#', 'facet': 'monitor'})]
    sources = {'cpu': 1, 'alloc_bytes': 3, 'lock_delay': 4}
    old = f'time < toDateTime({hour // 1000 + 3600})'
    wanted = {}
    with lab.counter() as ask:
        for _, choice in rows:
            if 'jvm' in choice:
                choice['jvm'] = ask(f'SELECT max({columns["jvm"]}) FROM profile_samples')
        for workload in ('shop', 'bank'):
            for index, (kind, choice) in enumerate(rows):
                terms = [f"workload = '{workload}'", f'source = {sources[kind]}']
                for name, value in choice.items():
                    told = facets[kind][value] if name == 'facet' else f"'{value}'"
                    terms.append(f'{columns[name]} = {told}')
                sums = f'SELECT sum(amount), sumIf(amount, {old}) FROM profile_samples WHERE {" AND ".join(terms)}'
                wanted[workload, index] = [int(number) for number in ask(sums).split()]
        # The summed hour has no samples any more: what it answers comes from its sums.
        ask(f'ALTER TABLE profile_samples DELETE WHERE {old} SETTINGS mutations_sync = 2')
    backend = lab.start(*flags)
    for (workload, index), (total, summed) in wanted.items():
        kind, choice = rows[index]
        query = {'namespace': '', 'workload': workload, 'type': kind, **choice,
                 'from': str(hour - 3600000), 'to': str(lab.start_ms + 60000)}
        graph = backend.json('/v1/flamegraph', **query)['profiles'][0]
        assert int(graph['value_total']) == total, (workload, kind, choice, graph['value_total'], total)
        assert int(backend.json('/v1/top', **query)['total']) == total, (workload, kind, choice)
        assert workload == 'bank' or 0 < summed < total, (workload, kind, choice, summed, total)


parts.main(globals(), 'backend', 'client', 'chdb_http')
