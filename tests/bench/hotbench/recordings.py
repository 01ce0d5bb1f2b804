# SPDX-License-Identifier: Apache-2.0
"""The recordings the benchmarks read: made on this machine by the call tree of ../recorder, kept in the cache.

Each has a shape beside it: what the JDK's own reader counts in it. A recording is made anew when the
generator, the profiler or the way it is made changes.
"""

import fcntl
import functools
import hashlib
import inspect
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from . import peers, place
from .measure import BenchError, say

FOLDER = place.BENCH_CACHE / "recordings"
TOLERANCE = 0.20
PIECE = 4 << 20


@dataclass(frozen=True)
class Recording:
    """How a recording is made, and what it must look like: {what: wanted}, each within TOLERANCE."""

    name: str
    about: str
    maker: str  # async | jdk-parts | jdk-settings | cat
    arguments: tuple = ()
    wanted: dict = field(default_factory=dict)


# Arguments of async: (leaves, mean depth of the walk, objects); the stack is four or five frames deeper.
ALL = {
    recording.name: recording
    for recording in (
        Recording(
            "medium", "async-profiler: allocation samples, with cpu and lock", "async", (11_500, 29, 1_770_000),
            {"bytes": 34.1e6, "events": 1.78e6, "chunks": 1, "pool_stacks": 12e3},
        ),
        Recording(
            "large", "the same, larger", "async", (106_000, 30, 6_760_000),
            {"bytes": 144.4e6, "events": 6.78e6, "chunks": 1, "alloc_stacks": 106e3, "mean_depth": 42,
             "pool_stacks": 114e3, "pool_frames": 4.65e6},
        ),
        Recording(
            "cat", "large, medium and large, concatenated", "cat", ("large", "medium", "large"),
            {"bytes": 323e6, "events": 15.3e6, "chunks": 3, "pool_stacks": 240e3, "pool_frames": 9.8e6},
        ),
        Recording(
            "jdk25-cat", "JDK 25's recorder, every allocation, ten recordings concatenated", "jdk-parts",
            (10, 3_500, 33, 1_100_000),
            {"bytes": 34.6e6, "events": 1.13e6, "chunks": 10, "pool_stacks": 36e3, "pool_frames": 1.4e6},
        ),
        Recording("cpu-only", "async-profiler: cpu every 1 ms", "async", (12_000, 33, 0)),
        Recording("jdk17-default", "JDK 17's recorder, settings default", "jdk-settings", (17, "default")),
        Recording("jdk17-profile", "JDK 17's recorder, settings profile", "jdk-settings", (17, "profile")),
        Recording("jdk25-default", "JDK 25's recorder, settings default", "jdk-settings", (25, "default")),
        Recording("jdk25-profile", "JDK 25's recorder, settings profile", "jdk-settings", (25, "profile")),
        Recording("many-chunks", "jdk25-cat eight times: 80 small chunks", "cat", ("jdk25-cat",) * 8),
    )
}
SPIN_SECONDS = 30
ENDLESS = 1 << 60


def sources():
    recorder = place.HERE / "recorder"
    return sorted([*recorder.glob("*.java"), recorder / "make_tree.py"])


@functools.cache
def generator():
    """Returns a hash of everything on which all recordings depend."""
    digest = hashlib.sha256()
    for file in [*sources(), place.HERE / "peers" / "Totals.java", place.HERE / "peers" / "JdkTotals.java"]:
        digest.update(file.read_bytes())
    digest.update((place.PROFILER.parents[1] / ".pin").read_bytes())
    return digest.hexdigest()


def key(name):
    recording = ALL[name]
    code = [inspect.getsource(function) for function in (call_tree, MAKERS[recording.maker])]
    parts = [generator(), code, COMMON, POOLS, THREADS, recording.maker, recording.arguments]
    if recording.maker == "cat":
        parts += [key(part) for part in recording.arguments]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@functools.cache
