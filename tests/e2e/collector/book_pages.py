# SPDX-License-Identifier: Apache-2.0
"""Pages of a book, read as docs/formats/ingest.md ("Pages") says: a second reading of that page.

Only for pages that are right: what is wrong raises.
"""

import ctypes
import ctypes.util

from contract_wire import SAMPLE, SECOND, TARGET, THREAD, WINDOW, fields, packed, put_bytes, put_columns, put_packed, put_varint, unzstd

MASK = (1 << 64) - 1
PREFIX = 64 * 1024
TEXTS = ["namespace", "kind", "workload", "pod", "container", "pod_uid", "container_id", "boot_id",
         "version", "vendor", "main_class", "app", "image"]  # fmt: skip
COLUMNS = dict(enumerate(
    "collector day created string_data string_length targets frame_class frame_method frame_file frame_line frame_kind "
    "stack_base stack_added stack_frame stack_flags key_stack key_pool key_facet key_object thread_os_tid "
    "thread_java_tid thread_name thread_pool window_target window_type window_start window_length window_missed "
    "window_engine window_interval window_truncated window_dropped window_dropped_stacks window_lost window_list "
    "window_form window_known window_new window_series window_threads row_gap row_samples row_raw row_value "
    "series_pool series_length second_gap second_value thread_step thread_samples thread_raw thread_value".split(), 1
))  # fmt: skip
NOT_PACKED = {"collector", "day", "created", "string_data", "targets", "frame_kind", "stack_flags"}
(ROWS_AS_BEFORE, SAMPLES_AS_BEFORE, RAW_BY_INTERVAL, RAW_IS_SAMPLES, VALUE_IS_RAW, SECONDS_BY_INTERVAL,
 THREADS_AS_BEFORE, THREAD_SAMPLES_AS_BEFORE) = (1 << bit for bit in range(8))  # fmt: skip


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXH.XXH3_64bits.restype = ctypes.c_uint64
XXH.XXH3_128bits.restype = Hash128


def hash128(data):
    got = XXH.XXH3_128bits(data, ctypes.c_size_t(len(data)))
    return got.high.to_bytes(8, "big") + got.low.to_bytes(8, "big")


def frame_id(class_name, method, line, kind):
    text = bytes([kind]) + b"".join(put_varint(len(t)) + t for t in (class_name, method))
    return (XXH.XXH3_64bits(text, ctypes.c_size_t(len(text))) * 0x9E3779B97F4A7C15 + line) & MASK


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


class Columns:
    """A message's columns, each read from its front."""

    def __init__(self, content):
        got = fields(content)
        self.values = {name: got.get(number, b"") for number, name in COLUMNS.items()}
        for name in set(self.values) - NOT_PACKED:
            self.values[name] = packed(self.values[name])
        self.at = dict.fromkeys(self.values, 0)
        targets = fields(self.values["targets"]) if self.values["targets"] else {}
        for number, name in TARGET.items():
            self.values["target:" + name] = packed(targets.get(number, b""))
            self.at["target:" + name] = 0

    def take(self, name, count=1):
        at = self.at[name]
        self.at[name] += count
        got = self.values[name][at : at + count]
        assert len(got) == count, f"{name} ends too early"
        return got if name == "string_data" else got[0]

    def check_end(self):
        left = {name for name in self.values if name not in ("collector", "day", "created", "targets")
                and self.at[name] != len(self.values[name])}  # fmt: skip
        assert not left, f"not used: {left}"


