#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A backend that only takes in: it decodes the ingest contract, checks it, and keeps the sums.

Prints "port N", then serves until killed. GET /state answers what came so far as JSON. GET
/behave?mode=NAME&times=N makes the next N calls to /v1/ingest/profiles answer otherwise (retry,
need_stacks, too_large, reject, lost: stored, but the answer never comes). The token is "e2e-token".
"""

import http.server
import json
import sys
import threading
import urllib.parse

from contract_wire import SAMPLE, SECOND, SUMS, TARGET, THREAD, WINDOW, columns, fields, packed, put_varint, strings, unzstd, xxh3_128

TOKEN = "e2e-token"
TEXTS = "namespace kind workload pod container pod_uid container_id main_class app image service".split()
STATUS = "observed state reason detail window session mode until length covered collector_ns"
SNAPSHOT, STATE = {1: "target", 7: "offers"}, {1: "snapshot", 12: "stack"}  # as far as tests need them
SOURCES = {1: "cpu", 2: "wall", 3: "alloc", 4: "lock"}


class Store:
    def __init__(self):
        self.lock = threading.Lock()
        self.batches = {}
        self.known = set()
        self.counts = {"duplicate": 0, "need_stacks": 0, "status": 0, "heartbeat": 0, "refused": 0}
        self.targets = {}
        self.errors = []
        self.mode, self.times = "", 0

    def check(self, body, inside):
        """Returns the batch as plain values, and the stacks that are missing."""
        words = strings(body[5])
        day = body[3]
        windows = columns(body.get(7, b""), WINDOW)
        rows = columns(body.get(8, b""), SAMPLE)
        targets = columns(body[6], TARGET)
        stacks = [body.get(11, b"")[i : i + 16] for i in range(0, len(body.get(11, b"")), 16)]
        assert len(set(stacks)) == len(stacks), "stack id twice"
        assert 0 < len(rows) <= 100000 or windows or 12 in body, "an empty batch"
        keys = {(r["window"], r["pool"], r["stack"], r["facet"], r["object"]) for r in rows}
        assert len(keys) == len(rows), "duplicate row"
        for i, window in enumerate(windows):
            mine = [r for r in rows if r["window"] == i]
            for name in SUMS.split():
                total = sum(r[name] for r in mine)
                assert total == window[name], f"{name} of window {i}: {total} != {window[name]}"
            assert window["start"] // 86400000 == day, "window on another day"
            assert (window["start"] + window["length"] - 1) // 86400000 == day, "over midnight"
            assert window["covered"] <= window["length"]
        for second in columns(body.get(9, b""), SECOND):
            assert second["second"] * 1000 < windows[second["window"]]["length"], "late second"
        columns(body.get(10, b""), THREAD)
        snapshots = columns(body.get(12, b""), SNAPSHOT)
        uses = {(windows[row["window"]]["target"], row["stack"]) for row in rows}
        uses |= {(snapshots[state["snapshot"]]["target"], state["stack"] - 1)
                 for state in columns(body.get(13, b""), STATE) if state["stack"] > 0}  # fmt: skip
        keys = {use: (words[targets[use[0]]["workload"]], day, stacks[use[1]]) for use in uses}
        missing = {use[1] for use, key in keys.items() if stacks[use[1]] not in inside and key not in self.known}
        learned = set(keys.values())
        for window in windows:
            for name in ("namespace", "workload", "pod", "container", "app"):
                window[name] = words[targets[window["target"]][name]]
            window["pid"] = targets[window["target"]]["pid"]
            window["source"] = SOURCES.get(window["source"], str(window["source"]))
            window["engine"] = words[window["engine"]]
        return windows, rows, missing, learned, len(inside)

    @staticmethod
    def dictionary_ids(data):
        got = fields(data)
        words = strings(got[1])
        frames = [packed(got.get(n, b"")) for n in (2, 3, 4, 5)]
        assert len({len(f) for f in frames} | {len(got.get(6, b""))}) == 1, "frame columns"
        ids = got.get(7, b"")
        depths = packed(got.get(9, b""))
        assert len(ids) == 16 * len(depths) == 16 * len(got.get(8, b""))
        assert sum(depths) == len(packed(got.get(11, b"")))
        assert all(i < len(frames[0]) for i in packed(got.get(11, b"")))
        assert all(i < len(words) for f in frames[:3] for i in f)
        return {ids[i : i + 16] for i in range(0, len(ids), 16)}


STORE = Store()


def answer(outcome, code="", need=(), limits=False, retry_ms=0):
    out = b"\x08" + put_varint(outcome)
    if code:
        out += b"\x12" + put_varint(len(code)) + code.encode()
    if retry_ms:
        out += b"\x20" + put_varint(retry_ms)
    if need:
        data = b"".join(put_varint(i) for i in sorted(need))
        out += b"\x2a" + put_varint(len(data)) + data
    if limits:
        data = b"\x08" + put_varint(16 << 20) + b"\x10" + put_varint(100000)
        out += b"\x32" + put_varint(len(data)) + data
    return out


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="application/x-protobuf"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        with STORE.lock:
            if url.path == "/behave":
                STORE.mode, STORE.times = query["mode"], int(query.get("times", 1))
            state = {
                "batches": list(STORE.batches.values()),
                "counts": STORE.counts,
                "targets": list(STORE.targets.values()),
                "errors": STORE.errors,
            }
        self.reply(200, json.dumps(state).encode(), "application/json")

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            STORE.counts["refused"] += 1
            self.reply(401, b"no", "text/plain")
            return
        try:
            with STORE.lock:
                body = unzstd(data)
                self.packed = len(data)
                call = {
                    "/v1/ingest/profiles": self.profiles,
                    "/v1/ingest/status": self.status,
                    "/v1/ingest/heartbeat": self.heartbeat,
                }[self.path]
                call(body)
        except ConnectionError:
            self.close_connection = True  # the sender has given up
        except Exception as error:  # every kind of mistake is the sender's, and shown by the test
            STORE.errors.append(f"{self.path}: {error!r}")
            self.reply(422, answer(3, "malformed"))

    def profiles(self, data):
        batch = fields(data)
        mode = STORE.mode if STORE.times > 0 else ""
        if mode != "lost":  # that call is counted when a batch is stored: another may want stacks first
            STORE.times = max(0, STORE.times - 1)
        if mode == "retry":
            self.reply(503, answer(4, "store_busy", retry_ms=200))
            return
        if mode == "too_large":
            self.reply(413, answer(3, "payload_too_large"))
            return
        if mode == "reject":
            self.reply(200, answer(3, "window_too_old"))
            return
        if mode == "need_stacks":
            STORE.known.clear()
        batch_id = batch[1].hex()
        assert len(batch[1]) == 16 and len(batch[3]) == 16
        if batch_id in STORE.batches:
            STORE.counts["duplicate"] += 1
            self.reply(200, answer(2))
            return
        body = batch[2]
        assert xxh3_128(body) == batch[3], "the body has another digest"
        inside = STORE.dictionary_ids(batch[4])
        windows, rows, missing, learned, sent = STORE.check(fields(body), inside)
        snapshots = columns(fields(body).get(12, b""), SNAPSHOT)
        if missing:
            STORE.counts["need_stacks"] += 1
            self.reply(200, answer(5, need=missing))
            return
        STORE.known |= learned
        STORE.batches[batch_id] = {
            "windows": windows,
            "rows": len(rows),
            "snapshots": len(snapshots),
            "offers": [one["offers"] for one in snapshots],
            "stacks_sent": sent,
            "bytes": self.packed,
        }
        if mode == "lost":
            STORE.times -= 1
            self.close_connection = True
            return
        self.reply(200, answer(1))

    def status(self, data):
        report = fields(data)
        words = strings(report[3])
        targets = columns(report.get(4, b""), TARGET)
        names = dict(enumerate(STATUS.split(), 1))
        STORE.counts["status"] += 1
        STORE.targets.clear()
        for target, status in zip(targets, columns(report.get(5, b""), names)):
            for name in TEXTS:
                status[name] = words[target[name]]
            status["detail"] = words[status["detail"]]
            STORE.targets[target["pid"]] = {"pid": target["pid"], **status}
        self.reply(200, answer(1))

    def heartbeat(self, data):
        STORE.counts["heartbeat"] += 1
        self.reply(200, answer(1, limits=True))


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"port {server.server_address[1]}", flush=True)
    server.serve_forever()


main()
