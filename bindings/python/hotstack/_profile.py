# SPDX-License-Identifier: Apache-2.0
"""Samples added up: totals, top methods, threads, times, flame graphs, comparisons."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from . import _native
from ._diff import Diff
from ._flamegraph import FlameGraph
from ._progress import Progress
from ._rows import Rows, printable

_STATES = {"unknown": 0, "runnable": 1, "sleeping": 2, "native": 3}
_BY_THREAD, _BY_NONE = 0, 2

ThreadFilter = str | re.Pattern[str] | Callable[[str], bool] | None


def names(wanted: Iterable[str]) -> list[str]:
    """A list of names; one alone is a list of it, not of its letters."""
    return [wanted] if isinstance(wanted, str) else list(wanted)


def known_names(wanted: Iterable[str], known: Collection[str], what: str) -> list[str]:
    """`names`, each of them one of `known`."""
    found = names(wanted)
    for name in found:
        if name not in known:
            raise _native.UsageError(f"There is no {what} '{name}': use {', '.join(known)}.")
    return found


def loss_text(chunks_lost: int, chunks_partial: int, bytes_lost: int) -> str:
    """What was lost, in words; empty for nothing."""
    facts = [
        (chunks_lost, "chunks could not be read"),
        (chunks_partial, "chunks were read only in part"),
        (bytes_lost, "bytes were not read"),
    ]
    return ", ".join(f"{count} {what}" for count, what in facts if count)


def unread_texts(unread: dict[str, int]) -> list[str]:
    """A sentence on each type of events that look like samples and are in no profile."""
    return [
        f"{count} events of {printable(name)} have a stack as samples do, but are in no profile"
        for name, count in unread.items()
    ]


def _check_cut(max_nodes: int, min_share: float) -> None:
    if not 0 <= max_nodes < 2**32:
        raise _native.UsageError(f"max_nodes is a number of nodes, or 0 for all, not {max_nodes}.")
    if not 0 <= min_share <= 1:
        raise _native.UsageError(f"min_share is a share, from 0 to 1, not {min_share}.")


def _thread_filter(wanted: ThreadFilter) -> Callable[[str, str], Any] | None:
    if wanted is None:
        return None
    if callable(wanted):
        function = wanted
        return lambda name, pool: function(name)
    if isinstance(wanted, str):
        return lambda name, pool: name == wanted
    pattern = wanted
    return lambda name, pool: pattern.search(name) is not None


class Totals(NamedTuple):
    """What a profile holds of one type."""

    unit: str
    """ "ns", "bytes" or "count"."""
    events: int
    raw_value: int
    """As recorded."""
    value: int
    """The estimate: what to show."""
    stacks: int
    """How many distinct stacks."""


class TopRow(NamedTuple):
    """One method of a top table."""

    name: str
    class_name: str
    method: str
    kind: str
    self: int
    """The value of stacks that end in it."""
    total: int
    """The value of stacks it is in, recursion counted once."""


class ThreadRow(NamedTuple):
    """What one thread used."""

    thread: str
    pool: str
    """The name with its counting digits folded: "http-nio-8080-exec-#"."""
    os_tid: int | None
    java_tid: int | None
    value: int
    samples: int


class TimelineRow(NamedTuple):
    """One bucket of a timeline."""

    time: int
    """Where it begins: nanoseconds since 1970 UTC."""
    type: str
    pool: str
    """Empty unless pools were asked for."""
    value: int


class LossWarning(UserWarning):
    """Some of a recording could not be read, or says nothing of what was asked. The rest was read and is right."""


class Profile:
    """The samples of a recording, all or those that were selected, added up by type, thread and stack.

    A `Recording` is one; `Recording.select` makes others. Values are the estimates of the catalogue: CPU and lock
    times in nanoseconds, allocation in bytes.
    """

    def __init__(
        self, inputs: _native.Inputs, name: str, progress: Progress | None, options: dict[str, Any]
    ) -> None:
        """For the use of `Recording`."""
        self._held: _native.Inputs | None = inputs
        self._size = inputs.size()
        self._name = name
        self._progress = progress
        self._options = options
        self._built: _native.Aggregate | None = None
        self._told: list[str] = []

    @property
    def name(self) -> str:
        """What it was opened on, for titles."""
        return self._name

    # ---- what others build on ----

    @property
    def _inputs(self) -> _native.Inputs:
        if self._held is None:
            raise _native.UsageError(f"{self._name} is closed: open it again.")
        return self._held

    def _gather(self, **more: Any) -> _native.Aggregate:
        return self._inputs.aggregate(progress=self._progress, **{**self._options, **more})

    def _aggregate(self) -> _native.Aggregate:
        if self._built is None:
            threads = min(os.cpu_count() or 1, 16)
            self._built = self._gather(group=_BY_THREAD, threads=threads)
            self._warn(map(printable, self._built.info()["warnings"]))
        return self._built

    def _warn(self, notes: Iterable[str]) -> None:
        """Warns of each loss once."""
        for note in notes:
            if note not in self._told:
                self._told.append(note)
                warnings.warn(f"{self._name}: {note}", LossWarning, stacklevel=4)

    def _windowed(self) -> _native.Aggregate:
        return self._gather(group=_BY_NONE, windows=True)

    def _types(self, wanted: Iterable[str] = ()) -> list[str]:
        """Those that are asked for, or all that have samples; never none."""
        there = self.totals()
        wanted = list(wanted) or list(there)
        absent = [name for name in wanted if name not in there]
        if absent or not wanted:
            has = f"it has {', '.join(there)}" if there else "it has no samples at all"
            counts = self._aggregate().info()["counts"]
            lost = loss_text(counts["chunks_lost"], counts["chunks_partial"], counts["bytes_lost"])
            perhaps = f" They may have been lost: {lost}." if lost else ""
            raise _native.UsageError(
                f"{self._name} has no samples of {', '.join(absent) or 'any type'}: {has}.{perhaps}"
            )
        return wanted

    # ---- questions ----

    def unread_events(self) -> dict[str, int]:
        """Events that look like samples, with a stack trace, but are in no profile type: their number by event type.

        >>> import hotstack
        >>> hotstack.open(example).unread_events()
        {}
        """
        return dict(self._aggregate().info()["unread"])

    def not_counted(self) -> list[str]:
        """A sentence for each event type with samples that are left out by design, because they would make a profile
        wrong: a better event counts the same, or the threads only wait.

        >>> import hotstack
        >>> hotstack.open(example).not_counted()
        []
        """
        return list(self._aggregate().info()["not_counted"])

    def totals(self) -> dict[str, Totals]:
        """Events, values and distinct stacks by profile type: what `hotstack jfr totals` prints.

        >>> import hotstack
        >>> hotstack.open(example).totals()["alloc_bytes"].events
        109
        """
        return {row[0]: Totals(*row[1:]) for row in self._aggregate().totals()}

    def top(self, type: str | None = None, limit: int | None = 50) -> Rows[TopRow]:
        """The methods that used most themselves; from all stacks. `type`: the first there is by default.

        >>> import hotstack
        >>> [row.self for row in hotstack.open(example).top("cpu", limit=2)]
        [700000000, 150000000]
        """
        if limit is not None and limit < 0:
            raise _native.UsageError(f"limit is a number of methods, or None for all, not {limit}.")
        chosen = self._types([type] if type else [])[0]
        unit = self.totals()[chosen].unit
        rows = (
            TopRow(f"{class_name}.{method}" if class_name else method, class_name, method, kind, *sums)
            for (class_name, method, kind, _), *sums in self._aggregate().top(chosen, min(limit or 0, sys.maxsize))
        )
        return Rows(rows, {"name": "text", "kind": "text", "self": unit, "total": unit})

    def threads(self, type: str | None = None) -> Rows[ThreadRow]:
        """What each thread used, the most first. `type`: the first there is by default.

        >>> import hotstack
        >>> recording = hotstack.open(example)
        >>> sum(row.value for row in recording.threads("cpu")) == recording.totals()["cpu"].value
        True
        """
        chosen = self._types([type] if type else [])[0]
        threads = [
            ThreadRow(name, pool, os_tid or None, java_tid or None, value, samples)
            for name, pool, os_tid, java_tid, value, samples in self._aggregate().threads(chosen)
        ]
        kinds = {"thread": "text", "pool": "text", "os_tid": "id", "java_tid": "id"}
        kinds |= {"value": self.totals()[chosen].unit, "samples": "count"}
        return Rows(sorted(threads, key=lambda row: (-row.value, row.thread, row.os_tid or 0)), kinds)

    def timeline(
        self, *types: str, bucket: float = 1.0, by_pool: bool = False
    ) -> Rows[TimelineRow]:
        """What was used when: a row for each bucket of `bucket` seconds in which a type (and thread pool) has a value.

        >>> import hotstack
        >>> recording = hotstack.open(example)
        >>> sum(row.value for row in recording.timeline("cpu", bucket=0.1))
        1000000000
        """
        if not 1e-6 <= bucket <= 1e9:
            raise _native.UsageError("A bucket is between a microsecond and a billion seconds.")
        wanted = set(self._types(types))
        info = self._aggregate().info()
        width = round(bucket * 1e9)
        origin = info["start_ns"] // width * width
        count = max(1, -(-(info["end_ns"] - origin) // width))
        source = self._gather(
            group=_BY_THREAD, origin_ns=origin, bucket_ns=width, buckets=count, by_pool=by_pool
        )
        rows = (
            TimelineRow(origin + place * width, type, pool, value)
            for type, pool, values in source.times()
            if type in wanted
            for place, value in enumerate(values)
            if value
        )
        units = {self.totals()[name].unit for name in wanted}
        unit = units.pop() if len(units) == 1 else "number"
        return Rows(rows, {"time": "timestamp", "type": "text", "pool": "text", "value": unit})

    def flamegraph(
        self,
        *types: str,
        lines: bool = False,
        threads: bool = False,
        inverted: bool = False,
        max_nodes: int = 0,
        min_share: float = 0.0,
        title: str | None = None,
    ) -> FlameGraph:
        """Flame graphs of the named profile types, or of all.

        `lines` tells the lines of a method apart, `threads` puts threads below the root, `inverted` begins at the
        leaves; `max_nodes` keeps the heaviest blocks, `min_share` those whose share of all is at least that.

        >>> import hotstack
        >>> hotstack.open(example).flamegraph("cpu", inverted=True).root.total
        1000000000
        """
        _check_cut(max_nodes, min_share)
        options = {
            "lines": lines,
            "threads": threads,
            "inverted": inverted,
            "max_nodes": max_nodes,
            "min_share": min_share,
        }
        return FlameGraph(self, self._types(types), options, title or self._name)

    def diff(
        self,
        after: Profile,
        *types: str,
        lines: bool = False,
        max_nodes: int = 0,
        min_share: float = 0.0,
    ) -> Diff:
        """Compares this profile, the one before, with another: of the named types, or of all that both have."""
        _check_cut(max_nodes, min_share)
        common = [name for name in self.totals() if name in after.totals()]
        wanted = list(types) or common
        if not wanted or not set(wanted) <= set(common):
            raise _native.UsageError(
                f"{self.name} and {after.name} both have samples of {', '.join(common) or 'no type'}."
            )
        return Diff(self, after, wanted, lines, max_nodes, min_share)


def select_options(
    thread: ThreadFilter, bounds: tuple[int, int], states: Iterable[str], normalise: bool
) -> dict[str, Any]:
    """Options of Inputs.aggregate for a selection."""
    mask = 0
    for state in known_names(states, _STATES, "thread state"):
        mask |= 1 << _STATES[state]
    return {
        "thread": _thread_filter(thread),
        "from_ns": bounds[0],
        "to_ns": bounds[1],
        "states": mask,
        "normalise": normalise,
    }
