# SPDX-License-Identifier: Apache-2.0
"""docs/reference/openapi.json and the server say the same: routes, parameters, and every key of every answer.

usage: api_e2e.py MODE BACKEND LOAD CLIENT CHDB-HTTP [TEST...], as lab.main says."""
import json
import pathlib
import re
import time

import lab as parts
from fleet import Fleet
from lab import reads, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = ROOT / 'daemons/backend/adapters/httpapi'
DOCUMENT = json.loads((ROOT / 'docs/reference/openapi.json').read_text(encoding='utf-8'))
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}


def resolve(item):
    while '$ref' in item:
        found = DOCUMENT
        for key in item['$ref'].removeprefix('#/').split('/'):
            found = found[key]
        item = found
    return item


def has_type(value, name):
    if name in ('integer', 'number'):
        return not isinstance(value, bool) and isinstance(value, int if name == 'integer' else (int, float))
    return isinstance(value, TYPES[name])


def check(value, schema, at):
    """Asserts that the value matches the schema, for the parts of JSON Schema that the document uses."""
    schema = resolve(schema)
    if 'anyOf' in schema:
        if value is not None:
            check(value, schema['anyOf'][0], at)
        return
    names = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
    assert any(has_type(value, name) for name in names), f'{at} is {value!r}, not {names}'
    assert 'enum' not in schema or value in schema['enum'], f'{at} is {value!r}, not one of {schema["enum"]}'
    if isinstance(value, str) and 'pattern' in schema:
        assert re.search(schema['pattern'], value), f'{at} is {value!r}'
    if isinstance(value, list):
        for number, entry in enumerate(value):
            check(entry, schema['items'], f'{at}[{number}]')
    if isinstance(value, dict):
        check_object(value, schema, at)


def check_object(value, schema, at):
    known = schema.get('properties', {})
    lacking = set(schema.get('required', ())) - set(value)
    assert not lacking, f'{at} lacks {lacking}'
    for key, entry in value.items():
        inner = known.get(key, schema['additionalProperties'])
        assert inner is not False, f'{at} has {key}, which the document does not name'
        check(entry, inner, f'{at}.{key}')


def operations():
    return ((path, method, operation) for path, methods in DOCUMENT['paths'].items() for method, operation in methods.items())


def queries():
    """Returns (path, operation) of the queries that answer in JSON."""
    return [(path, one) for path, method, one in operations() if '304' in one['responses']]


def parameters(operation):
    return [resolve(one) for one in operation['parameters']]


def filled(path, values):
    return re.sub(r'\{(\w+)\}', lambda found: values[found[1]], path)


def test_every_route_is_in_the_document(lab):
    del lab
    table = (API / 'routes.c').read_text(encoding='utf-8')
    routes = set(re.findall(r'add(?:_open|_query)?\(a, "(\w+)", "([^"]+)"', table))
    routes |= {('POST', path) for path in re.findall(r'add_ingest\(a, "([^"]+)"', table)}
    told = {(method.upper(), re.sub(r'\{\w+\}', '{}', path)) for path, method, _ in operations()}
    assert len(routes) > 20 and told == routes - {('GET', '/*')}, told ^ routes


def test_every_parameter_is_in_the_document(lab):
    backend = lab.start(ready=False)
    source = (API / 'query_params.c').read_text(encoding='utf-8')
    names = {name for names in re.findall(r'\[\] = \{([^}]*NULL)\}', source) for name in re.findall(r'"(\w+)"', names)}
    assert {'from', 'java_tid', 'object'} <= names, names
    for path, operation in queries():
        told = {one['name'] for one in parameters(operation) if one['in'] == 'query'}
        accepted = {name for name in names
                    if b'no such parameter' not in backend.get(filled(path, {'namespace': 'a', 'workload': 'b', 'id': 'c'}), **{name: 'x'})[2]}
        assert told == accepted, (path, told ^ accepted)


