# SPDX-License-Identifier: Apache-2.0
"""A recording: what it says about itself, its events and its samples."""

from __future__ import annotations

import builtins
import datetime
import difflib
import os
import stat
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _native
from ._profile import Profile, ThreadFilter, known_names, loss_text, names, select_options, unread_texts
from ._progress import Progress, ProgressBar
from ._rows import Rows
from ._tables import DEFAULT_SAMPLE_COLUMNS, SAMPLE_COLUMNS, Table
from ._times import EPOCH, Time, span

_INPUT = "input"

Source = str | os.PathLike[str] | bytes | bytearray | memoryview


class Chunk(NamedTuple):
    """One chunk of a recording's file."""

    input: int
    """Number of its input, from 0."""
    offset: int
    size: int
    start_ns: int
    duration_ns: int
    """0 when the chunk was never finished."""
    finished: bool
    ticks_per_second: int


class Field(NamedTuple):
    """One field of an event type."""

    name: str
    type: str | None
    label: str | None
    description: str | None
    unit: str | None
    """ "NANOSECONDS" of times and durations, in which their values come; "BYTES", "HERTZ" ... where the recording names one."""
    is_array: bool


class EventType(NamedTuple):
    """An event type that the recording defines, whether events of it were recorded or not."""

    name: str
    label: str | None
    description: str | None
    categories: list[str]
    fields: list[Field]
    events: int
    """How many of it were recorded."""


class Setting(NamedTuple):
    """One jdk.ActiveSetting: setting `name` of event type `event` is `value`."""

    event: str | None
    name: str | None
    value: str | None


class RecordingInfo(NamedTuple):
    """The JVM and the profiler that wrote the recording; None where it says nothing."""

    producer: str
    """ "jdk" or "async-profiler"."""
    profiler_version: str | None
    engine: str | None
    event: str | None
    jvm_name: str | None
    jvm_version: str | None
    jvm_args: str | None
    java_args: str | None
    jvm_start_ms: int
    pid: int


class LossStretch(NamedTuple):
    """A stretch of a file that could not be read."""

    input: int
    reason: str
    """ "truncated", "bad metadata" ..."""
    offset: int
    size: int
    chunk: int
    """Offset of its chunk."""


class Loss(NamedTuple):
    """What was kept and what was lost."""

    chunks_whole: int
    chunks_partial: int
    chunks_lost: int
    bytes_lost: int
    bad_events: int
    """Events that were passed over because their fields do not fit: of samples, or of any type those without a time."""
    stretches: list[LossStretch]
    """The first 256."""
    recorder_samples: int = 0
    """What the recorder says it lost itself: cpu samples (jdk.CPUTimeSamplesLost) ..."""
    recorder_bytes: int = 0
    """... and bytes of events of any type (jdk.DataLoss). The files are whole without them."""
    bad_stacks: int = 0
    """Samples that were kept without their stack, which is damaged or too large."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the files was lost."""
        return not (
            self.chunks_partial
            or self.chunks_lost
            or self.bytes_lost
            or self.bad_events
            or self.bad_stacks
            or self.stretches
        )


