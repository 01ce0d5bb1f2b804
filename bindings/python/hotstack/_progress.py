# SPDX-License-Identifier: Apache-2.0
"""Telling how far the reading of a long recording is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

Progress = Callable[[int, int], None]


class ProgressBar:
    """Shows the progress of a reading on one line: `hotstack.open(path, progress=hotstack.ProgressBar())`.

    Any callable of (bytes done, bytes in all) serves as `progress`; it is called after each chunk, and what it
    raises ends the reading.

    >>> import hotstack, sys
    >>> bar = hotstack.ProgressBar(sys.stdout)
    >>> bar(50, 200)  # doctest: +NORMALIZE_WHITESPACE
    [#####               ]  25 %
    """

    def __init__(self, to: TextIO | None = None) -> None:
        """`to` is where it writes; standard error by default."""
        self._to = to
        self._last = -1

    def __call__(self, done: int, total: int) -> None:
        """Draws the bar anew when another percent is done."""
        percent = 100 if total == 0 else done * 100 // total
        if percent == self._last:
            return
        self._last = -1 if percent == 100 else percent
        out = self._to if self._to is not None else sys.stderr
        out.write(f"\r[{'#' * (percent // 5):20}] {percent:3} %" + ("\n" if percent == 100 else ""))
        out.flush()
