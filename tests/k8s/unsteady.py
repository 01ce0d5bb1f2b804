# SPDX-License-Identifier: Apache-2.0
"""A proxy before the API server that can be away, slow, or answer garbage. Plain HTTP to the collector."""

import http.client
import http.server
import re
import socket
import ssl
import threading
import time

PASS, AWAY, SLOW, GARBAGE = "pass", "away", "slow", "garbage"
SLOW_HEAD = 2  # seconds before an answer begins
SLOW_PIECE = 512  # bytes at a time
SLOW_WAIT = 0.05  # seconds before each


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        owner = self.server.owner
        self.close_connection = True
        owner.remember(self.connection)
        if owner.mode == AWAY:
            return
        try:
            if owner.mode == GARBAGE:
                self.answer(200, "application/json")
                self.wfile.write(owner.in_watches if "watch=1" in self.path else owner.garbage)
            else:
                self.forward(owner)
        except (OSError, http.client.HTTPException):
            pass  # one of the two is gone, or the mode has changed

    def answer(self, status, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")  # so that the end of the body is the connection's
        self.end_headers()

    def forward(self, owner):
        upstream = owner.connect()
        slow = owner.mode == SLOW
        if slow:
            time.sleep(SLOW_HEAD)
        headers = {name: self.headers[name] for name in ("Authorization", "Accept") if name in self.headers}
        upstream.request("GET", owner.change(self.path), headers=headers)
        got = upstream.getresponse()
        self.answer(got.status, got.headers["Content-Type"])
        while piece := got.read1(SLOW_PIECE if slow else 65536):
            if slow:
                time.sleep(SLOW_WAIT)
            self.wfile.write(piece)
        upstream.close()


class Proxy:
    """Stands between the collector and the API server. `change` turns each path that is asked for into the one to ask the server for."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.mode, self.garbage, self.in_watches = PASS, b"", b""
        self.change = lambda path: path
        self.lock, self.open = threading.Lock(), set()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.owner = self
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def connect(self):
        context = ssl.create_default_context(cafile=str(self.cluster.ca_file))
        made = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, timeout=600, context=context)
        made.connect()
        self.remember(made.sock)
        return made

    def remember(self, connection):
        with self.lock:
            self.open = {one for one in self.open if one.fileno() >= 0} | {connection}

    def set(self, mode, garbage=b"", in_watches=None):
        """From now on; whatever is under way breaks off. Garbage is the answer to lists, and, where nothing else is
        given, to watches."""
        self.garbage, self.in_watches = garbage, garbage if in_watches is None else in_watches
        self.mode = mode
        with self.lock:
            for one in self.open:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it has ended by itself
            self.open = set()

    def end(self):
        self.set(AWAY)
        self.server.shutdown()
        self.server.server_close()


def of_version(path, version):
    """Returns the path of a watch with another version."""
    return re.sub(r"resourceVersion=[^&]*", f"resourceVersion={version}", path)


def in_pages_of(path, items):
    return re.sub(r"limit=\d+", f"limit={items}", path)