class Recording(Profile):
    """One recording, or several read as one. Files are read when something is asked, never changed.

    >>> import hotstack
    >>> recording = hotstack.open(example)
    >>> recording.info().producer, recording.loss().is_whole
    ('async-profiler', True)
    """

    def __init__(
        self,
        inputs: _native.Inputs,
        name: str,
        progress: Progress | None = None,
        again: tuple[list[str], bool] | None = None,
    ) -> None:
        """Use `hotstack.open`."""
        super().__init__(inputs, name, progress, {})
        self._again = again  # how it can be opened elsewhere
        self._counted: dict[str, Any] | None = None
        self._looked: dict[str, Any] | None = None

    # ---- its life ----

    def close(self) -> None:
        """Lets go of its files, bytes and memory. Tables and profiles that were made of it can still be read.

        >>> import hotstack
        >>> with hotstack.open(example) as recording:
        ...     recording.totals()["cpu"].value
        1000000000
        """
        self._held = self._built = self._counted = self._looked = None

    def __enter__(self) -> Recording:
        """Closes itself at the end of a `with`."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes it."""
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is its paths: opened again where it is unpickled."""
        if self._again is None:
            raise TypeError(f"{self._name} was not opened by path: it cannot be pickled. Pickle its bytes.")
        return (_reopen, self._again)

    # ---- when ----

    def _bounds(self) -> tuple[int, int]:
        """Nanoseconds since 1970 UTC of its begin and end."""
        chunks = self._chunks_read()["chunks"]
        if not chunks:
            raise _native.UsageError(f"{self._name} has no chunk that can be read.")
        end: int = max(chunk["start_ns"] + chunk["duration_ns"] for chunk in chunks)
        if not all(chunk["finished"] for chunk in chunks):
            end = max(end, self._aggregate().info()["end_ns"])
        return min(chunk["start_ns"] for chunk in chunks), end

    def _own_bounds(self) -> tuple[int, int]:
        """To count offsets from: of several recordings each has its own."""
        if self._inputs.count() > 1:
            raise _native.UsageError(
                f"{self._name} have a start and an end each: give instants, or open them one by one to count from theirs."
            )
        return self._bounds()

    @property
    def start(self) -> datetime.datetime:
        """When it begins, UTC.

        >>> import hotstack
        >>> recording = hotstack.open(example)
        >>> recording.start + recording.duration == recording.end
        True
        """
        return EPOCH + datetime.timedelta(microseconds=self._bounds()[0] // 1000)

    @property
    def end(self) -> datetime.datetime:
        """When it ends, UTC. Of an unfinished recording, when its last sample was taken."""
        return EPOCH + datetime.timedelta(microseconds=self._bounds()[1] // 1000)

    @property
    def duration(self) -> datetime.timedelta:
        """From its start to its end."""
        return self.end - self.start

    def _census(self) -> dict[str, Any]:
        if self._counted is None:
            self._counted = self._inputs.census(True, self._progress)
            self._warn_of_loss(self._counted)
        return self._counted

    # ---- facts about it ----

    def info(self) -> RecordingInfo:
        """The JVM and the profiler that wrote it."""
        facts = self._census()["recording"]
        if not facts:
            raise _native.UsageError(f"{self.name} has no chunk that can be read.")
        return RecordingInfo(**facts)

    def chunks(self) -> Rows[Chunk]:
        """Its chunks, in order."""
        kinds = {"input": "id", "offset": "number", "size": "bytes", "start_ns": "timestamp", "duration_ns": "ns", "finished": "bool"}
        return Rows((Chunk(**row) for row in self._census()["chunks"]), kinds)

    def event_types(self) -> dict[str, EventType]:
        """The event types it defines, by name, with counts and fields.

        >>> import hotstack
        >>> hotstack.open(example).event_types()["jdk.JavaMonitorEnter"].events
        47
        """
        return {
            name: EventType(**{**row, "fields": [Field(**field) for field in row["fields"]]})
            for name, row in self._census()["types"].items()
        }

    def settings(self) -> Rows[Setting]:
        """Its jdk.ActiveSetting events: intervals, engine, version.

        >>> import hotstack
        >>> hotstack.open(example).settings()[0].name
        'version'
        """
        kinds = dict.fromkeys(Setting._fields, "text")
        return Rows((Setting(*row) for row in self._census()["settings"]), kinds)

    def loss(self) -> Loss:
        """What of it could not be read."""
        row = self._census()["loss"]
        samples = self._aggregate().info()["counts"]
        more = {
            "bad_events": max(row["bad_events"], samples["bad_events"]),
            "bad_stacks": samples["bad_stacks"],
            "stretches": [LossStretch(**item) for item in row["stretches"]],
        }
        return Loss(**{**row, **more})

    # ---- tables ----

    def _chunks_read(self) -> dict[str, Any]:
        """What the chunks say, without their events; warns of those that cannot be read whole."""
        census = self._counted or self._looked or self._inputs.census(False)
        self._looked = census
        self._warn_of_loss(census)
        return census

    def _warn_of_loss(self, census: dict[str, Any]) -> None:
        loss = census["loss"]
        self._warn_of(loss["chunks_lost"], loss["chunks_partial"], loss["bytes_lost"])

    def _warn_of(self, chunks_lost: int, chunks_partial: int, bytes_lost: int) -> None:
        told = loss_text(chunks_lost, chunks_partial, bytes_lost)
        self._warn([told] if told else [])

    def _type_name(self, type: str) -> str:
        census = self._chunks_read()
        types: dict[str, Any] = census["types"]
        if type in types:
            return type
        close = [name for name in types if name.rpartition(".")[2] == type]
        if len(close) == 1:
            return close[0]
        similar = close or difflib.get_close_matches(type, types, 3)
        hint = f"{', '.join(similar)}, say, or " if similar else ""
        lost = census["loss"]["chunks_lost"]
        perhaps = f" {lost} of its chunks could not be read: the type may have been lost with them." if lost else ""
        raise _native.UsageError(
            f"{self.name} has no event type '{type}': use {hint}one of event_types().{perhaps}"
        )

    def events(
        self,
        type: str,
        columns: Iterable[str] | None = None,
        *,
        start: Time = None,
        end: Time = None,
    ) -> Table:
        """The events of one type ("jdk.GarbageCollection", or "GarbageCollection") as a table.

        Columns are paths of fields ("eventThread.osThreadId", "stackTrace"); without any, all fields, structs taken
        apart. Threads, classes, methods and stacks show as text; other structs and arrays as JSON. Only events
        that overlap `start` .. `end` are read, if given: times as for `select`.

        >>> import hotstack
        >>> waits = hotstack.open(example).events("JavaMonitorEnter", ["duration", "monitorClass"])
        >>> waits.columns
        {'duration': 'duration[ns]', 'monitorClass': 'text'}
        >>> sum(1 for wait in waits)
        47
        """
        name = self._type_name(type)
        fields = {field["name"] for field in self._chunks_read()["types"][name]["fields"]}
        inputs = self._inputs
        bounds = span(start, end, self._own_bounds)

        def begin(wanted: list[str] | None) -> _native.Batches:
            """A column "input" is ours where no field has that name; it comes last."""
            if wanted is None:
                return inputs.events(name, None, *bounds, inputs.count() > 1 and _INPUT not in fields)
            paths = [path for path in wanted if path != _INPUT or path in fields]
            return inputs.events(name, paths, *bounds, len(paths) < len(wanted))

        chosen = None if columns is None else names(columns)
        return Table(lambda wanted: begin(wanted or chosen), self._size, self._progress, self._warn_of)

    def samples(
        self,
        types: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        *,
        start: Time = None,
        end: Time = None,
    ) -> Table:
        """The profile samples as a table: a row for each value of each sample, so that the sum of `value` by `type`
        is what `totals` says.

        `columns` are of `SAMPLE_COLUMNS`: time, type, value, raw_value, thread, os_tid, java_tid, state, source (the
        event), lock, class (allocated or waited for), leaf (the running method), stack_id (32 hex digits, the same
        in every recording), stack ("root;...;leaf") and input (the recording's path; there by default where several
        were opened).

        >>> import hotstack
        >>> samples = hotstack.open(example).samples(["lock_delay"], ["value", "class"])
        >>> sum(row["value"] for row in samples)
        2221984245
        """
        all_types = [name for name, _ in _native.PROFILE_TYPES]
        chosen = all_types if types is None else known_names(types, all_types, "profile type")
        inputs = self._inputs
        default = (*DEFAULT_SAMPLE_COLUMNS, _INPUT) if inputs.count() > 1 else DEFAULT_SAMPLE_COLUMNS
        wanted = known_names(default if columns is None else columns, SAMPLE_COLUMNS, "sample column")
        bounds = span(start, end, self._own_bounds)
        self._warn(unread_texts(self._chunks_read()["unread"]))
        return Table(
            lambda some: inputs.samples(some or wanted, chosen, *bounds), self._size, self._progress, self._warn_of
        )

    # ---- parts of it ----

    def select(
        self,
        *,
        thread: ThreadFilter = None,
        start: Time = None,
        end: Time = None,
        states: Iterable[str] = (),
        normalise: bool = True,
    ) -> Profile:
        """The profile of some of its samples.

        `thread` is a thread's whole name, a compiled pattern that is searched in names (`re.compile("^worker-")`), or a
        callable of the name. `start` and `end` bound the time of samples, end excluded: an aware datetime, ISO 8601
        text with a zone ("2026-01-31T09:15:00Z"), an offset from the recording's start ("+2s") or before its end
        ("-10s"; units ms, s, m, h, d) or the same as a timedelta, nanoseconds since 1970 (an int) or Unix seconds (a
        float). Numbers before the year 2000 are refused: an offset was meant. `states` are of "runnable", "sleeping", "native", "unknown".
        `normalise=False` keeps names as they were recorded (`$$Lambda$17/0x0...`).

        >>> import hotstack
        >>> recording = hotstack.open(example)
        >>> names = [row.thread for row in recording.threads("cpu")]
        >>> part = recording.select(thread=names[0], start="+0s")
        >>> part.totals()["cpu"].value == recording.threads("cpu")[0].value
        True
        """
        bounds = span(start, end, self._own_bounds)
        options = select_options(thread, bounds, states, normalise)
        return Profile(self._inputs, self._name, self._progress, options)

    def __repr__(self) -> str:
        """The name, the size, and what is known to be lost; nothing is read for it."""
        loss = f", not whole: {'; '.join(self._told)}" if self._told else ""
        return f"<Recording {self._name}, {self._size} bytes{loss}{', closed' if self._held is None else ''}>"


def _reopen(paths: list[str], unfinished: bool) -> Recording:
    """What a pickle calls."""
    return open(*paths, unfinished=unfinished)


def open(
    source: Source,
    *more: Source,
    progress: Progress | bool | None = None,
    unfinished: bool = True,
) -> Recording:
    """Opens a recording: a path, or its bytes; several are read as one, in that order.

    Packed ones (gzip) are unpacked in memory. A file is mapped while it is read: copy one that another process still
    cuts, or give its bytes. A pipe or device is read to its end. `progress` is called with (bytes done, bytes in all) after each chunk; True shows a
    bar on standard error. A chunk that its JVM never finished, or that the end of the file cuts, is read as far as it
    goes; with `unfinished=False` it is only reported as lost.

    Raises FormatError for what is no recording, with the offset, and OSError for what cannot be opened.

    >>> import hotstack
    >>> hotstack.open(b"not a recording")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
      ...
    hotstack.FormatError: at byte 0: ...
    """
    items: list[str | bytes | bytearray | memoryview] = []
    for item in (source, *more):
        if isinstance(item, (bytes, bytearray, memoryview)):
            items.append(item)
            continue
        if not isinstance(item, (str, os.PathLike)):
            raise TypeError(
                f"A recording is a path or bytes, not {type(item).__name__}: several are given one by one, open(*paths)."
            )
        path = os.fsdecode(item)
        with builtins.open(path, "rb") as file:  # raises the usual exceptions for a missing file
            is_plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            items.append(path if is_plain else file.read())
    first = "memory" if isinstance(source, (bytes, bytearray, memoryview)) else os.path.basename(os.fsdecode(source))
    name = first if not more else f"{len(items)} recordings"
    inputs = _native.Inputs(items, unfinished=unfinished)
    inputs.check()
    report = ProgressBar() if progress is True else progress or None
    paths = [os.path.abspath(item) for item in items if isinstance(item, str)]
    again = (paths, unfinished) if len(paths) == len(items) else None
    return Recording(inputs, name, report, again)
