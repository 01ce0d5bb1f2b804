# SPDX-License-Identifier: Apache-2.0
"""Flame graphs: a tree to walk, a page to look at."""

from __future__ import annotations

import html
import os
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _native, _template

if TYPE_CHECKING:
    from ._profile import Profile


# A page keeps its state in its address. Inside another page it has no address, and must not write one.
_NO_ADDRESS = "<head><script>history.replaceState = () => {}</script>"


def in_frame(page: bytes, title: str, height: int = 640) -> str:
    """A page as one element of another page: nothing of it leaks out, nothing is fetched."""
    text = page.decode("utf-8").replace("<head>", _NO_ADDRESS, 1)
    return (
        f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(text)}" '
        f'sandbox="allow-scripts" style="width:100%;height:{height}px;border:0"></iframe>'
    )


def _ends(depths: list[int]) -> list[int]:
    """The index behind each node's last descendant, of a tree in preorder."""
    ends = [len(depths)] * len(depths)
    open_nodes: list[int] = []  # from the root to the node before
    for index, depth in enumerate(depths):
        while len(open_nodes) > depth:
            ends[open_nodes.pop()] = index
        open_nodes.append(index)
    return ends


class _Arrays:
    """A tree in preorder, as lists."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.type: str = arrays["type"]
        self.unit: str = arrays["unit"]
        self.frames: list[tuple[str, str, str, int]] = arrays["frames"]
        self.depth: list[int] = arrays["depth"]
        self.frame: list[int] = arrays["frame"]
        self.self: list[int] = arrays["self"]
        self.total: list[int] = arrays["total"]
        self.omitted: dict[int, int] = dict(zip(arrays["omitted_node"], arrays["omitted_total"]))
        self.end: list[int] = _ends(self.depth)


class Node:
    """One block of a flame graph: a method where it was called from.

    >>> import hotstack
    >>> root = hotstack.open(example).flamegraph("cpu").root
    >>> root.name, root.total, sum(child.total for child in root) + root.self
    ('all', 1000000000, 1000000000)
    """

    __slots__ = ("_arrays", "_index")

    def __init__(self, arrays: _Arrays, index: int) -> None:
        """For the use of `FlameGraph`."""
        self._arrays = arrays
        self._index = index

    @property
    def _frame(self) -> tuple[str, str, str, int]:
        if self._index == 0:
            return ("", "all", "unknown", 0)
        return self._arrays.frames[self._arrays.frame[self._index]]

    @property
    def class_name(self) -> str:
        """The class, normalised; of native code the library, or empty."""
        return self._frame[0]

    @property
    def method(self) -> str:
        """The bare name of the method or function."""
        return self._frame[1]

    @property
    def name(self) -> str:
        """Class and method with a dot between; "all" for the root."""
        return f"{self.class_name}.{self.method}" if self.class_name else self.method

    @property
    def kind(self) -> str:
        """ "java", "native", "jvm", "kernel" or "unknown"."""
        return self._frame[2]

    @property
    def line(self) -> int:
        """The source line; 0 = none, or lines were not asked for."""
        return self._frame[3]

    @property
    def self(self) -> int:
        """The value of stacks that end here."""
        return self._arrays.self[self._index]

    @property
    def total(self) -> int:
        """The value of stacks that go through here, ending here included."""
        return self._arrays.total[self._index]

    @property
    def share(self) -> float:
        """The part of all that is `total`: 0 to 1."""
        whole = self._arrays.total[0]
        return self.total / whole if whole else 0.0

    @property
    def depth(self) -> int:
        """How far below the root, whose depth is 0."""
        return self._arrays.depth[self._index]

    @property
    def omitted(self) -> int:
        """The value of children that `max_nodes` or `min_share` cut away."""
        return self._arrays.omitted.get(self._index, 0)

    @property
    def children(self) -> list[Node]:
        """What is called from here, by name."""
        return list(self)

    def __iter__(self) -> Iterator[Node]:
        """The children."""
        end = self._arrays.end
        index = self._index + 1
        while index < end[self._index]:
            yield Node(self._arrays, index)
            index = end[index]

    def walk(self) -> Iterator[Node]:
        """This node and all below it, callers before callees.

        >>> import hotstack
        >>> root = hotstack.open(example).flamegraph("cpu").root
        >>> sum(node.self for node in root.walk()) == root.total
        True
        """
        for index in range(self._index, self._arrays.end[self._index]):
            yield Node(self._arrays, index)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same block of the same graph."""
        return (
            isinstance(other, Node)
            and self._arrays is other._arrays
            and self._index == other._index
        )

    def __hash__(self) -> int:
        """Of the same blocks the same."""
        return hash((id(self._arrays), self._index))

    def __repr__(self) -> str:
        """Name, value and share."""
        return f"<Node {self.name} {self.total} {self._arrays.unit} {self.share:.1%}>"


