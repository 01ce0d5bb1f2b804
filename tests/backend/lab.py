# SPDX-License-Identifier: Apache-2.0
"""The parts of a backend test: the program, the client that sends batches, and the store."""
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from clickhouse_front import Front

COLLECTOR = 'collector-token-0123456789'
USER = 'user-token-0123456789abcdef'
CODE = 'one-time-code-0123456789'
PATIENCE_S = 120


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f'{what} did not come within {PATIENCE_S} s')


class Store:
    """A chdb-http over a directory: the server of a backend, or a way to count what one left."""

    def __init__(self, lab, directory, port=0):
        self.port_file = lab.path('store-port')
        self.port_file.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [lab.programs['chdb_http'], '--path', str(directory), '--port', str(port), '--port-file',
             str(self.port_file)], stdout=subprocess.DEVNULL, env=lab.environment)
        self.port = int(wait_for('the store', self._read_port))

    def _read_port(self):
        if self.process.poll() is not None:
            raise AssertionError(f'chdb-http ended with {self.process.returncode}')
        return self.port_file.read_text().strip() if self.port_file.exists() else ''

    def ask(self, sql):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE_S)
        connection.request('POST', '/?database=hotstack', sql.encode())
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        assert answer.status == 200, body
        return body.strip()

    def close(self):
        self.process.terminate()
        self.process.wait()


class Backend:
    """One run of the program; lab.start gives it its flags."""

    def __init__(self, lab, flags, name=''):
        self.lab = lab
        self.port_file = lab.path(f'port{name}')
        self.port_file.unlink(missing_ok=True)
        self.log = lab.path(f'log{name}')
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(
                [lab.programs['backend'], '--port-file', str(self.port_file), *flags], stderr=log,
                env=lab.environment)
        self.port = int(wait_for('the port file', self._read_port))

    def _read_port(self):
        if self.process.poll() is not None:
            raise AssertionError(f'the backend ended: {self.log.read_text()}')
        return self.port_file.read_text().strip() if self.port_file.exists() else ''

    def wait_ready(self):
        wait_for('the store behind the backend',
                 lambda: '\nhotstack_backend_store_ready 1\n' in self.get('/metrics')[2].decode())
        return self

    def call(self, method, path, headers=None, body=None, token=USER):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE_S)
        all_headers = {'Authorization': f'Bearer {token}'} if token else {}
        connection.request(method, path, body, {**all_headers, **(headers or {})})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, answer.headers, data

    def get(self, path, **query):
        suffix = '?' + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else ''
        return self.call('GET', path + suffix)

    def json(self, path, **query):
        status, _, data = self.get(path, **query)
        assert status == 200, data
        return json.loads(data)

    def raw(self, data):
        """Sends bytes as they are and reads the answer to the end of the connection."""
        connection = socket.create_connection(('127.0.0.1', self.port), timeout=PATIENCE_S)
        connection.sendall(data)
        answer = b''
        while piece := connection.recv(65536):
            answer += piece
        connection.close()
        return answer

    def resident_kib(self):
        for line in pathlib.Path(f'/proc/{self.process.pid}/status').read_text().splitlines():
            if line.startswith('RssAnon:'):
                return int(line.split()[1])
        raise AssertionError('no RssAnon')

    def send(self, *flags, start_ms=None, token_file=None):
        """Runs the client; one dict an answer."""
        start = start_ms if start_ms is not None else self.lab.start_ms
        out = subprocess.run(
            [self.lab.programs['client'], '--url', f'http://127.0.0.1:{self.port}', '--token-file',
             str(token_file or self.lab.path('collector-token')), '--start-ms', str(start), *flags],
            check=True, capture_output=True, text=True, env=self.lab.environment).stdout
        return [parse_answer(line) for line in out.splitlines()]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait()
        assert status == 0, f'SIGTERM: exit {status}: {self.log.read_text()[-3000:]}'

    def kill(self):
        self.process.kill()
        self.process.wait()


def metrics(backend):
    """{name: value} of the metrics without labels."""
    lines = (line.split() for line in backend.get('/metrics')[2].decode().splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) == 2 and words[0][0] != '#'}


def parse_answer(line):
    seed, http_status, outcome, code, rows, needed, value = line.split()
    return {'seed': int(seed), 'http': int(http_status), 'outcome': outcome, 'code': code,
            'rows': int(rows), 'needed': int(needed), 'value': int(value)}


