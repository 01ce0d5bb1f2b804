# SPDX-License-Identifier: Apache-2.0
"""A reader of packed flame graphs, version 3, made from docs/formats/flamegraph-packed.md: what a page holds, as plain lists."""
import json
import re

DIGITS = [chr(c) for c in range(0x23, 0x7F) if chr(c) not in "<\\"]
VALUE = {digit: value for value, digit in enumerate(DIGITS)}
ELEMENT = re.compile(r'<script type="application/json" id="hotstack-data">(.*?)</script>', re.DOTALL)
MASK = 0xFFFFFFFF


class Numbers:
    def __init__(self, text):
        self.digits = iter(text)

    def digit(self):
        return VALUE[next(self.digits)]

    def next(self):
        first = self.digit()
        if first < 70:
            return first
        if first < 85:
            return 70 + (first - 70) * 90 + self.digit()
        if first < 89:
            return 1420 + (first - 85) * 8100 + self.digit() * 90 + self.digit()
        value = 0
        for _ in range(self.digit()):
            value = value * 90 + self.digit()
        return value

    def at_end(self):
        return next(self.digits, None) is None


def frames_of(document):
    """(kind, class, method, line) of each frame."""
    classes = dict(zip(document.get("classes", [])[::2], document.get("classes", [])[1::2]))
    groups = list(zip(document["groups"][::2], document["groups"][1::2]))
    runs, group_of = Numbers(document["runs"]), []
    while len(group_of) < len(document["names"]):
        group = groups[runs.next()]
        group_of += [group] * (runs.next() + 1)
    assert runs.at_end()
    names = []
    for i, (name, (kind, library)) in enumerate(zip(document["names"], group_of, strict=True)):
        if kind > 0:
            names.append((kind, library, name))
        else:
            cls = classes.get(i, name.rpartition(".")[0])
            names.append((kind, cls, name[len(cls) + 1:] if cls else name))
    pairs = document.get("frames", [x for i in range(len(names)) for x in (i, 0)])
    return [(*names[name], line) for name, line in zip(pairs[::2], pairs[1::2])]


def nodes_of(profile, document):
    """(depth, frame or -1, self[, self before]) of each node, in preorder."""
    seen = 0
    for each in document["profiles"]:
        nodes, seen = tree_of(each, seen)
        if each is profile:
            return nodes
    raise AssertionError("the profile is not the document's")


def tree_of(profile, seen):
    """The nodes, and how many frames the trees until here have named: `seen` before this one."""
    numbers, compares = Numbers(profile["tree"]), profile.get("compares", False)
    foretold, last = {}, {}

    def value(leaf):
        code = numbers.next()
        if compares:
            return ((code - 1) * profile["scale"], (numbers.next() - 1) * profile["scale"])
        if code > 0:
            last[leaf] = code - 1
        return (last.get(leaf, 0) * profile["scale"],)
    nodes = [(0, -1, *value(None))]
    path = [-1]
    while len(nodes) < profile["nodes"]:
        up, fresh = numbers.next(), numbers.next()
        behind = path[len(path) - up] if up else -1
        del path[len(path) - up:]
        hits = -1
        for i in range(fresh):
            if hits < 0:
                hits = numbers.next()
            slot = ((path[-1] + 1) * 0x9E3779B1 + (behind + 1) * 0x85EBCA77 & MASK) >> 16
            code = foretold.get(slot, 0) if hits > 0 else numbers.next()
            frame = code - 1 if code else seen
            seen += code == 0
            hits -= 1
            foretold[slot] = frame + 1
            path.append(frame)
            behind = -1
            nodes.append((len(path) - 1, frame, 0, 0) if compares else (len(path) - 1, frame, 0))
        nodes[-1] = (*nodes[-1][:2], *value(path[-1]))
    assert numbers.at_end()
    return nodes, seen


def omitted_of(profile):
    """(node, value[, value before], nodes) of each omitted block."""
    numbers, node, rows = Numbers(profile.get("omitted", "")), -1, []
    for _ in range(profile.get("omitted_nodes", 0)):
        node += numbers.next()
        values = [numbers.next() * profile["scale"] for _ in range(2 if profile.get("compares") else 1)]
        rows.append((node, *values, numbers.next()))
    assert numbers.at_end()
    return rows


def cells_of(profile, document):
    """{bucket: {place: value}}; a place is a node, or behind the nodes an omitted block, or behind those what has no stack."""
    numbers, bucket, left, result = Numbers(profile["cells"]), 0, profile["cell_entries"], {}
    nodes, blocks = nodes_of(profile, document), len(omitted_of(profile))
    places = [i for i, (_, _, value) in enumerate(nodes) if value > 0] + list(range(len(nodes), len(nodes) + blocks + 1))
    while left > 0:
        bucket += numbers.next()
        stack, row = 0, {}
        for _ in range(numbers.next()):
            stack += numbers.next()
            row[places[stack]] = numbers.next() * profile["scale"]
            stack += 1
        left -= len(row)
        assert row and bucket < profile["buckets"]
        result[bucket] = row
        bucket += 1
    assert left == 0 and numbers.at_end()
    return result


def page_document(page):
    """The document's first line, with the names of the others in it."""
    first, *lines = ELEMENT.search(page)[1].split("\n")
    return json.loads(first) | {"names": [json.loads(f'"{line}"') for line in lines]}


def picture(page):
    """By type: unit, exact totals, nodes with their frames, and omitted blocks."""
    document = page_document(page)
    frames = frames_of(document)
    return {p["type"]: {
        "unit": p["unit"], "raw_total": p["raw_total"], "value_total": p["value_total"], "samples": p["samples"],
        "nodes": [(depth, frames[frame] if frame >= 0 else None, *values) for depth, frame, *values in nodes_of(p, document)],
        "omitted": omitted_of(p),
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
