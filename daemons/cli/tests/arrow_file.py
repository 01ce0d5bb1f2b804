# SPDX-License-Identifier: Apache-2.0
"""A reader of Arrow IPC files, written from the format's description: what `hotstack convert -o x.arrow` must hold to. It knows the
types that are used there, checks alignment, lengths and the footer, and gives columns as lists."""
import struct

SCHEMA, DICTIONARY, BATCH = 1, 2, 3
INT, UTF8, LIST, FIXED_BINARY = 2, 5, 12, 15


class Table:
    """A FlatBuffers table: fields by slot."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.list = at - struct.unpack_from("<i", data, at)[0]
        self.slots = struct.unpack_from("<H", data, self.list)[0] // 2 - 2

    def place(self, slot):
        offset = struct.unpack_from("<H", self.data, self.list + 4 + 2 * slot)[0] if slot < self.slots else 0
        return self.at + offset if offset else None

    def number(self, slot, form, default=0):
        at = self.place(slot)
        if at is None:
            return default
        assert at % struct.calcsize(form) == 0, "a field is not aligned"
        return struct.unpack_from("<" + form, self.data, at)[0]

    def follow(self, at):
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, slot):
        return Table(self.data, self.follow(self.place(slot)))

    def text(self, slot):
        at = self.follow(self.place(slot))
        size = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + size] == 0
        return self.data[at + 4:at + 4 + size].decode()

    def tables(self, slot):
        at = self.follow(self.place(slot))
        count = struct.unpack_from("<I", self.data, at)[0]
        return [Table(self.data, self.follow(at + 4 + 4 * i)) for i in range(count)]

    def structs(self, slot, form):
        at = self.follow(self.place(slot))
        count, size = struct.unpack_from("<I", self.data, at)[0], struct.calcsize("<" + form)
        assert (at + 4) % 8 == 0, "a vector of structs is not aligned"
        return [struct.unpack_from("<" + form, self.data, at + 4 + size * i) for i in range(count)]


def root(data):
    return Table(data, struct.unpack_from("<I", data, 0)[0])


class Body:
    """The columns of a record batch, taken in the order of its fields."""

    def __init__(self, batch, data):
        self.rows = batch.number(0, "q")
        self.nodes = iter(batch.structs(1, "qq"))
        self.buffers, end = [], 0
        for offset, length in batch.structs(2, "qq"):
            assert offset % 8 == 0 and offset >= end and offset + length <= len(data), "a buffer lies wrong"
            end = offset + length
            self.buffers.append(data[offset:offset + length])
        self.next = iter(self.buffers)

    def numbers(self, form, count):
        data = next(self.next)
        assert len(data) == struct.calcsize("<" + form) * count, "a buffer has another length"
        return list(struct.unpack(f"<{count}{form}", data))

    def column(self, field, names):
        length, nulls = next(self.nodes)
        assert nulls == 0 and next(self.next) == b""
        kind, dictionary = field.number(2, "B"), field.place(4)
        if dictionary is not None:
            return [names[index] for index in self.numbers("i", length)]
        if kind == INT:
            bits, signed = field.table(3).number(0, "i"), field.table(3).number(1, "B")
            return self.numbers({(64, 0): "Q", (32, 1): "i"}[bits, signed], length)
        if kind == FIXED_BINARY:
            width, data = field.table(3).number(0, "i"), next(self.next)
            assert len(data) == width * length
            return [data[i:i + width] for i in range(0, len(data), width)]
        ends = self.numbers("i", length + 1)
        assert ends[0] == 0 and ends == sorted(ends)
        values = next(self.next) if kind == UTF8 else self.column(field.tables(5)[0], names)
        assert len(values) == ends[-1]
        parts = [values[a:b] for a, b in zip(ends, ends[1:])]
        return [part.decode() for part in parts] if kind == UTF8 else parts


def message(data, at):
    """Kind, header and body of the message at a place, and where the next one is."""
    mark, size = struct.unpack_from("<II", data, at)
    assert mark == 0xFFFFFFFF and at % 8 == 0 and (size + 8) % 8 == 0
    head = root(data[at + 8:at + 8 + size])
    body = at + 8 + size
    end = body + head.number(3, "q")
    assert head.number(0, "h") == 4 and end % 8 == 0
    return head.number(1, "B"), head.table(2), data[body:end], end


def read(data):
    """Columns by name."""
    assert data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1"
    size = struct.unpack_from("<I", data, len(data) - 10)[0]
    footer = root(data[-10 - size:-10])
    places = [block[0] for slot in (2, 3) for block in footer.structs(slot, "qii q".replace(" ", ""))]
    at, names, table, seen = 8, None, {}, []
    while struct.unpack_from("<II", data, at) != (0xFFFFFFFF, 0):
        kind, header, body, end = message(data, at)
        if kind == SCHEMA:
            fields = header.tables(1)
            table = {field.text(0): [] for field in fields}
            assert [field.text(0) for field in footer.table(1).tables(1)] == list(table)
        elif kind == DICTIONARY:
            batch = Body(header.table(1), body)
            length, nulls = next(batch.nodes)
            ends = (next(batch.next), batch.numbers("i", length + 1))[1]
            text = next(batch.next)
            names = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
            assert len(set(names)) == len(names) and nulls == 0
            seen.append(at)
        else:
            batch = Body(header, body)
            for field in fields:
                column = batch.column(field, names)
                assert len(column) == batch.rows
                table[field.text(0)] += column
            seen.append(at)
        at = end
    assert seen == places, "the footer names other places"
    return table
