# SPDX-License-Identifier: Apache-2.0
"""libjfr and libstackagg, one to one. Not the API of the package: that is `hotstack`."""

from collections.abc import Callable, Iterator
from typing import Any, final

VERSION: str
PROFILE_TYPES: list[tuple[str, str]]
SAMPLE_COLUMNS: list[str]

_Column = tuple[memoryview, memoryview | None, list[str] | None]
_Frame = tuple[str, str, str, int]
_ChangeRow = tuple[_Frame, int, int, int, int, int | None, int | None]

class HotstackError(Exception):
    code: str
    offset: int | None

class IoError(HotstackError, OSError): ...
class FormatError(HotstackError, ValueError): ...
class LimitError(HotstackError): ...
class UsageError(HotstackError, ValueError): ...

@final
class Batch:
    def __len__(self) -> int: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@final
class Batches:
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def columns(self) -> list[tuple[str, str]]: ...
    def grow(self) -> bool: ...
    def take(self) -> tuple[int, list[_Column]]: ...
    def schema(self) -> object: ...
    def stream(self) -> object: ...
    def done(self) -> int: ...

@final
class Tree:
    def arrays(self) -> dict[str, Any]: ...

@final
class Diff:
    def changes(self) -> list[_ChangeRow]: ...

@final
class Aggregate:
    def totals(self) -> list[tuple[str, str, int, int, int, int]]: ...
    def top(self, type: str, limit: int, /) -> list[tuple[_Frame, int, int]]: ...
    def threads(self, type: str, /) -> list[tuple[str, str, int, int, int, int]]: ...
    def times(self) -> list[tuple[str, str, list[int]]]: ...
    def info(self) -> dict[str, Any]: ...
    def tree(
        self,
        type: str,
        lines: bool,
        threads: bool,
        inverted: bool,
        max_nodes: int,
        min_total: int,
        /,
    ) -> Tree: ...
    def collapsed(self, type: str, lines: bool, threads: bool, /) -> bytes: ...

@final
class Inputs:
    def __new__(
        cls,
        items: list[str | bytes | bytearray | memoryview],
        unfinished: bool = False,
        keep_bytes: int = ...,
    ) -> Inputs: ...
    def size(self) -> int: ...
    def count(self) -> int: ...
    def check(self) -> None: ...
    def census(
        self, count_events: bool, progress: Callable[[int, int], object] | None = None, /
    ) -> dict[str, Any]: ...
    def aggregate(
        self,
        *,
        normalise: bool = True,
        group: int = 0,
        from_ns: int = ...,
        to_ns: int = ...,
        states: int = 0,
        thread: Callable[[str, str], object] | None = None,
        windows: bool = False,
        threads: int = 1,
        max_bytes: int = ...,
        progress: Callable[[int, int], object] | None = None,
        origin_ns: int = 0,
        bucket_ns: int = 0,
        buckets: int = 0,
        by_pool: bool = False,
    ) -> Aggregate: ...
    def samples(
        self, columns: list[str], types: list[str], from_ns: int, to_ns: int, /
    ) -> Batches: ...
    def events(
        self, type: str, columns: list[str] | None, from_ns: int, to_ns: int, input: bool = False, /
    ) -> Batches: ...

def trees_json(trees: tuple[Tree, ...], meta: bytes, /) -> bytes: ...
def trees_html(template: bytes, trees: tuple[Tree, ...], meta: bytes, /) -> bytes: ...
def diff(
    before: Aggregate,
    after: Aggregate,
    type: str,
    lines: bool,
    max_nodes: int,
    min_share: int,
    /,
) -> Diff: ...
def diffs_html(template: bytes, diffs: tuple[Diff, ...], meta: bytes, /) -> bytes: ...
