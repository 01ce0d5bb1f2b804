# SPDX-License-Identifier: Apache-2.0
"""The ingest contract's wire form, by hand: protobuf's varints and fields, packed columns, zstd.

Knows no protobuf library: the contract's messages are few, and a second reading of the wire form is
worth having in a test.
"""

import ctypes
import ctypes.util
import struct


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


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXH.XXH3_128bits.restype = Hash128


def xxh3_128(data):
    """Returns the digest of a body, in canonical form."""
    got = XXH.XXH3_128bits(data, ctypes.c_size_t(len(data)))
    return got.high.to_bytes(8, "big") + got.low.to_bytes(8, "big")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def put_varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def fields(data):
    """Returns {field number: value}; a number that occurs twice breaks the contract's wire form."""
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


def put_bytes(number, value, always=False):
    return put_varint(number << 3 | 2) + put_varint(len(value)) + value if value or always else b""


def packed(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def put_packed(number, values):
    return put_bytes(number, b"".join(map(put_varint, values)))


def columns(data, names):
    """Returns a group of packed columns, all of one length, as a list of dicts."""
    got = {names[n]: packed(v) for n, v in fields(data).items() if n in names}
    count = max((len(v) for v in got.values()), default=0)
    assert all(len(v) == count for v in got.values()), f"columns differ in length: {got.keys()}"
    assert count == 0 or len(got) == len(names), f"a column is missing of {list(names.values())}"
    return [dict(zip(got, row)) for row in zip(*got.values())]


def put_columns(names, rows):
    """Packs a list of dicts into columns; a column of no rows is left out."""
    return b"".join(put_packed(number, [row[name] for row in rows]) for number, name in names.items())


def strings(data):
    got = fields(data)
    lengths, blob, out, at = packed(got.get(2, b"")), got.get(1, b""), [], 0
    for length in lengths:
        out.append(blob[at : at + length].decode("utf-8"))
        at += length
    assert at == len(blob) and out and out[0] == "", "bad string table"
    return out


def named(names):
    return dict(enumerate(names.split(), 1))


SUMS = "raw_amount amount raw_count count"
WINDOW = named(f"target source start length covered engine interval {SUMS} truncated_amount truncated_count "
               "dropped_amount dropped_count dropped_stacks lost reason")  # fmt: skip
SAMPLE = named(f"window pool stack {SUMS} facet object")
SECOND = named("window pool second amount count")
THREAD = named(f"window os_tid java_tid name pool {SUMS}")
TARGET = named("namespace kind workload pod container pod_uid container_id boot_id pid "
               "ns_pid start_ticks start version vendor main_class app image service")  # fmt: skip