def classes():
    """The compiled call tree."""
    out = place.BENCH_CACHE / "classes" / f"recorder-{generator()[:16]}"
    if out.exists():
        return out
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as tree:
        subprocess.run(["python3", str(place.HERE / "recorder" / "make_tree.py"), tree], check=True)
        generated = sorted(pathlib.Path(tree).rglob("*.java"))
        return place.compile_java(out, [*(place.HERE / "recorder").glob("*.java"), *generated], "--release", "11")


# ---- making ----


def run_java(command, log):
    """Runs a JVM that records, with a word every half minute."""
    with open(log, "wb") as to:
        with subprocess.Popen([str(word) for word in command], stdout=to, stderr=subprocess.STDOUT) as process:
            started = time.monotonic()
            while True:
                try:
                    status = process.wait(timeout=30)
                    break
                except subprocess.TimeoutExpired:
                    say(f"still recording, {time.monotonic() - started:.0f} s")
    if status:
        raise BenchError(f"{command[0]} ended with status {status}; see {log}")


# One compiler only: a recorder tells the same frames apart by how they were compiled, and their pools would double.
COMMON = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
POOLS, THREADS = 2, 2  # more would lose events: of the profiler's locks a thread tries three


def call_tree(release, leaves, depth, objects, seconds, how=(), options=()):
    return [
        place.java(release), *COMMON, *options, "-cp", classes(), "bench.CallTree",
        POOLS, THREADS, leaves, depth, objects, seconds, *how,
    ]  # fmt: skip


def make_async(out, leaves, depth, objects):
    events, seconds = "event=ctimer,interval=20ms,alloc=1,lock=1", 0
    if objects == 0:
        events, objects, seconds = "event=ctimer,interval=1ms", ENDLESS, SPIN_SECONDS
    command = f"start,{events},cstack=vm,chunksize=4g,jfr,file={out}"
    run_java(
        call_tree(17, leaves, depth, objects, seconds, ("--async", place.PROFILER, command)), out.with_suffix(".log")
    )


def make_jdk_parts(out, parts, leaves, depth, objects):
    # Without buffers of their own threads make an event of each allocation.
    how = ("--jdk", parts, out.with_suffix(".part"))
    run_java(call_tree(25, leaves, depth, objects, 0, how, ("-XX:-UseTLAB",)), out.with_suffix(".log"))
    files = [out.with_suffix(f".part{number}.jfr") for number in range(parts)]
    concatenate(out, files)
    for file in files:
        file.unlink()


def make_jdk_settings(out, release, settings):
    option = f"-XX:StartFlightRecording=filename={out},settings={settings}"
    run_java(call_tree(release, 12_000, 33, ENDLESS, SPIN_SECONDS, options=(option,)), out.with_suffix(".log"))


def concatenate(out, files):
    with open(out, "wb") as to:
        for file in files:
            with open(file, "rb") as piece:
                shutil.copyfileobj(piece, to, 1 << 20)


def make_cat(out, *names):
    concatenate(out, [made(name) for name in names])


MAKERS = {"async": make_async, "jdk-parts": make_jdk_parts, "jdk-settings": make_jdk_settings, "cat": make_cat}


# ---- shapes ----


def chunk_count(path):
    """The chunks of a file, by their headers (size: big-endian at 8)."""
    count, offset, end = 0, 0, path.stat().st_size
    with open(path, "rb") as file:
        while offset < end:
            file.seek(offset)
            magic, size = struct.unpack(">4s4xq", file.read(16))
            if magic != b"FLR\0" or size < 68:
                raise BenchError(f"{path}: no chunk at byte {offset}")
            count, offset = count + 1, offset + size
    return count


def measure_shape(path):
    seen = peers.jdk_totals(path, threads=True)
    kinds = [seen[kind] for kind in ("cpu", "alloc", "lock")]
    return {
        "bytes": path.stat().st_size,
        "events": seen["events"],
        "chunks": chunk_count(path),
        "alloc_events": seen["alloc"]["samples"],
        "alloc_stacks": seen["alloc"]["stacks"],
        "mean_depth": sum(k["frames"] for k in kinds) / max(1, sum(k["stacks"] for k in kinds)),
        "stacks": sum(k["stacks"] for k in kinds),
        "pool_stacks": sum(k["pool_stacks"] for k in kinds),
        "pool_frames": sum(k["pool_frames"] for k in kinds),
        # Allocations and locks are two profile types each (bytes and objects, count and delay).
        "triples": seen["cpu"]["pairs"] + 2 * seen["alloc"]["pairs"] + 2 * seen["lock"]["pairs"],
        "totals": {kind: {k: seen[kind][k] for k in ("samples", "value")} for kind in ("cpu", "alloc", "lock")},
    }


