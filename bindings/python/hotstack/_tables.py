# SPDX-License-Identifier: Apache-2.0
"""Tables of samples and events, read as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import _native
from ._pandas import frame
from ._progress import Progress

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

SAMPLE_COLUMNS: tuple[str, ...] = tuple(_native.SAMPLE_COLUMNS)
"""All columns that a table of samples can have."""

DEFAULT_SAMPLE_COLUMNS: tuple[str, ...] = (
    "time",
    "type",
    "value",
    "thread",
    "state",
    "source",
    "class",
    "leaf",
)
"""Those it has when none are named."""


class Table:
    """Rows of samples or events. Reading starts anew each time, in batches of bounded memory.

    Any library that knows the Arrow PyCapsule interface takes a table as it is: `pyarrow.table(t)`,
    `polars.DataFrame(t)`, `pandas.DataFrame.from_arrow(t)`, `duckdb.from_arrow(t)`. Without one, iterate:

    >>> import hotstack
    >>> table = hotstack.open(example).samples(["cpu"], columns=["type", "value", "leaf"])
    >>> next(iter(table))["value"]
    50000000
    """

    def __init__(
        self, start: Callable[[], _native.Batches], total: int, progress: Progress | None
    ) -> None:
        """For the use of `Recording`: `start` begins a reading."""
        self._start = start
        self._total = total
        self._progress = progress
        self._columns: list[tuple[str, str]] | None = None

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(done, self._total)

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns, and what each holds: "int64", "text", "timestamp[ns, UTC]" ...

        >>> import hotstack
        >>> hotstack.open(example).samples(columns=["time", "leaf"]).columns
        {'time': 'timestamp[ns, UTC]', 'leaf': 'text'}
        """
        if self._columns is None:
            self._columns = self._start().columns()
        return dict(self._columns)

    def batches(self) -> Iterator[_native.Batch]:
        """The rows in batches of at most 65,536, each an Arrow array (`pyarrow.record_batch(batch)`)."""
        source = self._start()
        for batch in source:
            self._tell(source.done())
            yield batch
        self._tell(self._total)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts."""
        for batch in self.batches():
            yield from batch.rows()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow C stream; the schema is the table's own, whatever is requested."""
        return self._start().stream()

    def __arrow_c_schema__(self) -> object:
        """The table's Arrow schema."""
        return self._start().schema()

    def to_arrow(self) -> pyarrow.Table:
        """The whole table as a `pyarrow.Table`; tells its progress. Needs pyarrow."""
        import pyarrow

        batches = [pyarrow.record_batch(batch) for batch in self.batches()]
        schema = pyarrow.schema(self)  # type: ignore[arg-type]  # the stubs know no capsules
        return pyarrow.Table.from_batches(batches, schema=schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The whole table as a `pandas.DataFrame`, text as categories; tells its progress. Needs pandas.

        It is what `to_arrow().to_pandas()` gives, but read into the memory that the frame keeps.
        """
        source = self._start()
        while source.grow():
            self._tell(source.done())
        made = frame(dict(source.columns()), *source.take())
        self._tell(self._total)
        return made

    def to_polars(self) -> polars.DataFrame:
        """The whole table as a `polars.DataFrame`; tells its progress. Needs polars."""
        import polars

        # Batch by batch, so that an interrupt ends it: it cannot go through polars.
        frames = [polars.DataFrame(batch) for batch in self.batches()]
        return polars.concat(frames) if frames else polars.DataFrame(self)

    def __repr__(self) -> str:
        """The columns; rows are not read for it."""
        columns = ", ".join(f"{name}: {kind}" for name, kind in self.columns.items())
        return f"<hotstack.Table {columns}>"
