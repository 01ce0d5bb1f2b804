# SPDX-License-Identifier: Apache-2.0
"""Running JVMs, through the installed `hotstack` program."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

from ._native import HotstackError
from ._recording import Recording, open

INSTALL = (
    "The program hotstack is not on PATH. Reading recordings needs this package alone; JVMs that run need the "
    "program: install it with `./dev install` from Hotstack's source tree, or set HOTSTACK_PROGRAM to its path."
)
WITH_GAPS = 3
"""Exit status of a program that did its work, but whose recording has gaps."""


class ProgramError(HotstackError):
    """The hotstack program is missing, or failed; `status` is its exit status, None if it did not run."""

    code = "program"

    def __init__(self, message: str, status: int | None = None) -> None:
        """The message is what the program said on its standard error."""
        super().__init__(message)
        self.status = status


class Jvm(NamedTuple):
    """A JVM of this machine. `facts` is its whole entry of `hotstack ps --json` (docs/reference/cli-json.md)."""

    pid: int
    main_class: str
    version: str
    ok: bool
    """Whether it can be profiled."""
    reason: str
    """Why not: a stable name, "none" when it can."""
    fix: str
    facts: dict[str, Any]


def _program() -> str:
    chosen = os.environ.get("HOTSTACK_PROGRAM") or shutil.which("hotstack")
    if not chosen:
        raise ProgramError(INSTALL)
    return chosen


def _end(process: subprocess.Popen[str], used: contextlib.ExitStack) -> None:
    with used:
        process.communicate()


def _run(arguments: list[str], good: tuple[int, ...], used: contextlib.ExitStack) -> str:
    """What the program prints. Where an interrupt comes first, the program is told to end, and what it used is closed after it."""
    try:
        process = subprocess.Popen(
            [_program(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ProgramError(f"hotstack cannot be run: {error}") from error
    try:
        out, complaints = process.communicate()
    except BaseException:
        # The program ends its session in the JVM itself. Ctrl-C must not wait for that, and a killed program could not do it.
        process.terminate()
        threading.Thread(target=_end, args=(process, used.pop_all())).start()
        raise
    if process.returncode not in good:
        said = complaints.strip() or f"hotstack ended with status {process.returncode}"
        raise ProgramError(said, process.returncode)
    return out


def jvms() -> list[Jvm]:
    """The JVMs of this machine, those in containers included, and whether they can be profiled."""
    rows = json.loads(_run(["ps", "--json"], (0,), contextlib.ExitStack()))["jvms"]
    return [
        Jvm(
            pid=row["pid"],
            main_class=row["main_class"],
            version=row["version"],
            ok=row["verdict"]["ok"],
            reason=row["verdict"]["reason"],
            fix=row["verdict"]["fix"],
            facts=row,
        )
        for row in rows
    ]


def profile(
    pid: int | str | Jvm,
    duration: int = 10,
    *,
    events: Iterable[str] = (),
    save: str | os.PathLike[str] | None = None,
) -> Recording:
    """Profiles a running JVM, by process id or name, for `duration` whole seconds and gives the recording.

    `events` are as for `hotstack profile -e`: "cpu=1ms", "alloc", "lock=10ms", "wall", "live", "nativemem". The recording is kept in memory, and
    written to `save` if that is given.
    """
    target = str(pid.pid) if isinstance(pid, Jvm) else str(pid)
    wanted = ",".join(events)
    with contextlib.ExitStack() as used:
        directory = used.enter_context(tempfile.TemporaryDirectory(prefix="hotstack-"))
        path = pathlib.Path(directory) / "recording.jfr"
        arguments = ["profile", "-d", f"{duration}s", "-f", str(path)]
        arguments += ["-e", wanted] if wanted else []
        _run([*arguments, "--", target], (0, WITH_GAPS), used)
        data = path.read_bytes()
    if save is None:
        return open(data)
    pathlib.Path(save).write_bytes(data)
    return open(save)
