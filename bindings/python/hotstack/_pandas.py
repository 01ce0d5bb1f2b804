# SPDX-License-Identifier: Apache-2.0
"""Columns in C's memory as a DataFrame, without a copy of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas

_WIDTHS = {"int64": "int64", "uint64": "uint64", "float64": "float64"}
_CODES = {1: "int8", 2: "int16", 4: "int32"}


def _bits(memory: memoryview, rows: int) -> Any:
    """A bitmap as an array of bool."""
    import numpy

    bits = numpy.frombuffer(memory, dtype="uint8")
    return numpy.unpackbits(bits, count=rows, bitorder="little").view(bool)


def _text(codes: memoryview, words: list[str], rows: int) -> Any:
    import numpy
    import pandas

    numbers = numpy.frombuffer(codes, dtype=_CODES[len(codes) // rows])
    return pandas.Categorical.from_codes(numbers, categories=pandas.Index(words, dtype=str))


def _times(values: Any, kind: str) -> Any:
    """Nanoseconds since 1970, or long; the least number is none."""
    import pandas

    if kind == "duration[ns]":
        return values.view("timedelta64[ns]")
    return pandas.DatetimeIndex(values.view("datetime64[ns]"), tz="UTC")


def _numbers(values: Any, absent: Any, kind: str) -> Any:
    """Rows without a value make numbers floats, and flags objects, as pyarrow has them."""
    import numpy

    if absent is None:
        return values
    if kind == "bool":
        values = values.astype(object)
        values[absent] = None
        return values
    values = values.astype("float64", copy=False)
    values[absent] = numpy.nan
    return values


def _column(kind: str, column: _native._Column, rows: int) -> Any:
    import numpy

    memory, validity, words = column
    if words is not None:
        return _text(memory, words, rows)
    absent = None if validity is None else ~_bits(validity, rows)
    if kind == "bool":
        return _numbers(_bits(memory, rows), absent, kind)
    values = numpy.frombuffer(memory, dtype=_WIDTHS.get(kind, "int64"))
    if kind in _WIDTHS:
        return _numbers(values, absent, kind)
    if absent is not None:
        values[absent] = numpy.iinfo("int64").min
    return _times(values, kind)


def _nothing(kind: str) -> Any:
    """A column without rows."""
    import numpy
    import pandas

    if kind == "text":
        return pandas.Categorical.from_codes([], categories=pandas.Index([], dtype=str))
    if kind in ("bool", *_WIDTHS):
        return numpy.empty(0, dtype=kind)
    return _times(numpy.empty(0, dtype="int64"), kind)


def frame(columns: dict[str, str], rows: int, parts: list[_native._Column]) -> pandas.DataFrame:
    """What was gathered as a pandas.DataFrame, which takes its memory over."""
    import pandas

    if not columns:
        return pandas.DataFrame(index=pandas.RangeIndex(rows))
    if rows == 0:
        made = [_nothing(kind) for kind in columns.values()]
    else:
        pairs = zip(columns.values(), parts, strict=True)
        made = [_column(kind, part, rows) for kind, part in pairs]
    return pandas.DataFrame(dict(zip(columns, made, strict=True)), copy=False)
