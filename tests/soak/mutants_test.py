#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line on damaged inputs of every kind: an answer or a refusal, never a crash, a leak or an output that is no document.

usage: mutants_test.py HOTSTACK DATADIR RUNS [SEED]
  HOTSTACK  the program, best one that was built with AddressSanitizer and UBSan
  DATADIR   the folder with flamegraph.html, where the build has one
  RUNS      how many, from one seed; or "45s" for so long (HOTSTACK_SOAK_SECONDS, where it is set, instead), from a new one
Prints TAP. An input that fails is kept, with the command, in a folder that is named.
"""
import gzip
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
# Seconds of CPU time after which a run hangs.
CPU_LIMIT = 300
WRONG = (b"Sanitizer", b"runtime error:")
TYPES = ("cpu", "alloc_bytes", "alloc_objects", "lock_count", "lock_delay", "wall", "live_bytes", "nativemem_bytes")
FILTERS = (["--threads"], ["--lines"], ["--raw-names"], ["--inverted"], ["--min-width", "1"], ["--max-nodes", "7"], ["--max-stacks", "3"],
           ["--max-memory", "1"], ["--thread-pattern", "[0-9]"])
JFR_FILTERS = (["--from", "1700000000"], ["--from", "+1s", "--to", "-1s"], ["--to", "2030-01-01T00:00:00Z"], ["--state", "runnable,unknown"])
ENDINGS = ("json", "html", "collapsed", "pb.gz", "speedscope.json", "csv", "top.json", "arrow")
LOOKS = (["summary"], ["summary", "--json"], ["print"], ["print", "--json"], ["print", "--stack-depth", "1000"], ["events"], ["metadata"],
         ["metadata", "--json"], ["totals"], ["totals", "--jobs", "3", "--json"])


# ---- inputs ----


def recordings():
    """{name: bytes} of small recordings and of the reader's fixtures."""
    found = {path.name: gzip.decompress(path.read_bytes()) for path in sorted((TREE / "tests/data/jfr").rglob("*.jfr.gz"))}
    found |= {path.name: path.read_bytes() for path in sorted((TREE / "libjfr/tests/data/ok").glob("*.jfr"))}
    return found


def foreign(program, directory, jfrs):
    """Profiles and collapsed stacks that the program itself makes of recordings."""
    pprofs, texts = {}, {}
    for name, data in list(jfrs.items())[:6]:
        (directory / "in.jfr").write_bytes(data)
        for out in ("in.pb.gz", "in.collapsed"):
            subprocess.run([program, "convert", "in.jfr", "--threads", "--lines", "-o", out], cwd=directory, check=False, capture_output=True)
        pprofs[name] = gzip.decompress((directory / "in.pb.gz").read_bytes())
        for text in directory.glob("in.*.collapsed"):
            texts[f"{name} {text.name}"] = text.read_bytes()
            text.unlink()
    return pprofs, texts


# ---- damage ----


def span(data, most=64):
    at = random.randrange(len(data) + 1)
    return at, min(len(data), at + random.randrange(1, most))


def flip(data):
    for _ in range(random.choice((1, 1, 2, 8))):
        data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))


def cut(data):
    del data[random.randrange(len(data)):]


def remove(data):
    begin, end = span(data)
    del data[begin:end]


def repeat(data):
    begin, end = span(data, 4096)
    data[begin:begin] = data[begin:end] * random.choice((1, 2, 50))