def fill(lab, backend):
    """Something for every list of every answer."""
    backend.send()
    for flags in (('--status',), ('--heartbeat',), ('--heartbeat', '--dropped', '2'), ('--seed', '2', '--wrong-totals')):
        backend.send(*flags)
    fleet = Fleet(lab, nodes=1, jvms=2, rows=60, threads=10, windows=1, start_ms=lab.start_ms - 60000).start(backend)
    fleet.wait()
    wait_for('what is written a moment later', lambda: any(one['drops'] for one in backend.json('/v1/collectors')['collectors']) and
             backend.json('/v1/ingestion')['refused'] and backend.json('/v1/status')['targets'])
    slow = backend.json('/v1/threads', namespace='load', workload='service-0')['slow'][0]
    deadlock = backend.json('/v1/deadlocks')['deadlocks'][0]['id']
    return {'namespace': 'load', 'workload': 'service-0', 'type': 'cpu', 'jvm': slow['jvm'], 'java_tid': slow['java_tid'], 'id': deadlock}


def test_every_answer_is_as_the_document_says(lab):
    backend = lab.start('--ingest-reports-every', '100ms')
    values = fill(lab, backend)
    for path, operation in queries():
        schema = operation['responses']['200']['content']['application/json']['schema']
        names = {one['name'] for one in parameters(operation)}
        asked = {one['name']: values[one['name']] for one in parameters(operation) if one.get('required') and one['in'] == 'query'}
        if 'busy' in names:
            asked['busy'] = 0  # lists threads that use little, too
        answer = backend.json(filled(path, values), **asked)
        check(answer, schema, path)
        empty = [key for key, value in answer.items() if value in ([], {})]
        assert not empty, f'{path}: there is nothing to check in {empty}'
        for name, value in {'lines': '1', 'jvm': values['jvm']}.items():
            if name in names:
                check(backend.json(filled(path, values), **{**asked, name: value}), schema, f'{path} with {name}')
    services = backend.json('/v1/services')['services']
    assert all(service['types'] for service in services if service['namespace'] == 'load')


def test_errors_are_as_the_document_says(lab):
    backend = lab.start()
    error = DOCUMENT['components']['schemas']['Error']
    for path, token, status in (('/v1/services?form=1', parts.USER, 400), ('/v1/services', None, 401), ('/v1/services', parts.COLLECTOR, 403),
                                ('/v1/deadlocks/none', parts.USER, 404), ('/v1/services?from=1&to=2', parts.USER, 410)):
        got, _, data = backend.call('GET', path, token=token)
        assert got == status, (path, got)
        check(json.loads(data), error, path)
        responses = DOCUMENT['paths'][path.split('?')[0].replace('/none', '/{id}')]['get']['responses']
        assert str(status) in responses, (path, status)


def test_threads_that_the_client_has_are_not_read(lab):
    backend = lab.start('--ingest-reports-every', '100ms')
    values = fill(lab, backend)
    one = f'jvm={values["jvm"]}&java_tid={values["java_tid"]}'
    minute = (lab.start_ms - 180000) // 60000 * 60000
    since = minute + 1  # the next snapshot is in the range, and the window that begins with the minute is not
    tags = {}
    for path in ('/v1/threads?', '/v1/locks?', f'/v1/threads/one?{one}&'):
        path += f'namespace=load&workload=service-0&from={since}'
        before = reads(backend)
        tags[path] = backend.call('GET', path)[1]['ETag']
        whole, before = reads(backend) - before, reads(backend)
        later = f'{path}&to={int(time.time() * 1000) + 5000}'
        assert backend.call('GET', later, {'If-None-Match': tags[path]})[0] == 304, path
        assert reads(backend) - before < whole, path
    assert len(set(tags.values())) == 3
    Fleet(lab, nodes=1, jvms=2, rows=0, threads=10, windows=1, seed=2, start_ms=minute).start(backend).wait()
    for path, tag in tags.items():
        status = backend.call('GET', path, {'If-None-Match': tag})[0]
        assert status == (304 if 'jvm' in path else 200), f'{path}: a snapshot of another JVM has come'


parts.main(globals(), 'backend', 'load', 'client', 'chdb_http')
