# SPDX-License-Identifier: Apache-2.0
"""Reads recordings of JDK Flight Recorder and async-profiler: no JVM, no other package needed.

>>> import hotstack
>>> recording = hotstack.open(example)
>>> recording.totals()["cpu"].value
1000000000
>>> recording.top("lock_delay", limit=1)[0].method
'park'

Tables (`Recording.samples`, `Recording.events`) go to pandas, polars, pyarrow and DuckDB through the Arrow C
stream interface; `Recording.flamegraph` is a tree, a page and a picture in Jupyter; `Recording.diff` compares.
`jvms` and `profile` drive the installed `hotstack` program. Times are integers, nanoseconds since 1970 UTC.
"""

from ._diff import Change, Diff
from ._flamegraph import FlameGraph, Node
from ._live import Jvm, ProgramError, jvms, profile
from ._native import (
    VERSION as __version__,
    FormatError,
    HotstackError,
    IoError,
    LimitError,
    UsageError,
)
from ._profile import LossWarning, Profile, ThreadRow, TimelineRow, TopRow, Totals
from ._progress import ProgressBar
from ._recording import (
    Chunk,
    EventType,
    Field,
    Loss,
    LossStretch,
    Recording,
    RecordingInfo,
    Setting,
    open,
)
from ._rows import Rows
from ._tables import DEFAULT_SAMPLE_COLUMNS, SAMPLE_COLUMNS, Table

__all__ = [
    "Change",
    "Chunk",
    "DEFAULT_SAMPLE_COLUMNS",
    "Diff",
    "EventType",
    "Field",
    "FlameGraph",
    "FormatError",
    "HotstackError",
    "IoError",
    "Jvm",
    "LimitError",
    "Loss",
    "LossStretch",
    "LossWarning",
    "Node",
    "Profile",
    "ProgramError",
    "ProgressBar",
    "Recording",
    "RecordingInfo",
    "Rows",
    "SAMPLE_COLUMNS",
    "Setting",
    "Table",
    "ThreadRow",
    "TimelineRow",
    "TopRow",
    "Totals",
    "UsageError",
    "__version__",
    "jvms",
    "open",
    "profile",
]
