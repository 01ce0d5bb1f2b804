#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack convert's formats and filters, and hotstack diff, over recordings of real JVMs.

usage: formats_test.py HOTSTACK DATADIR
  HOTSTACK  the program
  DATADIR   the folder where the build puts flamegraph.html, when it has Node
Prints TAP. Skips, naming the command that helps, where javac, a JDK or async-profiler is missing.
"""
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from recordings import CACHE, INSTALL, TREE, Recordings, run_tests

sys.path.insert(0, str(TREE / "tests/support"))
import flamegraph_page  # noqa: E402

import arrow_file  # noqa: E402


def go():
    """Returns the Go that the dependency script installs, else the machine's."""
    return next((str(path) for path in sorted(CACHE.glob("go*/**/bin/go"))), None) or shutil.which("go")


def samples_of(collapsed):
    rows = [line.rsplit(" ", 1) for line in collapsed.splitlines()]
    return {stack: int(value) for stack, value in rows}


def pprof_of(stacks, duration_ns):
    """Makes a profile of CPU time for pprof (profile.proto) from tuples of names, root first, and their nanoseconds."""
    def number(value):
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        return bytes(out + bytes([value]))

    def field(tag, value):
        return number(tag << 3) + number(value) if isinstance(value, int) else number(tag << 3 | 2) + number(len(value)) + value

    strings = ["", "cpu", "nanoseconds"] + sorted({name for stack in stacks for name in stack})
    out = field(1, field(1, 1) + field(2, 2))
    for stack, value in stacks.items():
        out += field(2, b"".join(field(1, strings.index(name)) for name in reversed(stack)) + field(2, value))
    for index in range(3, len(strings)):
        out += field(4, field(1, index) + field(4, field(1, index))) + field(5, field(1, index) + field(2, index))
    out += b"".join(field(6, text.encode()) for text in strings)
    return out + field(9, 1_700_000_000_000_000_000) + field(10, duration_ns)


