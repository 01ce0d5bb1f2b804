# SPDX-License-Identifier: Apache-2.0
"""A reader of packed flame graphs, version 4, made from docs/formats/flamegraph-packed.md: what a page holds, as plain lists."""
import json
import re

DIGITS = [chr(c) for c in range(0x23, 0x7F) if chr(c) not in "<\\"]
VALUE = {digit: value for value, digit in enumerate(DIGITS)}
ELEMENT = re.compile(r'<script type="application/json" id="hotstack-data">(.*?)</script>', re.DOTALL)
MASK = 0xFFFFFFFF
LEAST = 90**3
FACTS = "title generator engine java_args jvm_version start_ms end_ms intervals loss notes".split()
PLAIN, GROUP, UP, SELF, BEFORE, GAP, CUT_VALUE, CUT_BEFORE, CUT_NODES = 0, 1, 4, 5, 6, 7, 8, 9, 10


class Numbers:
    def __init__(self, text):
        self.text, self.at = text, 0
        self.places = {}
        self.range, self.code = 90 * LEAST, 0
        for _ in range(4):
            self.shift()

    def shift(self):
        self.code = self.code * 90 + (VALUE[self.text[self.at]] if self.at < len(self.text) else 0)
        self.at += 1

    def bit(self, place):
        odds, met = self.places.get(place, (4096, 3))
        pace = met.bit_length() - 1
        bound = self.range // 8192 * odds
        if self.code < bound:
            bit, self.range, odds = 0, bound, odds + (8192 - odds >> pace)
        else:
            bit, self.range, self.code, odds = 1, self.range - bound, self.code - bound, odds - (odds >> pace)
        self.places[place] = odds, min(met + 1, 32)
        self.fit()
        return bit

    def fit(self):
        while self.range < LEAST:
            self.range *= 90
            self.shift()

    def plain(self, value, left):
        while left > 0:
            count = min(left, 12)
            self.range >>= count
            bits, self.code = divmod(self.code, self.range)
            assert bits < 1 << count
            self.fit()
            value, left = (value << count) + bits, left - count
        return value

    def below(self, end):
        return self.plain(0, max(end - 1, 0).bit_length())

    def next(self, context):
        fours = 0
        while self.bit((context, "fours", fours)):
            fours += 1
        high = self.bit((context, "high", fours))
        left = size = 4 * fours + 2 * high + self.bit((context, "low", fours, high))
        value = 1
        while left > max(size - 3, 0):
            value, left = 2 * value + self.bit((context, size, value)), left - 1
        return self.plain(value, left) - 1

    def at_end(self):
        return len(self.text) <= self.at < len(self.text) + 4


def look_of(name):
    return 2 if "::" in name else 1 if "." in name else 0


def names_of(document, lines, numbers):
    """(kind, class, method) of each name."""
    classes = dict(zip(document.get("classes", [])[::2], document.get("classes", [])[1::2]))
    kinds = [numbers.next(PLAIN) for _ in range(numbers.next(PLAIN))]
    libraries = iter(lines)
    groups = [(kind, next(libraries) if kind > 0 else "") for kind in kinds]
    whole, at = list(libraries), -1
    texts = whole.copy()
    for _ in range(numbers.next(PLAIN)):
        at += numbers.next(PLAIN)
        host, before, behind = whole[numbers.next(PLAIN)], numbers.next(PLAIN), numbers.next(PLAIN)
        texts.insert(at, host[before:len(host) - behind])
    names, count = [], numbers.next(PLAIN)
    for i, name in enumerate(texts):
        kind, library = groups[numbers.next(GROUP + look_of(name))]
        if kind > 0:
            names.append((kind, library, name))
        else:
            cls = classes.get(i, name.rpartition(".")[0])
            names.append((kind, cls, name[len(cls) + 1:] if cls else name))
    assert len(names) == count
    return names