def _least(total: int, share: float) -> int:
    """What a node must have to be that share of `total`, as `hotstack convert --min-width` counts it."""
    billion = 10**9
    return -(-total * round(share * billion) // billion)


class FlameGraph:
    """Flame graphs of one profile type or several. Shows itself in Jupyter.

    >>> import hotstack
    >>> graph = hotstack.open(example).flamegraph("cpu", "lock_delay")
    >>> graph.types
    ['cpu', 'lock_delay']
    >>> graph.to_collapsed("cpu").splitlines()[0].rsplit(" ", 1)[1]
    '50000000'
    """

    def __init__(
        self, profile: Profile, types: list[str], options: dict[str, Any], title: str
    ) -> None:
        """For the use of `Profile.flamegraph`."""
        self._profile = profile
        self._options = options
        self._title = title
        self._trees = {
            name: profile._aggregate().tree(
                name,
                options["lines"],
                options["threads"],
                options["inverted"],
                options["max_nodes"],
                _least(profile.totals()[name].value, options["min_share"]),
            )
            for name in types
        }
        self._arrays: dict[str, _Arrays] = {}

    @property
    def types(self) -> list[str]:
        """The profile types that it shows."""
        return list(self._trees)

    @property
    def root(self) -> Node:
        """The root of the first type's tree."""
        return self.tree(self.types[0])

    def _check(self, type: str) -> None:
        if type not in self._trees:
            raise _native.UsageError(f"The flame graph shows {', '.join(self._trees)}, not '{type}'.")

    def tree(self, type: str) -> Node:
        """The root of a type's tree."""
        self._check(type)
        if type not in self._arrays:
            self._arrays[type] = _Arrays(self._trees[type].arrays())
        return Node(self._arrays[type], 0)

    def to_html(self) -> bytes:
        """One self-contained page: zoom, search, tables, reverse, several types; works offline."""
        meta = self._profile._meta(self._title)
        return _native.trees_html(_template.read(), tuple(self._trees.values()), meta)

    def to_json(self) -> bytes:
        """The trees as flame graph JSON, version 2 (docs/formats/flamegraph-json.md)."""
        return _native.trees_json(tuple(self._trees.values()), self._profile._meta(self._title))

    def to_collapsed(self, type: str | None = None) -> str:
        """Collapsed stacks of a type (the first by default): a line "root;...;leaf value" each. They are never cut."""
        name = type if type is not None else self.types[0]
        self._check(name)
        lines, threads = self._options["lines"], self._options["threads"]
        return self._profile._aggregate().collapsed(name, lines, threads).decode("utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file that the name's ending says: .html, .json or .collapsed (the first type)."""
        target = pathlib.Path(path)
        if target.suffix == ".html":
            target.write_bytes(self.to_html())
        elif target.suffix == ".json":
            target.write_bytes(self.to_json())
        elif target.suffix == ".collapsed":
            target.write_text(self.to_collapsed(), encoding="utf-8")
        else:
            raise _native.UsageError(f"{target.name}: a name ends with .html, .json or .collapsed.")

    def _repr_html_(self) -> str:
        return in_frame(self.to_html(), self._title)

    def __repr__(self) -> str:
        """The types and their totals."""
        parts = [f"{name} {self.tree(name).total}" for name in self._trees]
        return f"<FlameGraph {', '.join(parts)}>"
