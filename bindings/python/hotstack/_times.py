# SPDX-License-Identifier: Apache-2.0
"""The one rule for times that are given: instants, and offsets from a recording's start or end."""

from __future__ import annotations

import datetime
import fractions
import operator
import re
from collections.abc import Callable
from typing import SupportsIndex

from ._native import UsageError

Time = int | float | str | datetime.datetime | datetime.timedelta | None

LEAST, MOST = -(2**63), 2**63 - 1
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_YEAR_2000 = 946_684_800 * 10**9
_OFFSET = re.compile(r"([+-])([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)?", re.ASCII)
_UNITS = {"ms": 10**6, "s": 10**9, None: 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}


def _since_1970(moment: datetime.datetime) -> int:
    if moment.tzinfo is None:
        raise UsageError("A time needs a zone, such as datetime.UTC, or Z in text.")
    return (moment - EPOCH) // datetime.timedelta(microseconds=1) * 1000


def _moment(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"'{text}' is no time such as 2026-01-31T09:15:00Z, +2s after the recording's start or -10s before its end "
            "(units ms, s, m, h, d)."
        ) from None


def _number(time: float | SupportsIndex) -> int:
    """Nanoseconds of an integer, Unix seconds of a float: not of an offset that was meant."""
    if isinstance(time, SupportsIndex):  # integers of numpy, too
        time = operator.index(time)
    ns = time if isinstance(time, int) else time * 1e9
    if not LEAST <= ns <= MOST:  # also true for NaN
        raise UsageError(f"{time} is no time that fits into 64 bits of nanoseconds.")
    if ns < _YEAR_2000:
        unit = "nanoseconds" if isinstance(time, int) else "seconds"
        raise UsageError(
            f"{time} is before the year 2000, as {unit} since 1970. An offset from the recording's start is text, '+5s', or a timedelta."
        )
    return int(ns)


def _offset(time: str | datetime.timedelta) -> tuple[bool, int] | None:
    """Whether it counts from the start, and nanoseconds; None for what is no offset."""
    if isinstance(time, datetime.timedelta):
        ns = time // datetime.timedelta(microseconds=1) * 1000
        return ns >= 0, abs(ns)
    found = _OFFSET.fullmatch(time)
    if found is None:
        return None
    sign, number, unit = found.groups()
    return sign == "+", int(fractions.Fraction(number) * _UNITS[unit])


def nanoseconds(time: Time, default: int, bounds: Callable[[], tuple[int, int]]) -> int:
    """Nanoseconds since 1970 UTC; `bounds` gives the recording's start and end to count offsets from."""
    if time is None:
        return default
    if isinstance(time, (str, datetime.timedelta)):
        offset = _offset(time)
        if offset is not None:
            from_start, ns = offset
            start, end = bounds()
            return max(LEAST, min(MOST, start + ns if from_start else end - ns))
    if isinstance(time, str):
        time = _moment(time)
    if isinstance(time, datetime.datetime):
        return _since_1970(time)
    if not isinstance(time, (float, SupportsIndex)):
        raise TypeError(f"A time is a datetime, a timedelta, text or a number, not {type(time).__name__}.")
    return _number(time)


def span(start: Time, end: Time, bounds: Callable[[], tuple[int, int]]) -> tuple[int, int]:
    """Nanoseconds from `start`, included, to `end`, excluded; everything without them."""
    first, last = nanoseconds(start, LEAST, bounds), nanoseconds(end, MOST, bounds)
    if last < first:
        raise UsageError(f"end ({end}) is before start ({start}).")
    return first, last
