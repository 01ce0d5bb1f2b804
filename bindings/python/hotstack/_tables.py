# SPDX-License-Identifier: Apache-2.0
"""Tables of samples and events, read as they are asked for."""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, overload

from . import _native
from ._pandas import frame
from ._progress import Progress
from ._rows import Rows

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
"""Those it has when none are named; of several recordings "input", too."""

_ARROW = {
    "text": "dictionary<values=string, indices=int32, ordered=0>",
    "timestamp[ns, UTC]": "timestamp[ns, tz=UTC]",
    "float64": "double",
}
_PANDAS = {
    "text": "category",
    "timestamp[ns, UTC]": "datetime64[ns, UTC]",
    "duration[ns]": "timedelta64[ns]",
}


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
        self,
        start: Callable[[list[str] | None], _native.Batches],
        total: int,
        progress: Progress | None,
        warn: Callable[[int, int, int], None],
    ) -> None:
        """For the use of `Recording`: `start` begins a reading, of the named columns alone if some are named; `warn`
        hears of what a whole one lost."""
        self._begin = start
        self._warn = warn
        self._total = total
        self._progress = progress
        self._columns: dict[str, str] | None = None
        self._rows: int | None = None

    def _start(self) -> _native.Batches:
        return self._begin(None)

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(done, self._total)

    def _end(self, source: _native.Batches) -> None:
        self._tell(self._total)
        self._warn(*source.loss())

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns, and what each holds: "int64", "text", "timestamp[ns, UTC]" ...

        >>> import hotstack
        >>> hotstack.open(example).samples(columns=["time", "leaf"]).columns
        {'time': 'timestamp[ns, UTC]', 'leaf': 'text'}
        """
        if self._columns is None:
            self._columns = dict(self._start().columns())
        return dict(self._columns)

    @property
    def schema(self) -> dict[str, str]:
        """The columns' types in Arrow, and so in pyarrow, polars and DuckDB.

        >>> import hotstack
        >>> hotstack.open(example).samples(columns=["time", "leaf"]).schema
        {'time': 'timestamp[ns, tz=UTC]', 'leaf': 'dictionary<values=string, indices=int32, ordered=0>'}
        """
        return {name: _ARROW.get(kind, kind) for name, kind in self.columns.items()}

    @property
    def dtypes(self) -> dict[str, str]:
        """The columns' types in a frame of `to_pandas`, where no row lacks a value.

        >>> import hotstack
        >>> hotstack.open(example).samples(columns=["time", "leaf"]).dtypes
        {'time': 'datetime64[ns, UTC]', 'leaf': 'category'}
        """
        return {name: _PANDAS.get(kind, kind) for name, kind in self.columns.items()}

    def __len__(self) -> int:
        """How many rows: one column is read to count them, once.

        >>> import hotstack
        >>> len(hotstack.open(example).events("JavaMonitorEnter"))
        47
        """
        if self._rows is None:
            self._rows = sum(len(batch) for batch in self._read(self._one_column()))
        return self._rows

    def __bool__(self) -> bool:
        """Whether there is a row."""
        return next(self._begin(self._one_column()), None) is not None

    def _one_column(self) -> list[str] | None:
        return list(self.columns)[:1] or None

    def _read(self, columns: list[str] | None) -> Iterator[_native.Batch]:
        """All batches of some columns."""
        source = self._begin(columns)
        yield from source
        self._warn(*source.loss())

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: list[str]) -> Table: ...
    def __getitem__(self, key: str | list[str]) -> list[Any] | Table:
        """A column's values; or, for a list of names, the table of these columns. Only these are read.

        >>> import hotstack
        >>> table = hotstack.open(example).samples(["lock_delay"])
        >>> sum(table["value"]), list(table[["value", "class"]].columns)
        (2221984245, ['value', 'class'])
        """
        wanted = [key] if isinstance(key, str) else list(key)
        for name in wanted:
            if name not in self.columns:
                raise KeyError(f"{name}: the table has {', '.join(self.columns)}")
        if isinstance(key, str):
            return [row[key] for batch in self._read(wanted) for row in batch.rows()]
        return Table(lambda names: self._begin(names or wanted), self._total, self._progress, self._warn)

    def head(self, rows: int = 5) -> Rows[dict[str, Any]]:
        """The first rows; no more is read than they need.

        >>> import hotstack
        >>> hotstack.open(example).samples(["cpu"], ["type", "value"]).head(1)
        type     value
        cpu   50000000
        """
        return Rows(itertools.islice(self, rows), self.columns)

    def batches(self) -> Iterator[_native.Batch]:
        """The rows in batches of at most 65,536, each an Arrow array (`pyarrow.record_batch(batch)`)."""
        source = self._start()
        for batch in source:
            self._tell(source.done())
            yield batch
        self._end(source)

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

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raises a UsageError: columns of several types are no array.

        `pandas.DataFrame(t)` comes here, too. The constructor takes no Arrow data, in any pandas so far (1.5 to 3.1): it asks
        for an array of one type, and of an object that has none for its rows, where times would be integers.
        """
        raise _native.UsageError(
            "a table's columns have types of their own, which an array loses. For a pandas.DataFrame: "
            "table.to_pandas(); for one column: numpy.array(table['value'])"
        )

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
        self._end(source)
        return made

    def to_polars(self) -> polars.DataFrame:
        """The whole table as a `polars.DataFrame`; tells its progress. Needs polars."""
        import polars

        # Batch by batch, because an interrupt cannot pass through polars.
        frames = [polars.DataFrame(batch) for batch in self.batches()]
        return polars.concat(frames) if frames else polars.DataFrame(self)

    def __repr__(self) -> str:
        """The columns; rows are not read for it."""
        columns = ", ".join(f"{name}: {kind}" for name, kind in self.columns.items())
        return f"<hotstack.Table {columns}>"

    def _repr_html_(self) -> str:
        return f"{self.head(10)._repr_html_()}<p>The first 10 rows; {html.escape(repr(self))}</p>"
