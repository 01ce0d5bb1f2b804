# SPDX-License-Identifier: Apache-2.0
"""Lists of rows that show themselves as tables."""

from __future__ import annotations

import datetime
import html
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_SHOWN = 30
_WIDTH = 60
_SPANS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


def _scaled(value: int, units: tuple[tuple[int, str], ...]) -> str:
    for size, unit in units:
        if abs(value) >= size:
            return f"{value / size:.4g} {unit}"
    return f"0 {units[-1][1]}"


def _time(value: int) -> str:
    """Nanoseconds since 1970 UTC; a time of more than four digits in its year stays a number."""
    try:
        second = datetime.datetime.fromtimestamp(value // 1_000_000_000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return str(value)
    return f"{second:%Y-%m-%d %H:%M:%S}.{value % 1_000_000_000 // 1000:06d}"


def printable(text: str) -> str:
    """A text that a terminal shows and does not obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _cell(value: Any, kind: str) -> str:
    if value is None:
        return ""
    if kind.startswith("timestamp"):
        return _time(value)
    if kind in ("duration[ns]", "ns"):
        return _scaled(value, _SPANS)
    if kind == "bytes":
        return _scaled(value, _SIZES)
    if kind == "share":
        return f"{value:.2%}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = printable(str(value))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


class Rows(list[T]):
    """A list of rows, which prints as a table and shows itself as one in Jupyter; long ones are cut there.

    >>> import hotstack
    >>> hotstack.open(example).top("cpu", limit=1)
    name              kind    self   total
    Workload.burnCpu  java  700 ms  700 ms
    """

    def __init__(self, rows: Iterable[T], kinds: Mapping[str, str]) -> None:
        """For the use of the package: `kinds` are the columns that are shown, and what each holds."""
        super().__init__(rows)
        self._kinds = dict(kinds)

    def _cells(self) -> list[list[str]]:
        shown = []
        for row in self[:_SHOWN]:
            values = row if isinstance(row, dict) else {name: getattr(row, name) for name in self._kinds}
            shown.append([_cell(values[name], kind) for name, kind in self._kinds.items()])
        return shown

    def _rest(self) -> str:
        return f"... {len(self) - _SHOWN} more" if len(self) > _SHOWN else ""

    def __repr__(self) -> str:
        """The table as text."""
        lines = [list(self._kinds), *self._cells()]
        right = [kind not in ("text", "bool") for kind in self._kinds.values()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = [
            "  ".join(
                cell.rjust(width) if is_right else cell.ljust(width)
                for cell, width, is_right in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*texts, self._rest()]).rstrip("\n")

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._kinds)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>" for line in self._cells()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{self._rest()}"
