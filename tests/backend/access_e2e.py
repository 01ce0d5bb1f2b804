# SPDX-License-Identifier: Apache-2.0
"""Tests who may query and ingest: malformed requests, tokens, scopes, sessions, and the settings that say so.

usage: access_e2e.py MODE BACKEND CLIENT CHDB-HTTP [TEST...], as lab.main says."""
import json
import signal
import subprocess

import lab as parts
from lab import CODE, COLLECTOR, USER, expect, wait_for


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


def test_every_call_needs_the_right_token(lab):
    backend = lab.start(ready=False)
    calls = [('GET', '/metrics'), ('GET', '/v1/services'), ('GET', '/v1/services/-/shop'),
             ('GET', '/v1/flamegraph'), ('GET', '/v1/top'), ('GET', '/v1/timeline'), ('GET', '/v1/status'),
             ('DELETE', '/v1/session'), ('POST', '/v1/ingest/profiles'),
             ('POST', '/v1/ingest/status'), ('POST', '/v1/ingest/heartbeat')]
    bodies = set()
    for method, path in calls:
        for token in (None, 'wrong-token-0123456789', COLLECTOR[:-1], COLLECTOR + 'x', USER.upper()):
            status, _, data = backend.call(method, path, token=token)
            assert status == 401, (method, path, token, status)
            bodies.add(data)
    assert len(bodies) == 1, 'a 401 says more than that'
    for method, path in calls[1:8]:
        assert backend.call(method, path, token=COLLECTOR)[0] == 403, path
    for method, path in calls[8:]:
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


parts.main(globals(), 'backend', 'client', 'chdb_http')
