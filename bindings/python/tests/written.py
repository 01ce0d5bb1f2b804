# SPDX-License-Identifier: Apache-2.0
"""Writes small recordings, byte by byte, of event types that no JVM at hand records."""

import struct

from support import HEADER

_FIRST_ID = 100
_SIMPLE = ("long", "int", "double", "java.lang.String")
START = ("startTime", "long")


def _number(value, width=0):
    """LEB128, of at least `width` bytes."""
    out = bytearray()
    while value >= 0x80 or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def _text(text):
    data = text.encode("utf-8")
    return b"\x03" + _number(len(data)) + data


def _event(type_id, body):
    head = _number(type_id)
    return _number(4 + len(head) + len(body), 4) + head + body


def _value(kind, value):
    if kind == "java.lang.String":
        return b"\x00" if value is None else _text(value)
    if kind == "double":
        return struct.pack(">d", value)
    if isinstance(value, (list, tuple)):  # of a struct
        return b"".join(_value(*pair) for pair in value)
    return _number(value)


class _Strings:
    def __init__(self):
        self.known = {}

    def at(self, text):
        return _number(self.known.setdefault(text, len(self.known)))


def _element(strings, name, attributes, children=()):
    pairs = b"".join(strings.at(key) + strings.at(value) for key, value in attributes.items())
    return strings.at(name) + _number(len(attributes)) + pairs + _number(len(children)) + b"".join(children)


def _class(strings, ids, name, fields):
    super_type = {"superType": "jdk.jfr.Event"} if fields[:1] == [START] or name.startswith("event.") else {}
    children = []
    for field, kind, *pool in fields:
        attributes = {"name": field, "class": ids[kind], **({"constantPool": "true"} if pool else {})}
        children.append(_element(strings, "field", attributes))
    return _element(strings, "class", {"name": name, "id": ids[name], **super_type}, children)


def chunk(types, events=()):
    """One chunk. `types`: the fields, (name, type) each, or (name, type, True) of constants, by the type's name; event types
    are those that begin with START, or whose name begins with "event.". `events`: (type's name, values in order); the values of a struct are a list of
    (type, value)."""
    every = {**{name: [] for name in _SIMPLE}, **types}
    ids = {name: str(_FIRST_ID + at) for at, name in enumerate(every)}
    strings = _Strings()
    classes = [_class(strings, ids, name, list(fields)) for name, fields in every.items()]
    tree = _element(strings, "root", {}, [_element(strings, "metadata", {}, classes), _element(strings, "region", {})])
    texts = _number(len(strings.known)) + b"".join(map(_text, strings.known))
    out = bytearray(HEADER.size)
    for name, values in events:
        body = b"".join(_value(field[1], value) for field, value in zip(every[name], values, strict=True))
        out += _event(int(ids[name]), body)
    checkpoint = len(out)
    out += _event(1, _number(0) * 3 + _number(1) + _number(0))
    metadata = len(out)
    out += _event(0, _number(0) * 2 + _number(1) + texts + tree)
    second = 10**9
    HEADER.pack_into(out, 0, b"FLR\0", 2, 1, len(out), checkpoint, metadata, second, second, 0, second, 1)
    return bytes(out)
