# SPDX-License-Identifier: Apache-2.0
"""A ClickHouse server of another version or with other settings: a proxy before chdb-http that alters requests and answers."""
import http.client
import http.server
import random
import sys
import threading
import urllib.parse
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Server:
    name: str
    unknown: tuple = ()  # settings that it refuses, since they are newer than it
    profile: dict = field(default_factory=dict)  # settings of calls that do not bring their own
    keeps_tokens: bool = True  # else it stores a block as often as it comes
    lost_answers: float = 0  # share of inserts that it carries out and does not answer


SERVERS = (
    Server('from before the setting deduplicate_insert (26.2)', unknown=('deduplicate_insert',)),
    Server('whose profile inserts asynchronously, without tokens',
           profile={'async_insert': '1', 'insert_deduplicate': '0', 'deduplicate_insert': 'disable'}),
    Server('whose tokens do not work, and which answers some inserts only by closing the connection',
           keeps_tokens=False, lost_answers=0.05),
)


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A backend that is killed breaks its connections."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Front:
    """Serves until close(). `store_port` tells where the server behind it is now."""

    def __init__(self, server, store_port):
        self.server, self.store_port = server, store_port
        self.dice = random.Random(1)
        front = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                front.pass_on(self)

            def log_message(self, *_):
                pass

        self.listener = Listener(('127.0.0.1', 0), Handler)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def pass_on(self, call):
        body = call.rfile.read(int(call.headers['Content-Length']))
        items = urllib.parse.parse_qsl(urllib.parse.urlsplit(call.path).query, keep_blank_values=True, encoding='latin-1')
        refused = [name for name, _ in items if name in self.server.unknown]
        if refused:
            text = f"Code: 115. DB::Exception: Unknown setting '{refused[0]}'. (UNKNOWN_SETTING)\n".encode()
            answer(call, 404, [('X-ClickHouse-Exception-Code', '115')], text)
            return
        is_insert = any(name == 'query' and value.startswith('INSERT') for name, value in items)
        try:
            status, headers, text = self.ask(self.altered(items), self.without_unknown(body), call.headers)
        except OSError:
            status = 0  # the server behind is away
        if status == 0 or is_insert and self.dice.random() < self.server.lost_answers:
            call.close_connection = True
        else:
            answer(call, status, headers, text)

    def altered(self, items):
        """Returns the items of an address in the form for the server behind the proxy."""
        named = {name for name, _ in items}
        items = [*items, *((name, value) for name, value in self.server.profile.items() if name not in named)]
        return items if self.server.keeps_tokens else [item for item in items if item[0] != 'insert_deduplication_token']

    def without_unknown(self, body):
        """Hides the settings that the server does not have from a statement about them."""
        names = ', '.join(f"'{name}'" for name in self.server.unknown) or "''"
        return body.replace(b'FROM system.settings ', f'FROM (SELECT * FROM system.settings WHERE name NOT IN ({names})) '.encode())

    def ask(self, items, body, headers):
        connection = http.client.HTTPConnection('127.0.0.1', self.store_port(), timeout=120)
        passed = {name: headers[name] for name in ('Content-Encoding', 'Accept-Encoding') if name in headers}
        try:
            connection.request('POST', '/?' + urllib.parse.urlencode(items, encoding='latin-1'), body, passed)
            got = connection.getresponse()
            kept = [(name, value) for name, value in got.getheaders()
                    if name.lower() in ('content-encoding', 'x-clickhouse-exception-code')]
            return got.status, kept, got.read()
        except http.client.HTTPException as problem:
            raise OSError('the server behind went away') from problem
        finally:
            connection.close()

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()


def answer(call, status, headers, text):
    call.send_response(status)
    for name, value in headers:
        call.send_header(name, value)
    call.send_header('Content-Length', str(len(text)))
    call.end_headers()
    call.wfile.write(text)
