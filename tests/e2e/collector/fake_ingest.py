#!/usr/bin/env python3
"""A backend that only takes in: it decodes the ingest contract, checks it, and keeps the sums.

Prints "port N", then serves until killed. GET /state answers what came so far as JSON. GET
/behave?mode=NAME&times=N makes the next N calls to /v1/ingest/profiles answer otherwise (retry,
need_stacks, too_large, lost: stored, but the answer never comes). The token is "e2e-token".

Knows no protobuf library: the contract's messages are few, and a second reading of the wire form is
worth having in a test.
"""

import ctypes
import ctypes.util
import http.server
import json
import struct
import sys
import threading
import urllib.parse

TOKEN = "e2e-token"
TYPES = {1: "cpu", 2: "alloc_bytes", 3: "alloc_objects", 4: "lock_count", 5: "lock_delay"}


def load_zstd():
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    return lib


ZSTD = load_zstd()


def unzstd(data):
    size = ZSTD.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(size + 1)
    got = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size, "not one zstd frame"
    return out.raw[:size]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """Field number -> value; a number that stands twice breaks the contract's wire form."""
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length, "truncated"
        else:
            raise AssertionError(f"wire type {kind}")
        assert number not in out, f"field {number} stands twice"
        out[number] = value
    return out


def packed(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def columns(data, names):
    """A group of packed columns as a list of dicts; all of one length."""
    got = {names[n]: packed(v) for n, v in fields(data).items() if n in names}
    count = max((len(v) for v in got.values()), default=0)
    assert all(len(v) == count for v in got.values()), f"columns differ in length: {got.keys()}"
    assert count == 0 or len(got) == len(names), f"a column is missing of {list(names.values())}"
    return [dict(zip(got, row)) for row in zip(*got.values())]


def strings(data):
    got = fields(data)
    lengths, blob, out, at = packed(got.get(2, b"")), got.get(1, b""), [], 0
    for length in lengths:
        out.append(blob[at : at + length].decode("utf-8"))
        at += length
    assert at == len(blob) and out and out[0] == "", "bad string table"
    return out


WINDOW = dict(enumerate("target type start length covered engine interval samples raw value "
                        "truncated dropped dropped_stacks lost".split(), 1))
SAMPLE = dict(enumerate("window pool stack raw value samples facet object".split(), 1))
SECOND = dict(enumerate("window pool second value".split(), 1))
THREAD = dict(enumerate("window os_tid java_tid name pool raw value samples".split(), 1))
TARGET = dict(enumerate("namespace kind workload pod container pod_uid container_id boot_id pid "
                        "ns_pid start_ticks start version vendor main_class app image".split(), 1))


class Store:
    def __init__(self):
        self.lock = threading.Lock()
        self.batches = {}
        self.known = set()
        self.counts = {"duplicate": 0, "need_stacks": 0, "status": 0, "heartbeat": 0, "refused": 0}
        self.targets = {}
        self.errors = []
        self.mode, self.times = "", 0

    def check(self, batch_id, body, dictionary):
        """The batch as plain values, and the stacks that are missing."""
        words = strings(body[5])
        day = body[3]
        windows = columns(body[7], WINDOW)
        rows = columns(body.get(8, b""), SAMPLE)
        targets = columns(body[6], TARGET)
        stacks = [body.get(11, b"")[i : i + 16] for i in range(0, len(body.get(11, b"")), 16)]
        assert len(set(stacks)) == len(stacks), "stack id twice"
        assert 0 < len(rows) <= 100000 or windows
        keys = {(r["window"], r["pool"], r["stack"], r["facet"], r["object"]) for r in rows}
        assert len(keys) == len(rows), "duplicate row"
        for i, window in enumerate(windows):
            mine = [r for r in rows if r["window"] == i]
            for name in ("raw", "value", "samples"):
                total = sum(r[name] for r in mine)
                assert total == window[name], f"{name} of window {i}: {total} != {window[name]}"
            assert window["start"] // 86400000 == day, "window on another day"
            assert (window["start"] + window["length"] - 1) // 86400000 == day, "over midnight"
            assert window["covered"] <= window["length"]
        for second in columns(body.get(9, b""), SECOND):
            assert second["second"] * 1000 < windows[second["window"]]["length"], "late second"
        columns(body.get(10, b""), THREAD)
        inside = self.dictionary_ids(dictionary)
        missing = set()
        for row in rows:
            target = targets[windows[row["window"]]["target"]]
            key = (target["workload"], words[target["workload"]], day, stacks[row["stack"]])[1:]
            if stacks[row["stack"]] not in inside and key not in self.known:
                missing.add(row["stack"])
        learned = {
            (words[targets[windows[r["window"]]["target"]]["workload"]], day, stacks[r["stack"]])
            for r in rows
        }
        for window in windows:
            window["workload"] = words[targets[window["target"]]["workload"]]
            window["pid"] = targets[window["target"]]["pid"]
            window["type"] = TYPES.get(window["type"], str(window["type"]))
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


def put_varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


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
        except Exception as error:  # every kind of mistake is the sender's, and shown by the test
            STORE.errors.append(f"{self.path}: {error!r}")
            self.reply(422, answer(3, "malformed"))

    def profiles(self, data):
        batch = fields(data)
        if STORE.times > 0:
            STORE.times -= 1
            mode = STORE.mode
        else:
            mode = ""
        if mode == "retry":
            self.reply(503, answer(4, "store_busy", retry_ms=200))
            return
        if mode == "too_large":
            self.reply(413, answer(3, "payload_too_large"))
            return
        if mode == "need_stacks":
            STORE.known.clear()
        batch_id = batch[1].hex()
        assert len(batch[1]) == 16 and len(batch[3]) == 16
        if batch_id in STORE.batches:
            STORE.counts["duplicate"] += 1
            self.reply(200, answer(2))
            return
        windows, rows, missing, learned, sent = STORE.check(batch_id, fields(batch[2]), batch[4])
        if missing:
            STORE.counts["need_stacks"] += 1
            self.reply(200, answer(5, need=missing))
            return
        STORE.known |= learned
        STORE.batches[batch_id] = {
            "windows": windows,
            "rows": len(rows),
            "stacks_sent": sent,
            "bytes": self.packed,
        }
        if mode == "lost":
            self.close_connection = True
            return
        self.reply(200, answer(1))

    def status(self, data):
        report = fields(data)
        words = strings(report[4])
        targets = columns(report.get(5, b""), TARGET)
        names = dict(enumerate("observed state reason detail window session".split(), 1))
        STORE.counts["status"] += 1
        STORE.targets.clear()
        for target, status in zip(targets, columns(report.get(6, b""), names)):
            status["workload"] = words[target["workload"]]
            status["detail"] = words[status["detail"]]
            status["main_class"] = words[target["main_class"]]
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