class Trees:
    """Reads the trees of all profiles, one after the other."""

    def __init__(self, numbers):
        self.numbers, self.seen, self.foretold, self.ended = numbers, 0, {}, {}

    def frame(self, parent, behind):
        slot = ((parent + 1) * 0x9E3779B1 + (behind + 1) * 0x85EBCA77 & MASK) >> 16
        foretold = self.foretold.get(slot, 0)
        if not self.numbers.bit(("foretold", foretold > 0)):
            frame = foretold - 1 if foretold else self.seen
        else:
            frame = self.seen if self.numbers.bit("new") else self.numbers.below(self.seen)
        self.seen += frame == self.seen
        self.foretold[slot] = frame + 1
        return frame

    def ends(self, frame):
        self.ended[frame] = self.numbers.bit(("end", self.ended.get(frame, 0)))
        return self.ended[frame]

    def values(self, profile, *contexts):
        return tuple(self.numbers.next(context) * profile["scale"] for context in contexts[:2 if profile.get("compares") else 1])

    def read(self, profile):
        count, profile["scale"] = self.numbers.next(PLAIN), self.numbers.next(PLAIN)
        nodes, path = [(0, -1, *self.values(profile, SELF, BEFORE))], [-1]
        none = (0, 0) if profile.get("compares") else (0,)
        while len(nodes) < count:
            up = self.numbers.next(UP)
            behind = path[len(path) - up] if up else -1
            del path[len(path) - up:]
            ended = 0
            while not ended:
                path.append(self.frame(path[-1], behind))
                nodes.append((len(path) - 1, path[-1], *none))
                behind, ended = -1, self.ends(path[-1])
            nodes[-1] = (*nodes[-1][:2], *self.values(profile, SELF, BEFORE))
        profile["nodes"], profile["omitted"] = nodes, list(self.omitted(profile))

    def omitted(self, profile):
        node = -1
        for _ in range(self.numbers.next(PLAIN)):
            node += self.numbers.next(GAP)
            yield (node, *self.values(profile, CUT_VALUE, CUT_BEFORE), self.numbers.next(CUT_NODES))


def unpack(document, lines):
    """Adds to the document names for what "meta" says, its frames, (kind, class, method, line) each, and to each profile "scale", "nodes": (depth, frame or -1, self[, self
    before]) each, in preorder, "omitted": (node, value[, value before], nodes) each, and the totals that it leaves out."""
    numbers = Numbers(document["data"])
    names = names_of(document, lines, numbers)
    pairs = document.get("frames", [x for i in range(len(names)) for x in (i, 0)])
    document["frames"] = [(*names[name], line) for name, line in zip(pairs[::2], pairs[1::2])]
    trees = Trees(numbers)
    for profile in document["profiles"]:
        trees.read(profile)
        total = sum(node[2] for node in profile["nodes"]) + sum(block[1] for block in profile["omitted"])
        profile.setdefault("unit", "ns")
        profile.setdefault("value_total", str(total))
        profile.setdefault("raw_total", profile["value_total"])
        profile.setdefault("samples", total // profile["scale"])
    assert numbers.at_end()
    document["meta"] = {name: fact for name, fact in zip(FACTS, document.get("meta", [])) if fact != 0}
    return document


def cells_of(profile):
    """{bucket: {place: value}}; a place is a node, or behind the nodes an omitted block, or behind those what has no stack."""
    numbers, bucket, result = Numbers(profile["cells"]), 0, {}
    left, scale = numbers.next(PLAIN), numbers.next(PLAIN)
    nodes, blocks = profile["nodes"], len(profile["omitted"])
    places = [i for i, (_, _, value) in enumerate(nodes) if value > 0] + list(range(len(nodes), len(nodes) + blocks + 1))
    while left > 0:
        bucket += numbers.next(1)
        stack, row = 0, {}
        for _ in range(numbers.next(2)):
            stack += numbers.next(3)
            row[places[stack]] = numbers.next(4) * scale
            stack += 1
        left -= len(row)
        assert row and bucket < profile["buckets"]
        result[bucket] = row
        bucket += 1
    assert left == 0 and numbers.at_end()
    return result


def page_document(page):
    """The document of a page, unpacked."""
    first, *lines = ELEMENT.search(page)[1].split("\n")
    return unpack(json.loads(first), [json.loads(f'"{line}"') for line in lines])


def picture(page):
    """By type: unit, exact totals, nodes with their frames, and omitted blocks."""
    document = page_document(page)
    frames = document["frames"]
    return {p["type"]: {
        "unit": p["unit"], "raw_total": p["raw_total"], "value_total": p["value_total"], "samples": p["samples"],
        "nodes": [(depth, frames[frame] if frame >= 0 else None, *values) for depth, frame, *values in p["nodes"]],
        "omitted": p["omitted"],
    } for p in document["profiles"]}


def picture_of_json(document):
    """The same of flame graph JSON, version 1."""
    strings = document["strings"]

    def profile(p):
        f, n, o = p["frames"], p["nodes"], p["omitted"]
        frames = [(kind, strings[cls], strings[method], line) for kind, cls, method, line in
                  zip(f["kind"], f["class"], f["method"], f["line"])]
        return {"unit": p["unit"], "raw_total": p["raw_total"], "value_total": p["value_total"], "samples": p["samples"],
                "nodes": [(depth, frames[frame] if frame >= 0 else None, self) for depth, frame, self in
                          zip(n["depth"], n["frame"], n["self"])],
                "omitted": list(zip(o["node"], o["total"], o["count"]))}
    return {p["type"]: profile(p) for p in document["profiles"]}
