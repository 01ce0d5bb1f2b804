# SPDX-License-Identifier: Apache-2.0
"""The page that a flame graph is written into: built without JavaScript knowledge here, found as a file."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

from ._native import UsageError

NAME = "flamegraph.html"


def _places() -> list[pathlib.Path]:
    places = [pathlib.Path(__file__).parent]
    program = shutil.which("hotstack")
    if program is not None:
        places.append(pathlib.Path(program).resolve().parent.parent / "share" / "hotstack")
    for prefix in (sys.prefix, "/usr/local", "/usr"):
        places.append(pathlib.Path(prefix) / "share" / "hotstack")
    return places


def read() -> bytes:
    """The template: of HOTSTACK_DATADIR if that is set, else of the package, else of an installation."""
    chosen = os.environ.get("HOTSTACK_DATADIR")
    places = [pathlib.Path(chosen)] if chosen else _places()
    for place in places:
        try:
            return (place / NAME).read_bytes()
        except OSError:
            continue
    raise UsageError(
        f"The page's template {NAME} is in none of {', '.join(map(str, places))}: this package is not whole. "
        "Install it again (`pip install .` builds the template), or set HOTSTACK_DATADIR to a folder that has it, such as an "
        "installed hotstack's share/hotstack."
    )