class Book:
    def __init__(self):
        self.pages = 0
        self.strings, self.blob, self.before = [b""], b"", b""
        self.frames, self.newest = [], {}
        self.nodes, self.stacks, self.stack_of = [None], [], {}
        self.lists, self.threads, self.targets = [], [], []

    # Each returns what a ref stands for.
    def text(self, c, ref):
        if ref == 0:
            self.strings.append(c.take("string_data", c.take("string_length")))
            self.blob += self.strings[-1]
        return self.strings[ref - 1]

    def frame(self, c, ref):
        if ref == 0:
            class_ref, method_ref, code = c.take("frame_class"), c.take("frame_method"), c.take("frame_file")
            class_name, method = self.text(c, class_ref), self.text(c, method_ref)
            file = self.text(c, code - 1) if code else self.newest.get(class_name, b"")
            self.newest[class_name] = file
            self.frames.append(frame_id(class_name, method, c.take("frame_line"), c.take("frame_kind")))
        return self.frames[ref - 1]

    def stack(self, c, ref):
        if ref == 0:
            node, added = c.take("stack_base"), c.take("stack_added")
            for _ in range(added):
                self.nodes.append((node, self.frame(c, c.take("stack_frame"))))
                node = len(self.nodes) - 1
            c.take("stack_flags")
            ids = b""
            while node:
                node, one = self.nodes[node]
                ids += one.to_bytes(8, "little")
            self.stacks.append(hash128(b"HS1" + b"\x01" + ids))
            self.new_stacks.add(self.stacks[-1])
        return self.stacks[ref - 1]

    def target(self, c, ref):
        if ref == 0:
            one = {name: c.take("target:" + name) for name in TARGET.values()}
            for name in TEXTS:
                one[name] = self.text(c, one[name])
            self.targets.append(one)
            return len(self.targets) - 1
        return ref - 1

    def keys(self, c, form, number):
        if form & ROWS_AS_BEFORE:
            return self.before_rows
        known, new, keys, out, place = c.take("window_known"), c.take("window_new"), self.lists[number], [], 0
        for _ in range(known):
            place += c.take("row_gap")
            out.append(keys[place])
            place += 1
        for _ in range(new):
            stack_ref, pool, facet, thing = (c.take(f"key_{n}") for n in ("stack", "pool", "facet", "object"))
            stack = self.stack(c, stack_ref)
            pool = self.text(c, pool)
            keys.append((stack, pool, facet, self.text(c, thing)))
            out.append(keys[-1])
        return out

    @staticmethod
    def values(c, what, form, interval, samples):
        samples = c.take(f"{what}_samples") if samples is None else samples
        raw = (samples if form & RAW_IS_SAMPLES else samples * interval & MASK if form & RAW_BY_INTERVAL
               else c.take(f"{what}_raw"))  # fmt: skip
        value = raw if form & VALUE_IS_RAW else (raw + unzigzag(c.take(f"{what}_value"))) & MASK
        return {"raw": raw, "value": value, "samples": samples}

    def thread_numbers(self, c, form):
        count = c.take("window_threads")
        if form & THREADS_AS_BEFORE:
            return self.before_threads
        out, following = [], 0
        for _ in range(count):
            step = c.take("thread_step")
            if step == 0:
                os_tid, java_tid, name, pool = (c.take(f"thread_{n}") for n in ("os_tid", "java_tid", "name", "pool"))
                name = self.text(c, name)
                self.threads.append({"os_tid": os_tid, "java_tid": java_tid, "name": name, "pool": self.text(c, pool)})
                out.append(len(self.threads) - 1)
            else:
                out.append(following + unzigzag(step - 1))
            following = out[-1] + 1
        return out

    def window(self, c, index, start):
        target = self.target(c, c.take("window_target"))
        one = {"target": target, "type": c.take("window_type"), "start": start + unzigzag(c.take("window_start"))}
        one["length"] = c.take("window_length")
        one["covered"] = one["length"] - c.take("window_missed")
        engine = c.take("window_engine")
        one["interval"] = c.take("window_interval")
        for name in ("truncated", "dropped", "dropped_stacks", "lost"):
            one[name] = c.take(f"window_{name}")
        one["engine"] = self.text(c, engine)
        ref, form = c.take("window_list"), c.take("window_form")
        if ref == 0:
            self.lists.append([])
        number = ref - 1 if ref else len(self.lists) - 1
        if form & ROWS_AS_BEFORE:
            assert c.take("window_known") == c.take("window_new") == 0
        keys = self.keys(c, form, number)
        before = [row["samples"] for row in self.rows if row["window"] == index - 1]
        for i, (stack, pool, facet, thing) in enumerate(keys):
            samples = before[i] if form & SAMPLES_AS_BEFORE else None
            self.rows.append({"window": index, "stack": stack, "pool": pool, "facet": facet, "object": thing,
                              **self.values(c, "row", form, one["interval"], samples)})  # fmt: skip
        self.before_rows = keys
        self.window_seconds(c, index, one["interval"] if form & SECONDS_BY_INTERVAL else 1)
        before = [thread["samples"] for thread in self.window_threads if thread["window"] == index - 1]
        self.before_threads = self.thread_numbers(c, form)
        for i, thread in enumerate(self.before_threads):
            samples = before[i] if form & THREAD_SAMPLES_AS_BEFORE else None
            self.window_threads.append({"window": index, **self.threads[thread],
                                        **self.values(c, "thread", form, one["interval"], samples)})  # fmt: skip
        return one

    def window_seconds(self, c, index, unit):
        for _ in range(c.take("window_series")):
            pool, second, value = self.text(c, c.take("series_pool")), 0, 0
            for _ in range(c.take("series_length")):
                second += c.take("second_gap")
                value = (value + unzigzag(c.take("second_value"))) & MASK
                self.seconds.append({"window": index, "pool": pool, "second": second, "value": value * unit})
                second += 1

    def read(self, content):
        """The encoded ProfileBody that a page's content tells, and the ids of the stacks it brings."""
        self.before = unzstd(content, self.blob[-PREFIX:] + self.before[-PREFIX:])
        c = Columns(self.before)
        self.rows, self.seconds, self.window_threads, self.new_stacks = [], [], [], set()
        self.before_rows, self.before_threads, windows = [], [], []
        if self.pages == 0:
            self.collector = c.values["collector"]
        for index in range(len(c.values["window_target"])):
            windows.append(self.window(c, index, windows[-1]["start"] if windows else c.values["created"]))
        c.check_end()
        self.pages += 1
        return self.body(c, windows), self.new_stacks

    def body(self, c, windows):
        """Everything in the order that the content alone decides."""
        rows = sorted(self.rows, key=lambda r: (r["window"], r["stack"], r["pool"], r["facet"], r["object"]))
        seconds = sorted(self.seconds, key=lambda s: (s["window"], s["pool"], s["second"]))
        threads = sorted(self.window_threads, key=lambda t: (t["window"], t["os_tid"], t["java_tid"], t["name"], t["pool"]))
        words, ids, targets = {b"": 0}, {}, {}
        for index, one in enumerate(windows):
            mine = [row for row in rows if row["window"] == index]
            one.update({name: sum(row[name] for row in mine) for name in ("samples", "raw", "value")})
        for one in windows:
            one["target"] = targets.setdefault(one["target"], len(targets))
        people = [dict(self.targets[number]) for number in targets]
        for group, names in ((people, TEXTS), (windows, ["engine"]), (rows, ["pool", "object"]),
                             (seconds, ["pool"]), (threads, ["name", "pool"])):  # fmt: skip
            for one in group:
                one.update({name: words.setdefault(one[name], len(words)) for name in names})
        for row in rows:
            row["stack"] = ids.setdefault(row["stack"], len(ids))
        table = put_bytes(1, b"".join(words)) + put_packed(2, map(len, words))
        out = b"\x08\x01" + put_bytes(2, self.collector) + b"\x18" + put_varint(c.values["day"])
        out += b"\x21" + c.values["created"].to_bytes(8, "little") + put_bytes(5, table)
        groups = ((6, TARGET, people), (7, WINDOW, windows), (8, SAMPLE, rows), (9, SECOND, seconds), (10, THREAD, threads))
        out += b"".join(put_bytes(number, put_columns(names, group), always=True) for number, names, group in groups)
        return out + put_bytes(11, b"".join(ids))