def summed_shape(path, names):
    """The shape of a concatenation: the parts' sums; what is distinct is that of the largest part."""
    parts = [shape(name) for name in names]
    largest = max(parts, key=lambda part: part["events"])
    total = {"bytes": path.stat().st_size, "chunks": chunk_count(path)}
    for what in ("events", "alloc_events", "pool_stacks", "pool_frames"):
        total[what] = sum(part[what] for part in parts)
    # Recordings of different runs share no threads, and stacks by chance only.
    distinct = [shape(name) for name in dict.fromkeys(names)]
    for what in ("alloc_stacks", "stacks", "triples"):
        total[what] = sum(part[what] for part in distinct)
    total["mean_depth"] = largest["mean_depth"]
    total["totals"] = {
        kind: {what: sum(part["totals"][kind][what] for part in parts) for what in ("samples", "value")}
        for kind in ("cpu", "alloc", "lock")
    }
    return total


# ---- the cache ----


def path_of(name):
    return FOLDER / f"{name}-{key(name)}.jfr"


def shape(name):
    get(name)
    return json.loads(path_of(name).with_suffix(".json").read_text(encoding="utf-8"))


def is_there(path):
    return path.with_suffix(".json").exists() and path.exists()


@functools.cache
def write_anew(path):
    """Writes a file once more in large pieces, once a run: how its pages lie in memory is then the same in all runs."""
    new = path.with_suffix(f".{os.getpid()}.new")
    with open(path, "rb", buffering=0) as old, open(new, "wb", buffering=0) as file:
        while piece := old.read(PIECE):
            file.write(piece)
    os.replace(new, path)
    return path


def get(name):
    """Returns the recording's file, which is made if it is not in the cache, and written again."""
    return write_anew(made(name))


def made(name):
    """Returns the recording's file in the cache, which is made if it is missing."""
    path = path_of(name)
    if is_there(path):
        return path
    recording = ALL[name]
    if recording.maker == "cat":
        for part in recording.arguments:
            made(part)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w", encoding="utf-8") as lock:  # another run may be making it
        fcntl.flock(lock, fcntl.LOCK_EX)
        return path if is_there(path) else make(name, path)


def make(name, path):
    recording = ALL[name]
    for old in FOLDER.glob(f"{name}-" + "[0-9a-f]" * 16 + ".*"):
        old.unlink()
    say(f"recording {name}: {recording.about}")
    started = time.monotonic()
    new = FOLDER / f"{name}.new.jfr"
    MAKERS[recording.maker](new, *recording.arguments)
    found = summed_shape(new, recording.arguments) if recording.maker == "cat" else measure_shape(new)
    path.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)
    for rest in FOLDER.glob(f"{name}.new*"):
        rest.unlink()
    say(f"{name}: {found['bytes'] / 1e6:.1f} MB, {found['events'] / 1e6:.2f} M events, {time.monotonic() - started:.0f} s")
    return path


def off_shape(name):
    """Returns the properties of a recording that differ from the wanted ones: (what, wanted, found)."""
    found = shape(name)
    return [
        (what, wanted, found[what])
        for what, wanted in ALL[name].wanted.items()
        if abs(found[what] - wanted) > TOLERANCE * wanted
    ]


def file_of(name) -> pathlib.Path:
    """Returns the same file as get; refuses a recording whose shape is not the wanted one."""
    path = get(name)
    off = off_shape(name)
    if off:
        raise BenchError(
            f"{name} is not the counterpart it should be: "
            + ", ".join(f"{what} {found:,.0f}, wanted {wanted:,.0f}" for what, wanted, found in off)
        )
    return path