class Tests:
    def __init__(self, program, datadir, recordings):
        self.program, self.datadir, self.directory = program, datadir, recordings.directory
        self.env = dict(os.environ, HOTSTACK_DATADIR=str(datadir))
        self.asynchronous = recordings.make("async-all", 21)
        self.jdk = recordings.make("jdk-all", 17)

    def run(self, *arguments, code=0):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.directory, env=self.env, capture_output=True)
        stderr = done.stderr.decode()
        assert done.returncode == code, f"exit {done.returncode}, not {code}: {stderr}"
        return done.stdout, stderr

    def run_stdin(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], cwd=self.directory, env=self.env, check=True,
                              input=self.asynchronous.read_bytes(), stdout=subprocess.PIPE).stdout

    def document(self, *arguments):
        return flamegraph_page.read(self.run("convert", *arguments, "-f", "json", "-o", "-")[0])

    def totals(self, *arguments):
        return {p["type"]: p["total"] for p in self.document(*arguments)["profiles"]}

    def cut(self, bound, at):
        """Totals of a part of the recording; without a type when it has no sample."""
        done = subprocess.run([self.program, "convert", self.asynchronous, bound, at, "-f", "json", "-o", "-"],
                              cwd=self.directory, env=self.env, capture_output=True)
        if b"no profile sample of the input passes the filters" in done.stderr:
            return {}
        assert done.returncode == 0, done.stderr.decode()
        return {p["type"]: p["total"] for p in flamegraph_page.read(done.stdout)["profiles"]}

    def collapsed(self, kind, *arguments):
        return samples_of(self.run("convert", *arguments, "-t", kind, "-f", "collapsed", "-o", "-")[0].decode())

    # ---- files for other tools

    def test_pprof_opens_in_its_tool_to_the_same_totals(self):
        tool = go()
        if tool is None:
            return "go is missing: run deploy/dependencies/install test"
        for name in ("all.pprof", "all.pb.gz"):
            self.run("convert", self.asynchronous, "-o", name)
        env = dict(os.environ, HOME=str(self.directory), PPROF_TMPDIR=str(self.directory), GOFLAGS="-mod=mod", GOTOOLCHAIN="local")
        raw = subprocess.run([tool, "tool", "pprof", "-raw", "all.pb.gz"], cwd=self.directory, env=env, capture_output=True,
                             text=True, check=True).stdout
        types = re.search(r"Samples:\n(.*)\n", raw)[1].split()
        sums = [0] * len(types)
        for line in raw.split("Samples:\n", 1)[1].split("\nLocations", 1)[0].splitlines()[1:]:
            row = re.match(r"\s*([\d ]+):", line)
            if row:
                sums = [total + int(value) for total, value in zip(sums, row[1].split(), strict=True)]
        ours = {t.split("/")[0]: total for t, total in zip(types, sums)}
        counts = {p["type"]: p["samples"] for p in self.document(self.asynchronous)["profiles"]}
        twins = counts["alloc_objects"] + counts["lock_delay"]  # the same samples as of bytes and counts
        assert ours.pop("samples") == sum(counts.values()) - twins
        assert ours == self.totals(self.asynchronous), ours
        for table in json.loads(self.run("convert", self.asynchronous, "-f", "top", "-o", "-")[0])["types"]:
            total, rows = self.pprof_top(tool, env, table)
            assert total == table["value"], (table["type"], total)
            wanted = {}
            for row in table["rows"]:
                name = (row["class"] + "." if row["class"] else "") + row["method"]
                flat, cum = wanted.get(name, (0, 0))
                wanted[name] = flat + row["self"], cum + row["total"]
            assert {name: flat for name, (flat, _) in rows.items()} == {name: flat for name, (flat, _) in wanted.items()}
            same = [name for name in wanted if sum(r["method"] == name.rsplit(".", 1)[-1] for r in table["rows"]) == 1]
            assert same and all(rows[name] == wanted[name] for name in same), table["type"]
        return None

    def pprof_top(self, tool, env, table):
        """Returns the output of `go tool pprof -top` for a type, as (total, {function: (flat, cum)}), in the type's own unit."""
        command = [tool, "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", f"-sample_index={table['type']}",
                   f"-unit={table['unit']}", "all.pprof"]
        text = subprocess.run(command, cwd=self.directory, env=env, capture_output=True, text=True, check=True).stdout
        unit = {"ns": "ns", "bytes": "B", "count": ""}[table["unit"]]
        total = re.search(rf"% of (\d+){unit} total", text)  # below 100 where samples have no stack
        assert total, text[:400]
        rows = {}
        for flat, cum, name in re.findall(rf"^ *(\d+)(?:{unit})? +\S+% +\S+% +(\d+)(?:{unit})? +\S+%  (.*)$", text, re.MULTILINE):
            rows[name.removesuffix(" (inline)")] = int(flat), int(cum)
        return int(total[1]), rows

    def test_speedscope_holds_the_same_stacks(self):
        self.run("convert", self.asynchronous, "-o", "all.speedscope.json")
        document = json.loads((self.directory / "all.speedscope.json").read_text())
        assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
        names = [frame["name"] for frame in document["shared"]["frames"]]
        assert {p["name"]: p["endValue"] for p in document["profiles"]} == self.totals(self.asynchronous)
        for profile in document["profiles"]:
            stacks = collections.Counter()
            for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                stacks[";".join(names[frame] for frame in stack) or "[no stack]"] += weight
            assert profile["type"] == "sampled" and profile["startValue"] == 0
            assert stacks == self.collapsed(profile["name"], self.asynchronous), profile["name"]

    def test_arrow_holds_the_same_stacks(self):
        self.run("convert", self.asynchronous, "-o", "all.arrow")
        self.run("convert", self.asynchronous, "--threads", "-o", "threads.arrow")
        table = arrow_file.read((self.directory / "all.arrow").read_bytes())
        assert set(table) == {"type", "unit", "thread", "stack_id", "value", "raw_value", "samples", "frames", "lines"}
        assert len({(kind, stack) for kind, stack in zip(table["type"], table["stack_id"])}) == len(table["type"])
        stacks = collections.defaultdict(collections.Counter)
        for kind, value, frames, lines in zip(table["type"], table["value"], table["frames"], table["lines"], strict=True):
            stacks[kind][";".join(frames[::-1]) or "[no stack]"] += value
            assert len(frames) == len(lines)
        assert set(stacks) == set(self.totals(self.asynchronous))
        for kind, ours in stacks.items():
            assert ours == self.collapsed(kind, self.asynchronous), kind
        for profile in self.document(self.asynchronous)["profiles"]:
            rows = [i for i, kind in enumerate(table["type"]) if kind == profile["type"]]
            assert sum(table["samples"][i] for i in rows) == profile["samples"]
            assert sum(table["raw_value"][i] for i in rows) == int(profile["raw_total"])
        threads = arrow_file.read((self.directory / "threads.arrow").read_bytes())
        assert sum(threads["value"]) == sum(table["value"]) and len(set(threads["thread"])) > 1 and set(table["thread"]) == {""}
        self.run("convert", self.asynchronous, "-o", "again.arrow")
        assert (self.directory / "again.arrow").read_bytes() == (self.directory / "all.arrow").read_bytes()

    def test_arrow_takes_many_batches(self):
        count = 140000
        (self.directory / "batches.cpu.collapsed").write_text("".join(f"a.B.run;c.D.m{i} {i + 1}\n" for i in range(count)))
        self.run("convert", "batches.cpu.collapsed", "-o", "batches.arrow")
        table = arrow_file.read((self.directory / "batches.arrow").read_bytes())
        assert sorted(table["value"]) == list(range(1, count + 1))
        assert all(frames == [f"c.D.m{value - 1}", "a.B.run"] for frames, value in zip(table["frames"], table["value"]))

    def test_top_tables_add_up(self):
        self.run("convert", self.asynchronous, "-o", "all.top.json")
        document = json.loads((self.directory / "all.top.json").read_text())
        assert {t["type"]: t["value"] for t in document["types"]} == self.totals(self.asynchronous)
        _, stderr = self.run("convert", self.asynchronous, "-o", "all.csv")
        for table in document["types"]:
            stacks = self.collapsed(table["type"], self.asynchronous)
            self_, total = collections.Counter(), collections.Counter()
            for stack, value in stacks.items():
                frames = stack.split(";")
                self_[frames[-1]] += value
                for frame in set(frames):
                    total[frame] += value
            assert f"all.{table['type']}.csv" in stderr
            rows = list(csv.DictReader((self.directory / f"all.{table['type']}.csv").open(newline="")))
            assert len(rows) == len(table["rows"])
            for row, listed in zip(rows, table["rows"]):
                assert (row["class"], row["method"], row["kind"]) == (listed["class"], listed["method"], listed["kind"])
                unit = {"ns": "ns", "bytes": "bytes", "count": "count"}[table["unit"]]
                assert (int(row[f"self_{unit}"]), int(row[f"total_{unit}"])) == (listed["self"], listed["total"])
            for name, value in total.items():
                of_name = [r for r in table["rows"] if (r["class"] + "." if r["class"] else "") + r["method"] == name]
                assert name == "[no stack]" or (sum(r["self"] for r in of_name), max(r["total"] for r in of_name)) <= (self_[name], value)
            assert sum(r["self"] for r in table["rows"]) == sum(v for k, v in stacks.items() if k != "[no stack]")

    # ---- top in the terminal

    def top(self, *arguments, code=0):
        return self.run("top", *arguments, code=code)[0].decode()

    def test_top_prints_the_hottest_of_each_type(self):
        tables = json.loads(self.run("convert", self.asynchronous, "-f", "top", "-o", "-")[0])["types"]
        assert json.loads(self.top(self.asynchronous, "--json", "-n", "0"))["types"] == tables
        blocks = self.top(self.asynchronous, "-n", "5").split("\n\n")
        assert [block.split(":")[0] for block in blocks] == [table["type"] for table in tables]
        units = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "bytes": 1, "": 1}
        value = r" *(\d+(?:\.\d\d)?) (\w*) +(\d+\.\d) %"
        for block, table in zip(blocks, tables, strict=True):
            lines = block.strip().splitlines()
            assert lines[0].endswith(f" in {table['samples']} samples") and lines[1].split() == ["self", "total", "method"], lines[:2]
            assert (len(table["rows"]) > 5) == lines[-1].endswith("more; -n 0 prints all"), lines[-1]
            assert all(line.index(row["method"]) == lines[1].index("method") + len(row["class"]) + bool(row["class"])
                       for line, row in zip(lines[2:], table["rows"][:5]))
            for line, row in zip(lines[2:], table["rows"][:5]):
                found = re.match(f"{value}{value}  (.*)$", line)
                assert found, line
                for at, column in ((1, "self"), (4, "total")):
                    shown, unit, percent = float(found[at]), units[found[at + 1]], float(found[at + 2])
                    assert abs(shown * unit - row[column]) <= 0.005 * unit * 1.001, (line, row)
                    assert abs(percent - 100 * row[column] / table["value"]) <= 0.0501, (line, row)
                assert found[7].split(" [")[0] == (row["class"] + "." if row["class"] else "") + row["method"]

    def test_top_sorts_and_cuts(self):
        rows = json.loads(self.top(self.asynchronous, "-t", "cpu", "--json", "-n", "0"))["types"][0]["rows"]
        for by in ("self", "total"):
            table = json.loads(self.top(self.asynchronous, "-t", "cpu", "--json", "-n", "4", "--by", by))["types"][0]
            assert table["rows"] == sorted(rows, key=lambda row: -row[by])[:4] and table["omitted"] == len(rows) - 4

    def test_top_does_not_let_names_drive_the_terminal(self):
        (self.directory / "evil.cpu.collapsed").write_text("a.B.run;c.D.\u202eleft\u2066\x9b31m 5\n")
        (self.directory / "good.cpu.collapsed").write_text("a.B.run 5\n")
        for text in (self.top("evil.cpu.collapsed"),
                     self.run("diff", "good.cpu.collapsed", "evil.cpu.collapsed", "--fail-on", "+5% self", code=4)[1],
                     self.run("top", "\u202eleft\x9b31m", code=1)[1]):
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text) and "left" in text, text

    def test_wrong_usage_of_top_and_its_manual(self):
        for arguments, says in (((), "name a recording"), ((self.jdk, "--by", "size"), "size"), ((self.jdk, "-n", "x"), "--rows"),
                                ((self.jdk, "-t", "cup"), "'cup'; did you mean 'cpu'?"), ((self.jdk, "--frobnicate"), "--help")):
            assert says in self.run("top", *arguments, code=2)[1], arguments
        assert "cpu, alloc_bytes" in self.run("top", self.jdk, "-t", "live_bytes", code=1)[1]
        manual = (self.program.parent / "hotstack-top.1").read_text().replace("\\-", "-")
        assert set(re.findall(r"--[a-z-]+", self.top("--help"))) == set(re.findall(r"--[a-z-]+", manual))

    # ---- other inputs

    def test_our_pprof_and_collapsed_come_back_to_the_same_totals(self):
        totals = self.totals(self.asynchronous)
        self.run("convert", self.asynchronous, "-o", "back.pb.gz")
        (self.directory / "back.pb").write_bytes(gzip.decompress((self.directory / "back.pb.gz").read_bytes()))
        self.run("convert", self.asynchronous, "-o", "back.collapsed")
        texts = sorted(self.directory.glob("back.*.collapsed"))
        for inputs in (("back.pb.gz",), ("back.pb",), texts):
            assert self.totals(*inputs) == totals, inputs
            if inputs != texts:
                samples = {p["type"]: p["samples"] for p in self.document(*inputs)["profiles"]}
                assert samples == {p["type"]: p["samples"] for p in self.document(self.asynchronous)["profiles"]}
            for kind in totals:
                assert self.collapsed(kind, *inputs) == self.collapsed(kind, self.asynchronous), (inputs, kind)
        assert self.totals("back.pb", self.asynchronous, *texts) == {kind: 3 * total for kind, total in totals.items()}

    def test_threads_come_back(self):
        for name in ("threads.pprof", "threads.cpu.collapsed"):
            self.run("convert", self.asynchronous, "-t", "cpu", "--threads", "-o", name)
            for arguments in (("--threads",), (), ("--thread", "burner-1")):
                assert self.collapsed("cpu", name, *arguments) == self.collapsed("cpu", self.asynchronous, *arguments), (name, arguments)
            assert self.collapsed("cpu", name, "--thread", "burner-1")

    def test_a_pprof_is_the_same_however_it_is_read(self):
        for jobs in ("1", "2", "5"):
            self.run("convert", self.asynchronous, self.jdk, "--threads", "-j", jobs, "-o", f"jobs-{jobs}.pprof")
        assert len({(self.directory / f"jobs-{jobs}.pprof").read_bytes() for jobs in ("1", "2", "5")}) == 1

    def test_lines_come_back(self):
        wanted = self.collapsed("cpu", self.jdk, "--lines")
        for name in ("lines.pprof", "lines.cpu.collapsed"):
            self.run("convert", self.jdk, "-t", "cpu", "--lines", "-o", name)
            assert self.collapsed("cpu", name, "--lines") == wanted, name

    def test_collapsed_stacks_need_a_type(self):
        (self.directory / "stacks.txt").write_text("[main tid=7];a.B.run;c.D.work 30\na.B.run 12\n")
        assert "--type" in self.run("convert", "stacks.txt", "-o", "x.json", code=1)[1]
        assert self.totals("stacks.txt", "-t", "wall") == {"wall": 42}
        (self.directory / "runs.cpu.old").mkdir()
        (self.directory / "runs.cpu.old/stacks").write_text("a.B.run 42\n")
        assert self.totals("runs.cpu.old/stacks", "-t", "wall") == {"wall": 42}
        assert self.totals("stacks.txt", "-t", "wall", "--thread", "main") == {"wall": 30}
        piped = subprocess.run(["sh", "-c", f"cat stacks.txt | '{self.program}' convert - -t wall -f collapsed -o -"], cwd=self.directory,
                               capture_output=True, text=True, check=True).stdout
        assert piped == "a.B.run 12\na.B.run;c.D.work 30\n"
        assert "time" in self.run("convert", "stacks.txt", "-t", "wall", "--from", "1", "-o", "x.json", code=1)[1]

    def test_foreign_inputs_that_are_damaged_say_so(self):
        self.run("convert", self.asynchronous, "-o", "whole.pb.gz")
        whole = (self.directory / "whole.pb.gz").read_bytes()
        for name, content, says in (("bad.pb.gz", whole[:-20], "too early"), ("bad.pb", b"\x0a\x03\x00\x01", "no JFR recording and no profile"),
                                    ("bad.cpu.collapsed", b"a;b 5\na;b\n", "at byte 6: ")):
            (self.directory / name).write_bytes(content)
            assert says in self.run("convert", name, "-o", "x.json", code=1)[1], name
            assert not (self.directory / "x.json").exists()

    def test_text_that_is_no_profile_is_called_that(self):
        (self.directory / "Shop.java").write_text("public class Shop {\n    int items = 1\n}\n")
        for arguments in (("convert", "Shop.java", "-o", "x.json"), ("convert", "Shop.java", "-t", "cpu", "--from", "1", "-o", "x.json"), ("top", "Shop.java")):
            assert "Shop.java is text, but not collapsed stacks" in self.run(*arguments, code=1)[1], arguments

    def test_a_recording_of_an_old_jdk_is_called_that(self):
        head = bytearray(self.jdk.read_bytes())
        head[4:8] = (0, 0, 0, 9)
        (self.directory / "old.jfr").write_bytes(head)
        assert "JFR version 0.9 is the format of Oracle's JDK 7 or 8" in self.run("top", "old.jfr", code=1)[1]

    def test_collapsed_text_has_one_number_a_line(self):
        """Reads lines like flamegraph.pl: a stack, and a number; of two numbers the first is the other side's."""
        (self.directory / "kotlin.cpu.collapsed").write_text("a.B.run;a.BTest.returns 42 7\na.B.is 1.5;a.B.run 5\n")
        text = self.run("convert", "kotlin.cpu.collapsed", "-f", "collapsed", "-o", "-")[0].decode()
        number = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")
        rows = [number.match(line).groups() for line in text.splitlines()]
        assert rows == [("a.B.is_1.5;a.B.run", "5"), ("a.B.run;a.BTest.returns_42", "7")], rows
        assert not any(number.match(";".join(reversed(stack.split(";")))) or number.match(stack) for stack, _ in rows), rows

    def test_a_diff_takes_other_inputs(self):
        (self.directory / "old.cpu.collapsed").write_text("a.B.run 90\nc.D.work 10\n")
        (self.directory / "new.cpu.collapsed").write_text("a.B.run 50\nc.D.work 50\n")
        _, stderr = self.run("diff", "old.cpu.collapsed", "new.cpu.collapsed", "--fail-on", "+5% self", "-o", "gate.json", code=4)
        assert "c.D.work uses 40.00 points more itself" in stderr, stderr
        failures = json.loads((self.directory / "gate.json").read_text())["types"][0]["failures"]
        assert [(row["class"], row["method"]) for row in failures] == [("c.D", "work")], failures

    def test_caps_keep_totals_and_show_the_loss(self):
        count = 50000
        (self.directory / "many.cpu.collapsed").write_text("".join(f"a.B.run;c.D.m{i};e.F.x{i % 10} {i + 1}\n" for i in range(count)))
        wanted = count * (count + 1) // 2
        for cap in (("--max-stacks", "1000"), ("--max-memory", "2")):
            stdout, stderr = self.run("convert", "many.cpu.collapsed", *cap, "-f", "json", "-o", "-", code=3)
            document = flamegraph_page.read(stdout)
            profile = document["profiles"][0]
            assert profile["total"] == wanted and "[dropped]" in document["strings"], cap
            assert any("summed into [dropped]" in note for note in document["meta"]["notes"]) and "[dropped]" in stderr
        self.run("convert", "many.cpu.collapsed", "--max-stacks", "1000", "-o", "capped.collapsed", code=3)
        kept = samples_of((self.directory / "capped.collapsed").read_text())
        assert sum(kept.values()) == wanted and kept[f"a.B.run;c.D.m{count - 1};e.F.x{(count - 1) % 10}"] == count

    def test_a_sum_that_is_too_large_is_told(self):
        (self.directory / "vast.cpu.collapsed").write_text(f"a.B.run {2**64 - 1}\n")
        self.run("top", "vast.cpu.collapsed")
        assert "reached 2^64 - 1" in self.run("top", "vast.cpu.collapsed", "vast.cpu.collapsed", code=3)[1]

    def test_shards_add_up_to_the_same_bytes(self):
        rows = [f"a.B.run;c.D.m{i % 977};e.F.x{i % 13} {i}\n" for i in range(1, 6401)]
        for shards in (1, 2, 64):
            for at in range(shards):
                (self.directory / f"shard{shards}-{at}.cpu.collapsed").write_text("".join(rows[at::shards]))
        outputs = set()
        for shards in (1, 2, 64):
            inputs = [f"shard{shards}-{at}.cpu.collapsed" for at in range(shards)]
            for order in (inputs, inputs[::-1]):
                profile = self.document(*order)
                outputs.add(json.dumps({key: profile[key] for key in ("strings", "frames", "profiles")} | {"samples": 0}))
                outputs.add(self.run("convert", *order, "-f", "collapsed", "-o", "-")[0])
        assert len(outputs) == 2

    # ---- filters

    def test_threads_by_regex(self):
        whole = self.document(self.asynchronous, "--threads", "-t", "cpu,alloc_bytes")
        for profile in whole["profiles"]:
            frames, nodes = profile["frames"], profile["nodes"]
            by_thread = collections.Counter()
            for depth, frame, total in zip(nodes["depth"], nodes["frame"], nodes["total"]):
                if depth == 1:
                    by_thread[whole["strings"][frames["method"][frame]]] += total
            heaviest = max(by_thread, key=by_thread.get)
            for pattern in (f"^{re.escape(heaviest)}$", "[0-9]$", "a|e"):
                wanted = sum(total for name, total in by_thread.items() if re.search(pattern, name))
                if wanted:
                    assert self.totals(self.asynchronous, "--thread-pattern", pattern, "-t", profile["type"])[profile["type"]] == wanted
            assert self.totals(self.asynchronous, "--thread", heaviest, "-t", profile["type"])[profile["type"]] == by_thread[heaviest]
            assert self.totals(self.asynchronous, "--thread", heaviest, "--thread-pattern", "^.", "-t", profile["type"])[profile["type"]] == by_thread[heaviest]
        assert "no profile sample of the input passes the filters" in self.run("convert", self.asynchronous, "--thread", "no such thread", "-o", "x.json", code=1)[1]
        (self.directory / "pool.cpu.collapsed").write_text("[worker-1 tid=1];a.B.run 3\n[worker-10 tid=2];a.B.run 5\n")
        assert self.totals("pool.cpu.collapsed", "--thread", "worker-1") == {"cpu": 3}
        assert self.totals("pool.cpu.collapsed", "--thread-pattern", "worker-1") == {"cpu": 8}

    def test_time_cuts_without_loss(self):
        meta = self.document(self.asynchronous)["meta"]
        start, end = int(meta["start_ns"]), int(meta["end_ns"])
        middle = (start + end) // 2
        instant = f"{middle // 10**9}.{middle % 10**9:09}"
        whole = self.totals(self.asynchronous)
        parts = collections.Counter()
        for bound in ("--from", "--to"):
            parts.update(self.totals(self.asynchronous, bound, instant))
        assert parts == whole
        assert self.totals(self.asynchronous, "--from", "2020-01-31T09:15:00Z", "--to", "2099-01-01T00:00:00.5Z") == whole

    def test_times_from_the_recordings_start_and_end(self):
        meta = self.document(self.asynchronous)["meta"]
        start, end = int(meta["start_ns"]), int(meta["end_ns"])
        instant = lambda ns: f"{ns // 10**9}.{ns % 10**9:09}"
        # A quarter of the recording, in every way to write it. How long it is depends on the machine's load.
        minutes = max(1, (end - start) // 4 // 60_000_000)  # thousandths
        quarter = minutes * 60_000_000
        for offset in (f"{minutes * 60}ms", f"{minutes * 60 / 1000:.2f}s", f"{minutes * 60 / 1000:.2f}", f"{minutes / 1000:.3f}m"):
            for bound in ("--from", "--to"):
                assert self.cut(bound, f"+{offset}") == self.cut(bound, instant(start + quarter)), offset
                assert self.cut(bound, f"-{offset}") == self.cut(bound, instant(end - quarter)), offset
        # Each recording has its own start: standard input, too.
        bounds = ("--from", f"+{minutes * 60}ms", f"--to=-{minutes * 60}ms")
        once = self.totals(self.asynchronous, *bounds)
        assert 0 < once["cpu"] < self.totals(self.asynchronous)["cpu"]
        both = json.loads(self.run_stdin("top", self.asynchronous, "-", *bounds, "--json"))
        assert {t["type"]: t["value"] for t in both["types"]} == {name: value * 2 for name, value in once.items()}
        ours = [self.run("jfr", "events", self.asynchronous, "--events", "jdk.ExecutionSample", "--from", at)[0]
                for at in (f"-{minutes * 60}ms", instant(end - quarter))]
        assert ours[0] == ours[1] != b""

    def test_times_of_a_recording_without_an_end(self):
        """A chunk that its JVM never finished ends with its last event."""
        head = bytearray(self.jdk.read_bytes())
        head[64] = 3  # as while it is written
        (self.directory / "killed.jfr").write_bytes(head[:-100])
        whole = json.loads(self.run("top", "killed.jfr", "-t", "cpu", "--json", code=3)[0])["types"][0]["value"]
        last = json.loads(self.run("top", "killed.jfr", "-t", "cpu", "--json", "--from", "-1s", code=3)[0])["types"][0]["value"]
        assert 0 < last < whole, (last, whole)

    def test_states_part_the_samples(self):
        whole = self.totals(self.jdk)
        parts = collections.Counter()
        for state in ("runnable", "sleeping", "native", "unknown"):
            done = subprocess.run([self.program, "convert", self.jdk, "--state", state, "-f", "json", "-o", "-"], capture_output=True)
            if done.returncode == 0:
                parts.update({p["type"]: p["total"] for p in flamegraph_page.read(done.stdout)["profiles"]})
        assert parts == whole
        assert self.totals(self.jdk, "--state", "runnable,sleeping,native,unknown") == whole

    def test_inverted_begins_with_the_leaves(self):
        document = self.document(self.asynchronous, "--inverted", "--max-nodes", "0")
        for profile in document["profiles"]:
            roots = collections.Counter()
            for stack, value in self.collapsed(profile["type"], self.asynchronous).items():
                roots[stack.split(";")[-1]] += value
            frames, nodes, strings = profile["frames"], profile["nodes"], document["strings"]
            ours = collections.Counter()
            for depth, frame, total in zip(nodes["depth"], nodes["frame"], nodes["total"]):
                if depth == 1:
                    cls = strings[frames["class"][frame]]
                    ours[(cls + "." if cls else "") + strings[frames["method"][frame]]] += total
            del roots["[no stack]"]
            assert ours == roots, profile["type"]

    def test_options_that_change_nothing_are_noted(self):
        for option, name, noted in (("--inverted", "x.arrow", True), ("--inverted", "x.json", False), ("--min-width=1", "x.pprof", True),
                                    ("--threads", "x.top.json", True), ("--threads", "x.arrow", False), ("--lines", "x.csv", True), ("--lines", "x.pprof", True), ("--lines", "x.arrow", True), ("--lines", "x.json", False), ("--max-nodes=5", "x.pprof", True),
                                    ("--max-nodes=5", "x.json", False), ("--max-cells=1000", "x.json", True)):
            stderr = self.run("convert", self.jdk, "-t", "cpu", option, "-o", name)[1]
            assert (f"note: {option.split('=')[0]} changes" in stderr) == noted, (option, name, stderr)

    def test_bad_filters_are_refused(self):
        for arguments, says in ((("--thread-pattern", "("), "--thread-pattern"), (("--from", "yesterday"), "--from"), (("--from", "2026-02-30T00:00:00Z"), "2026-02-30"), (("--to", "2026-01-31T24:61:00Z"), "--to"),
                                (("--to", "2026-01-31T09:00:00+2:00"), "--to"), (("--from", "2026-01-31T12:00:00+02:00", "--to", "2026-01-31T11:00:00Z", "--state", "?"), "'?'"), (("--to", "-5x"), "--to"), (("--from", "+"), "--from"), (("--from", "+1e3s"), "--from"),
                                (("--from", "8", "--to", "7.5"), "earlier than --to"), (("--to", "8", "--from", "8"), "earlier than --to"), (("--to", "+8s", "--from", "+8s"), "earlier than --to"), (("--from", "-1s", "--to", "-2s"), "earlier than --to"),
                                (("--state", "asleep"), "asleep"), (("--state", ""), "--state takes"), (("--state", ","), "--state takes"),
                                (("--thread-pattern", "(" * 60000), "--thread-pattern")):
            assert says in self.run("convert", self.jdk, "-o", "x.json", *arguments, code=2)[1]

    # ---- diff

    def test_a_recording_does_not_differ_from_itself(self):
        self.run("diff", self.asynchronous, self.asynchronous, "--fail-on", "+0% self", "-o", "same.json")
        document = json.loads((self.directory / "same.json").read_text())
        assert {t["type"]: t["after_total"] for t in document["types"]} == self.totals(self.asynchronous)
        for table in document["types"]:
            assert table["failures"] == []
            assert all(row["before_self"] == row["after_self"] for row in table["changes"])

    def test_shares_are_those_of_the_top_tables(self):
        self.run("diff", self.jdk, self.asynchronous, "-t", "cpu", "-o", "two.json")
        table = json.loads((self.directory / "two.json").read_text())["types"][0]
        for side, recording in (("before", self.jdk), ("after", self.asynchronous)):
            top = json.loads(self.run("convert", recording, "-t", "cpu", "-f", "top", "-o", "-")[0])["types"][0]
            selfs = collections.Counter()
            for row in top["rows"]:
                selfs[row["class"], row["method"]] += row["self"]
            listed = collections.Counter()
            for row in table["changes"]:
                listed[row["class"], row["method"]] += row[f"{side}_self"]
                assert abs(row[f"{side}_share"] - row[f"{side}_self"] * 1e9 / top["value"]) <= 1
            assert +listed == +selfs

    def test_the_page_of_a_diff_holds_both_sides(self):
        if not (self.datadir / "flamegraph.html").exists():
            return "no template: the build has no Node"
        self.run("diff", self.jdk, self.asynchronous, "-t", "cpu,alloc_bytes", "-o", "diff.html")
        pictures = flamegraph_page.picture(flamegraph_page.of_page((self.directory / "diff.html").read_text()))
        for at, recording in ((2, self.asynchronous), (3, self.jdk)):
            totals = self.totals(recording, "-t", "cpu,alloc_bytes")
            for kind, picture in pictures.items():
                assert sum(node[at] for node in picture["nodes"]) + sum(row[at - 1] for row in picture["omitted"]) == totals[kind]
        return None

    def test_the_page_of_a_diff_tells_what_is_missing_of_each_side(self):
        if not (self.datadir / "flamegraph.html").exists():
            return "no template: the build has no Node"
        (self.directory / "short.jfr").write_bytes(self.asynchronous.read_bytes()[:-1000])
        for sides, says in ((("short.jfr", self.jdk), "before: truncated at byte"), ((self.jdk, "short.jfr"), "after: truncated at byte")):
            self.run("diff", *sides, "-t", "cpu", "-o", "short.html", code=3)
            notes = flamegraph_page.of_page((self.directory / "short.html").read_text())["meta"]["notes"]
            assert any(note.startswith(says) for note in notes), (says, notes)
        return None

    def slow_and_fast(self):
        """Makes two recordings of ten seconds: the second uses twice as much CPU, in the same shares."""
        for name, value in (("fast", 1), ("slow", 2)):
            stacks = {("a.B.run", "a.B.work"): 60 * value, ("a.B.run",): 40 * value}
            (self.directory / f"{name}.pprof").write_bytes(pprof_of(stacks, 10_000_000_000))
        return "fast.pprof", "slow.pprof"

    def test_a_diff_prints_tables_and_a_verdict(self):
        fast, slow = self.slow_and_fast()
        lines = self.run("diff", fast, slow)[0].decode().splitlines()
        assert lines[0] == "cpu: 100 ns before, 200 ns after; per second 10 ns before, 20 ns after (+100.0 %)", lines
        assert lines[1].split() == ["before", "after", "change", "99", "%", "interval", "method"], lines
        assert lines[3].split() == ["60.00", "%", "60.00", "%", "+0.00", "a.B.work"], lines
        assert lines[-1] == "verdict: no rule was given (--fail-on); 0 methods grew and 0 shrank beyond chance", lines
        one = self.run("diff", self.jdk, self.asynchronous, "-t", "cpu", "-n", "1")[0].decode().splitlines()
        assert re.search(r"; per second [\d.]+ m?s before, [\d.]+ m?s after", one[0]) and re.fullmatch(r"\d+ more; -n 0 prints all", one[3]), one
        every = self.run("diff", self.jdk, self.asynchronous, "-t", "cpu", "-n", "0")[0].decode().splitlines()
        assert len(every) - 4 == int(one[3].split()[0]) + 1 and one[2] == every[2], (one, every)

    def test_a_rule_on_totals_sees_what_shares_do_not(self):
        fast, slow = self.slow_and_fast()
        same = self.run("diff", fast, slow, "--fail-on", "+5% self")[0].decode().splitlines()[-1]
        assert same == ("verdict: no method fails '+5% self': none has a greater share than before; shares say nothing of totals, which grew "
                        "(cpu, +100.0 % per second): add --fail-on '+10% total/s'"), same
        out, stderr = self.run("diff", fast, slow, "--fail-on", "+5% self", "--fail-on", "+99% total/s", code=4)
        assert "cpu: the total grew by 100.0 % per second" in stderr and out.decode().endswith("; 1 total fails '+99% total/s'\n"), (out, stderr)
        out = self.run("diff", fast, slow, "--fail-on", "+101% total/s")[0].decode()
        assert out.endswith("verdict: no total fails '+101% total/s': the greatest growth is cpu, +100.0 % per second\n"), out
        stderr = self.run("diff", fast, slow, "--fail-on", "+5% total/s", "-o", "verdict.json", code=4)[1]
        document = json.loads((self.directory / "verdict.json").read_text())
        assert document["verdict"] == {"rules": ["+5% total/s"], "failed": True, "text": "1 total fails '+5% total/s'"}, document
        row = document["types"][0]
        assert (row["before_per_second"], row["after_per_second"], row["total_fails"]) == (10, 20, True), row
        assert "verdict: 1 total fails '+5% total/s'" in stderr, stderr

    def test_a_rule_that_cannot_be_applied_is_no_success(self):
        for name in ("one", "two"):
            (self.directory / f"{name}.cpu.collapsed").write_text("a.B.run 90\n")
        stderr = self.run("diff", "one.cpu.collapsed", "two.cpu.collapsed", "--fail-on", "+5% total/s", code=1)[1]
        assert "one.cpu.collapsed does not say how long it was recorded" in stderr, stderr

    def test_the_verdict_says_what_may_be_chance(self):
        text = self.run("diff", self.jdk, self.asynchronous, "--fail-on", "+100% self")[0].decode().splitlines()[-1]
        assert re.match(r"verdict: no method fails '\+100% self': the greatest growth is \S+ \S+, \+[\d.]+ points", text), text

    def test_a_diff_on_a_full_disk_is_no_success(self):
        for kind in ("html", "json"):
            if kind == "html" and not (self.datadir / "flamegraph.html").exists():
                continue
            for path in ("/dev/full", "-"):
                with open("/dev/full", "w", encoding="ascii") as full:
                    done = subprocess.run([self.program, "diff", self.jdk, self.asynchronous, "-f", kind, "-o", path], env=self.env,
                                          stdout=full, stderr=subprocess.PIPE, text=True)
                assert done.returncode == 1 and "No space left" in done.stderr, (kind, path, done)

    def test_a_diff_of_names_that_are_no_text(self):
        os.symlink(self.jdk, os.fsencode(self.directory) + b"/odd-\xff.jfr")
        command = [self.program, "diff", b"odd-\xff.jfr", self.jdk, "-t", "cpu", "-f", "json", "-o", "-"]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, check=True)
        assert json.loads(done.stdout)["before"] == "odd-?.jfr"

    def test_a_diff_without_a_common_type_says_what_is_missing(self):
        (self.directory / "lost.jfr").write_bytes(self.jdk.read_bytes()[:200])
        stderr = self.run("diff", self.jdk, "lost.jfr", "--fail-on", "+5% self", code=1)[1]
        assert "no profile type in common" in stderr and "missing: unfinished at byte 0: 200 bytes" in stderr, stderr

    def test_typos_are_answered_with_the_nearest_name(self):
        for says, *arguments in (("there is no command 'conver'; did you mean 'convert'?", "conver"),
                                 ("unrecognized option '--outptu'; did you mean '--output'?", "convert", self.jdk, "--outptu", "x"),
                                 ("unrecognized option '--by-'; did you mean '--by'?", "top", self.jdk, "--by-=self"),
                                 ("there is no format 'htlm'; did you mean 'html'?", "convert", self.jdk, "-f", "htlm", "-o", "x"),
                                 ("did you mean 'json'?", "diff", self.jdk, self.jdk, "-f", "jsn"),
                                 ("there is no profile type 'alloc_byte'; did you mean 'alloc_bytes'?", "top", self.jdk, "-t", "cpu,alloc_byte"),
                                 ("there is no thread state 'runable'; did you mean 'runnable'?", "top", self.jdk, "--state", "runable"),
                                 ("there is no column to sort by 'totl'; did you mean 'total'?", "top", self.jdk, "--by", "totl")):
            assert says in self.run(*arguments, code=2)[1], arguments

    def test_a_mistyped_variable_is_noted(self):
        done = subprocess.run([self.program, "jfr", "summary", self.jdk], env={**self.env, "HOTSTACK_DATADR": "/x"}, check=True, capture_output=True, text=True)
        assert done.stderr == "hotstack: note: nothing reads the variable HOTSTACK_DATADR; did you mean HOTSTACK_DATADIR?\n", done.stderr

    def test_wrong_usage_of_diff_and_its_manual(self):
        for arguments, says in (((self.jdk,), "two recordings"), ((self.jdk, self.jdk, "-o", "x.csv"), "csv"),
                                ((self.jdk, self.jdk, "-o", "x"), ".html or .json"), ((self.jdk, self.jdk, "-o", "./x"), ".html or .json"),
                                *(((self.jdk, self.jdk, "--fail-on", rule), "'+10% total/s'") for rule in
                                  ("5% self", "+5 self", "+5% total", "+-1% self", "+101% self", "+nan% self", "+1e9% total/s", ""))):
            assert says in self.run("diff", *arguments, code=2)[1], arguments
        text = self.run("diff", "--help")[0].decode()
        manual = (self.program.parent / "hotstack-diff.1").read_text().replace("\\-", "-")
        assert set(re.findall(r"--[a-z-]+", text)) == set(re.findall(r"--[a-z-]+", manual))


def main():
    program, datadir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        recordings = Recordings(pathlib.Path(name))
        if missing := recordings.missing():
            print(f"1..0 # SKIP {missing} is missing: {INSTALL}")
            return
        tests = Tests(program, datadir, recordings)
        run_tests(tests)


main()
