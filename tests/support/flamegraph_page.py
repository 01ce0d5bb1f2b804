# SPDX-License-Identifier: Apache-2.0
"""A reader of flame graph JSON, version 2, made from docs/formats/flamegraph-json.md: documents, and the pages that hold them."""
import base64
import json
import re
import zlib

ELEMENT = re.compile(r'<script type="application/json" id="hotstack-data">(.*?)</script>', re.DOTALL)


def add_totals(profile):
    """Adds the values that follow from the other columns: nodes["total"] and the profile's "total"."""
    nodes, omitted = profile["nodes"], profile["omitted"]
    totals, path, parents = list(nodes["self"]), [], []
    for i, depth in enumerate(nodes["depth"]):
        assert (depth == 0) == (i == 0) and depth <= len(path), f"node {i} has depth {depth}"
        path[depth:] = [i]
        parents.append(path[depth - 1] if depth > 0 else None)
    for node, total in zip(omitted["node"], omitted["total"], strict=True):
        totals[node] += total
    for i in range(len(totals) - 1, 0, -1):
        totals[parents[i]] += totals[i]
    nodes["total"], profile["total"] = totals, totals[0]


def read(text):
    """A document; each profile has the document's "frames", too, and its totals."""
    document = json.loads(text)
    assert document["version"] == 2
    for profile in document["profiles"]:
        profile["frames"] = document["frames"]
        add_totals(profile)
    return document


def of_page(page):
    """Returns the document of a page."""
    data = ELEMENT.search(page)[1]
    return read(data if data.startswith("{") else zlib.decompress(base64.b64decode(data, validate=True)))


def cells_of(profile):
    """{bucket: {place: value}}; a place is a node, or behind the nodes an omitted block, or behind those what has no stack."""
    heat, result, bucket = profile["heat"], {}, 0
    cells, nodes = heat["cells"], profile["nodes"]["self"]
    places = [i for i, value in enumerate(nodes) if value > 0] + list(range(len(nodes), len(nodes) + len(profile["omitted"]["node"]) + 1))
    for skipped, stack, value in zip(cells["bucket"], cells["stack"], cells["value"], strict=True):
        bucket += skipped
        assert bucket < heat["buckets"] and places[stack] not in result.get(bucket, {})
        result.setdefault(bucket, {})[places[stack]] = value
    return result


def picture(document):
    """Returns by type: unit, exact totals, nodes with their frames, and omitted blocks."""
    strings, f = document["strings"], document["frames"]
    frames = [(kind, strings[cls], strings[method], line) for kind, cls, method, line in zip(f["kind"], f["class"], f["method"], f["line"], strict=True)]

    def columns(table, *names):
        return list(zip(*(table[name] for name in names if name in table), strict=True))

    return {p["type"]: {
        **{key: p[key] for key in ("unit", "raw_total", "value_total", "samples")},
        "nodes": [(depth, frames[frame] if frame >= 0 else None, *values) for depth, frame, *values in columns(p["nodes"], "depth", "frame", "self", "before")],
        "omitted": columns(p["omitted"], "node", "total", "before", "count"),
    } for p in document["profiles"]}