class Lab:
    """A private directory, and the backend in it; a new one for every test."""

    def __init__(self, programs, mode):
        self.programs = programs
        self.mode = mode
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='hotstack-backend-'))
        self.environment = {**os.environ}
        # Half a minute ago, and never so near to midnight that a window would reach into a new day.
        now = int(time.time())
        self.start_ms = (now - 30 if (now - 30) % 86400 < 86380 else now - 60) // 10 * 10 * 1000
        self.store = None
        self.server = self.front = None  # a proxy before the store: clickhouse_front.Server, and the running one
        self.backends = {}
        for name, text in (('collector-token', COLLECTOR), ('user-token', USER), ('code', CODE)):
            self.path(name).write_text(text + '\n')

    def path(self, name):
        return self.directory / name

    def flags(self, *more):
        store = ['--data-dir', str(self.path('data'))]
        if self.mode == 'http':
            if self.store is None:
                self.store = Store(self, self.path('data'))
            if self.server is not None and self.front is None:
                self.front = Front(self.server, lambda: self.store.port)
            port = (self.front or self.store).port
            store = ['--store-kind', 'clickhouse', '--store-url', f'http://127.0.0.1:{port}']
        return ['--auth-collector-token-file', str(self.path('collector-token')),
                '--auth-user-token-file', str(self.path('user-token')), '--one-time-code-file',
                str(self.path('code')), *store, *more]

    def start(self, *more, ready=True, port=0, name=''):
        """Starts a backend; a second one has a name."""
        one = Backend(self, self.flags('--listen', f'127.0.0.1:{port}', *more), name)
        self.backends[name] = one
        return one.wait_ready() if ready else one

    @property
    def backend(self):
        return self.backends['']

    @backend.setter
    def backend(self, one):
        self.backends[''] = one

    @contextlib.contextmanager
    def counter(self):
        """Returns the function that queries the store; with the embedded one the backend must have ended."""
        if self.mode == 'http':
            yield self.store.ask
            return
        store = Store(self, self.path('data'))
        try:
            yield store.ask
        finally:
            store.close()

    def ask(self, sql):
        with self.counter() as ask:
            return ask(sql)

    def stop_all(self):
        for one in self.backends.values():
            if one.process.poll() is None:
                one.kill()
        for one in (self.front, self.store):
            if one is not None:
                one.close()
        self.backends, self.store, self.front = {}, None, None

    def empty(self):
        """Ends the programs and empties the store, for another round."""
        self.stop_all()
        shutil.rmtree(self.path('data'))
        self.path('acknowledged').unlink(missing_ok=True)

    def close(self):
        self.stop_all()
        shutil.rmtree(self.directory)


def expect(answer, **wanted):
    """Of a dict that Backend.send has given."""
    got = {key: answer[key] for key in wanted}
    assert got == wanted, f'{got}, wanted {wanted}'


def ingest(backend, body, **headers):
    """Sends a body as it is to the profiles' route."""
    return backend.call('POST', '/v1/ingest/profiles',
                        {'Content-Type': 'application/x-protobuf', **headers}, body, COLLECTOR)


def settled(what, backend, path, condition, **query):
    """Returns the answer, once it contains the data that is written a moment later."""
    return wait_for(what, lambda: (answer := backend.json(path, **query)) and condition(answer) and answer)


def time_ms(told):
    return round(datetime.datetime.fromisoformat(told).timestamp() * 1000)


def reads(backend):
    """Statements that queries have sent to the store."""
    page = backend.get('/metrics')[2].decode()
    return int(re.search(r'^hotstack_backend_store_read_duration_seconds_count\{result="ok"\} (\d+)$', page, re.M)[1])


class Skip(Exception):
    """A part that a test needs is absent; the text says how it is installed."""


def run(tests, programs, mode):
    """Runs the tests with TAP on stdout; returns the exit status."""
    failed = 0
    print(f'1..{len(tests)}', flush=True)
    for number, test in enumerate(tests, start=1):
        lab = Lab(programs, mode)
        try:
            test(lab)
            print(f'ok {number} - {mode} {test.__name__}', flush=True)
        except Skip as reason:
            print(f'ok {number} - {mode} {test.__name__} # SKIP {reason}', flush=True)
        except Exception as problem:  # every failure is a test's failure
            failed += 1
            log = lab.path('log').read_text()[-2000:] if lab.path('log').exists() else ''
            print(f'not ok {number} - {mode} {test.__name__}', flush=True)
            for line in f'{type(problem).__name__}: {problem}\n{log}'.splitlines():
                print(f'# {line}', flush=True)
        finally:
            lab.close()
    return 1 if failed else 0


def main(found, *programs, arguments=None):
    """Runs the functions of a file whose names begin with test_, and exits.
    Its arguments: MODE, a path for each of the programs, and the names of tests, if not all are meant.
    MODE: embedded (the engine in the backend) or http (a server behind it; for sanitised builds)."""
    mode, *rest = arguments or sys.argv[1:]
    paths, names = rest[:len(programs)], rest[len(programs):]
    need_library()
    tests = [value for name, value in found.items() if name.startswith('test_') and (not names or name in names)]
    sys.exit(run(tests, dict(zip(programs, paths)), mode))


def need_library():
    """Skips all tests where the store's engine is absent, and tells the programs where it is."""
    library = os.environ.get('HOTSTACK_LIBCHDB') or str(
        pathlib.Path(os.environ.get('XDG_CACHE_HOME', pathlib.Path.home() / '.cache')) /
        'hotstack/chdb/libchdb.so')
    if not pathlib.Path(library).exists():
        skip_all(f'{library} is absent: ./dev test backend fetches it (x86-64 only)')
    os.environ['HOTSTACK_LIBCHDB'] = library


def skip_all(reason):
    print(f'1..0 # SKIP {reason}')
    sys.exit(0)