def varint(data):
    """In place of as many bytes, so that what stands around it keeps its place."""
    word = random.choice((b"\xff" * 9, b"\x80" * 8 + b"\x01", b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\x00" * 9, b"\x7f", b"\x00"))
    begin = random.randrange(max(1, len(data) - len(word)))
    data[begin:begin + len(word)] = word[:len(data) - begin]


def number(data):
    begin, end = span(data, 20)
    data[begin:end] = random.choice((b"18446744073709551615", b"18446744073709551616", b"-1", b"1e9", b" ", b";;;", b"\n", b"\0", b"[t tid=",
                                     b"] ", b"a" * 70000, b";b" * 70000))


def damaged(data, others):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        if data:
            random.choice((flip, flip, flip, flip, varint, varint, varint, cut, remove, repeat, number))(data)
    other = random.choice(others)
    if random.random() < 0.05:
        data += other[random.randrange(len(other)):]
    # Behind something whole, what is damaged is salvaged rather than refused.
    return (other if random.random() < 0.3 else b"") + bytes(data)


# ---- runs ----


class Runs:
    def __init__(self, program, datadir, directory):
        self.program, self.directory = program, directory
        self.env = dict(os.environ, HOTSTACK_DATADIR=str(datadir),
                        ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=4096:" + os.environ.get("ASAN_OPTIONS", ""))
        self.has_pages = (datadir / "flamegraph.html").exists()
        jfrs = recordings()
        pprofs, texts = foreign(program, directory, jfrs)
        self.good = directory / "good.jfr"
        self.good.write_bytes(jfrs["async-profiler-4.5-jdk17.jfr.gz"])
        self.kinds = {"jfr": list(jfrs.values()), "pb": list(pprofs.values()), "collapsed": list(texts.values())}
        self.codes, self.kept = {}, None

    def mutant(self):
        """A damaged file's path; packed now and then."""
        kind = random.choice(("jfr", "jfr", "pb", "collapsed"))
        whole = [random.choice(self.kinds[kind]) for _ in range(2)]
        data = damaged(whole[0], whole)
        if kind != "collapsed" and random.random() < 0.3:
            data = gzip.compress(data, 1) if random.random() < 0.7 else damaged(gzip.compress(whole[0], 1), whole)
        path = self.directory / f"mutant.{random.choice(TYPES)}.{kind}"
        path.write_bytes(data)
        return path

    def command(self, path):
        is_jfr = path.suffix == ".jfr"
        filters = [word for words in random.sample(FILTERS + (JFR_FILTERS if is_jfr else ()), random.randrange(3)) for word in words]
        endings = [ending for ending in ENDINGS if self.has_pages or ending != "html"]
        what = random.choice(("convert", "convert", "top", "diff", "jfr") if is_jfr else ("convert", "convert", "top", "diff"))
        if what == "jfr":
            return ["jfr", *random.choice(LOOKS), path]
        if what == "top":
            filters = [word for words in random.sample((["--raw-names"], ["--max-stacks", "3"], ["--thread-pattern", "[0-9]"]), 1) for word in words]
            return ["top", path, *filters, *random.choice((["--json"], ["-n", "0"], ["--by", "total"]))]
        if what == "diff":
            pair = random.choice(([path, path], [path, self.good], [self.good, path]))
            return ["diff", *pair, "--fail-on", "+5% self", "-o", f"out.{random.choice([e for e in endings if e in ('json', 'html')])}"]
        return ["convert", path, *([self.good] if is_jfr and random.random() < 0.1 else []), *filters, "-o", f"out.{random.choice(endings)}"]

    def fault(self, command, done):
        """Returns the fault of a run, or None."""
        self.codes[done.returncode] = self.codes.get(done.returncode, 0) + 1
        if done.returncode not in (0, 1, 3, 4) or any(word in done.stderr for word in WRONG):
            return f"exit {done.returncode}: {done.stderr[-3000:].decode(errors='replace')}"
        if done.returncode == 1 and not done.stderr.strip():
            return "it failed without a word"
        try:
            for out in self.directory.glob("out.*"):
                if out.suffix == ".json":
                    json.loads(out.read_text(encoding="utf-8"))
            if "--json" in command and done.returncode in (0, 3):
                json.loads(done.stdout.decode("utf-8"))
        except ValueError as error:
            return f"its output is no JSON: {error}"
        return None

    def one(self):
        path = self.mutant()
        command = [str(word) for word in self.command(path)]
        for old in self.directory.glob("out.*"):
            old.unlink()
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
        done = subprocess.run([self.program, *command], cwd=self.directory, env=self.env, capture_output=True, preexec_fn=limit, check=False)
        fault = self.fault(command, done)
        if fault is None:
            return None
        self.kept = self.kept or pathlib.Path(tempfile.mkdtemp(prefix="hotstack-mutants-"))
        name = f"{sum(1 for _ in self.kept.iterdir())}-{path.name}"
        shutil.copy(path, self.kept / name)
        return f"{self.kept / name}: {' '.join(command)}\n{fault}"


def main():
    program, datadir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    seconds = os.environ.get("HOTSTACK_SOAK_SECONDS") or sys.argv[3][:-1]
    timed = sys.argv[3].endswith("s")
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int.from_bytes(os.urandom(4)) if timed else 1
    random.seed(seed)
    with tempfile.TemporaryDirectory() as name:
        runs, count, faults = Runs(program, datadir, pathlib.Path(name)), 0, []
        end = time.monotonic() + float(seconds) if timed else None
        while time.monotonic() < end if timed else count < int(sys.argv[3]):
            count += 1
            fault = runs.one()
            if fault is not None:
                faults.append(fault)
                print("# " + fault.replace("\n", "\n# "), flush=True)
    print("1..2")
    print(f"# seed {seed}: {count} runs, exit codes {dict(sorted(runs.codes.items()))}")
    print(f"{'not ok' if faults else 'ok'} 1 - {len(faults)} of {count} runs ended badly")
    good = runs.codes.get(0, 0) + runs.codes.get(3, 0) + runs.codes.get(4, 0)
    print(f"{'ok' if 0 < good < count else 'not ok'} 2 - {good} runs had an answer, the others refused")
    sys.exit(1 if faults or not 0 < good < count else 0)


main()
