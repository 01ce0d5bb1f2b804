# SPDX-License-Identifier: Apache-2.0
"""What changed between two profiles."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING, NamedTuple

from . import _native, _template
from ._flamegraph import in_frame
from ._rows import Rows, printable

if TYPE_CHECKING:
    from ._profile import Profile

_BILLION = 1_000_000_000
_SHOWN = {"name": "text", **dict.fromkeys(("before_share", "after_share", "change", "low", "high"), "share")}


class Change(NamedTuple):
    """How much of its type a method used itself, before and after. Shares are of the type's total: 0 to 1."""

    name: str
    class_name: str
    method: str
    kind: str
    before: int
    after: int
    before_share: float
    after_share: float
    change: float
    """`after_share` less `before_share`."""
    low: float | None
    """With 99 % probability the change lies between `low` and `high` (bootstrap over windows of 1 s); None when
    there were fewer than 5 windows on a side."""
    high: float | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval tells the change from chance."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def _change_of(row: _native._ChangeRow) -> Change:
    (class_name, method, kind, _), before, after, before_share, after_share, low, high = row
    return Change(
        name=f"{class_name}.{method}" if class_name else method,
        class_name=class_name,
        method=method,
        kind=kind,
        before=before,
        after=after,
        before_share=before_share / _BILLION,
        after_share=after_share / _BILLION,
        change=(after_share - before_share) / _BILLION,
        low=None if low is None else low / _BILLION,
        high=None if high is None else high / _BILLION,
    )


class Diff:
    """A comparison of two profiles, of each type that both have. Shows itself in Jupyter.

    >>> import hotstack
    >>> recording = hotstack.open(example)
    >>> diff = recording.diff(recording, "cpu")
    >>> diff.types, diff.changes()[0].change, diff.regressions()
    (['cpu'], 0.0, [])
    """

    def __init__(
        self,
        before: Profile,
        after: Profile,
        types: list[str],
        lines: bool,
        max_nodes: int,
        min_share: float,
    ) -> None:
        """For the use of `Profile.diff`."""
        first, second = before._windowed(), after._windowed()
        self._title = f"{after.name}, compared with {before.name}"
        self._meta = after._aggregate().meta(printable(self._title), before._aggregate())
        self._diffs = {
            name: _native.diff(first, second, name, lines, max_nodes, int(min_share * _BILLION))
            for name in types
        }
        self._changes: dict[str, list[Change]] = {}

    @property
    def types(self) -> list[str]:
        """The profile types that were compared."""
        return list(self._diffs)

    def changes(self, type: str | None = None, limit: int | None = None) -> Rows[Change]:
        """Methods of a type (the first by default), the greatest change first."""
        name = type if type is not None else self.types[0]
        if name not in self._diffs:
            raise _native.UsageError(f"{', '.join(self._diffs)} were compared, not '{name}'.")
        if name not in self._changes:
            self._changes[name] = [_change_of(row) for row in self._diffs[name].changes()]
        return Rows(self._changes[name][:limit], _SHOWN)

    def regressions(self, growth: float = 0.05) -> list[tuple[str, Change]]:
        """Methods whose share of their type grew by more than `growth`, and not by chance, with their types: what
        `hotstack diff --fail-on '+5% self'` fails on."""
        return [
            (name, change)
            for name in self._diffs
            for change in self.changes(name)
            if change.change > growth and (change.low is None or change.low > 0)
        ]

    def to_html(self) -> bytes:
        """One self-contained page, coloured by change."""
        return _native.diffs_html(_template.read(), tuple(self._diffs.values()), self._meta)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        pathlib.Path(path).write_bytes(self.to_html())

    def _repr_html_(self) -> str:
        return in_frame(self.to_html(), self._title)

    def __repr__(self) -> str:
        """What was compared."""
        return f"<Diff {self._title}: {', '.join(self._diffs)}>"
