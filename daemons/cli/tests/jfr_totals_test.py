#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack jfr, and hotstack jfr totals over recordings of real JVMs.

usage: jfr_totals_test.py HOTSTACK
  HOTSTACK  the program
Prints TAP. Skips, naming the command that helps, where javac, a JDK or async-profiler is missing.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from recordings import INSTALL, TREE, Recordings, run_tests


class Tests:
    def __init__(self, program, recordings):
        self.program = program
        self.directory = recordings.directory
        self.recordings = recordings
        self.asynchronous = recordings.make("async-all", 21)
        self.jdk = recordings.make("jdk-all", 17)
        self.chunks = recordings.make("async-chunks", 17)

    def run(self, *arguments, code=0, stdin=None):
        done = subprocess.run([self.program, "jfr", *map(str, arguments)], input=stdin, capture_output=True)
        stderr = done.stderr.decode()
        assert done.returncode == code, f"exit {done.returncode}, not {code}: {stderr}"
        return done.stdout.decode(), stderr

    def totals(self, *arguments, code=0, stdin=None):
        return json.loads(self.run("totals", *arguments, "--json", code=code, stdin=stdin)[0])["types"]

    def collapsed(self, recording, kind):
        command = [self.program, "convert", recording, "--lines", "-t", kind, "-f", "collapsed", "-o", "-"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()

    def test_totals_equal_the_jdks_own_reader(self):
        for recording in (self.asynchronous, self.jdk, self.chunks):
            truth = self.recordings.truth(recording)
            ours = self.totals(recording)
            assert set(ours) == set(truth), f"{recording}: {set(ours)} {set(truth)}"
            for name, row in truth.items():
                assert ours[name]["raw_value"] == int(row["raw_value"]), f"{recording}: {name}: {ours[name]} {row}"
                assert ours[name]["events"] == row["events"], f"{recording}: {name}"

    def test_values_and_stacks_are_those_of_convert(self):
        for recording in (self.asynchronous, self.jdk):
            for name, row in self.totals(recording).items():
                lines = self.collapsed(recording, name)
                assert row["value"] == sum(int(line.rsplit(" ", 1)[1]) for line in lines), name
                # A line is a distinct text; stacks that differ in a frame's kind alone share one.
                assert row["stacks"] >= len(lines) > 0, name

    def test_datadogs_samples_count_and_what_is_not_read_is_named(self):
        made = TREE / "libjfr/tests/data/ok/datadog.jfr"
        out, stderr = self.run("totals", made, "--json")
        document = json.loads(out)
        values = {name: (row["events"], row["value"]) for name, row in document["types"].items()}
        assert values == {"cpu": (4, 120_000_000), "wall": (2, 300_000_000), "alloc_bytes": (2, 41_000), "alloc_objects": (2, 42),
                          "live_bytes": (2, 250)}, values
        assert document["unread_events"] == {"datadog.StrangeSample": 4}, document
        assert "note: 4 events of datadog.StrangeSample have a stack as samples do" in stderr, stderr
        done = subprocess.run([self.program, "convert", made, "-f", "json", "-o", "-"], check=True, capture_output=True, text=True)
        meta = json.loads(done.stdout)["meta"]
        assert meta["unread_events"] == {"datadog.StrangeSample": 4}, meta
        assert any("datadog.StrangeSample" in note for note in meta["notes"]) and "datadog.StrangeSample" in done.stderr, (meta, done.stderr)

    def test_a_setting_that_is_lost_is_called_that(self):
        out, stderr = self.run("totals", TREE / "libjfr/tests/data/maybe/event-in-an-event.jfr", "--json", code=3)
        assert json.loads(out)["types"]["alloc_bytes"]["value"] == 700, out
        assert re.search(r"missing: bad events at byte \d+: \d+ bytes of the chunk at byte 0 are lost", stderr), stderr
        assert "note: 1 events of jdk.ExecutionSample were left out: the setting that tells their interval was lost with the bytes that are missing" in stderr, stderr

    def test_several_recordings_are_added_up(self):
        one, two, both = self.totals(self.jdk), self.totals(self.asynchronous), self.totals(self.jdk, self.asynchronous)
        assert set(both) == set(one) | set(two), both
        for name, row in both.items():
            for key in ("events", "raw_value", "value"):
                assert row[key] == sum(part[name][key] for part in (one, two) if name in part), (name, key)

    def counted(self, options):
        """Records Calls.java with async-profiler; often calls target 3000 times, seldom 1000 times."""
        classes, out = self.directory / "calls", self.directory / f"{options.replace(',', '-').replace('=', '-')}.jfr"
        if not classes.exists():
            subprocess.run(["javac", "-d", classes, pathlib.Path(__file__).parent / "java/Calls.java"], check=True)
        agent = f"-agentpath:{self.recordings.profiler}=start,{options},file={out}"
        subprocess.run([self.recordings.javas[21], agent, "-cp", classes, "Calls"], check=True, stdout=subprocess.DEVNULL)
        return out

    def test_counted_events_are_a_type_of_their_own(self):
        calls = self.counted("event=Calls.target,interval=1")
        assert self.totals(calls) == {"Calls.target": {"unit": "count", "events": 4000, "raw_value": 4000, "value": 4000, "stacks": 2}}
        self.run_in(self.directory, "convert", calls, "-o", "calls.collapsed")
        text = (self.directory / "calls.collapsed").read_text()
        assert text == "Calls.main;Calls.often;Calls.target 3000\nCalls.main;Calls.seldom;Calls.target 1000\n", text
        tables = json.loads(self.run_in(self.directory, "top", calls, "-t", "events", "--json"))["types"]
        assert [table["type"] for table in tables] == ["Calls.target"], tables
        document = json.loads(self.run_in(self.directory, "convert", calls, "-f", "json", "-o", "-"))
        assert [(p["type"], p["unit"], p["value_total"]) for p in document["profiles"]] == [("Calls.target", "count", "4000")]
        faults = self.counted("event=page-faults")
        assert list(self.totals(faults)) == ["page-faults"] and self.totals(faults)["page-faults"]["value"] > 0
        both = json.loads(self.run_in(self.directory, "top", calls, faults, "--json"))["types"]
        assert [table["type"] for table in both] == ["events"], "two inputs that differ have no name in common"

    def test_traced_calls_have_a_count_and_their_time(self):
        totals = self.totals(self.counted("trace=Calls.often"))
        assert totals["trace_count"]["value"] == 100 and totals["trace_time"]["value"] > 0 and totals["trace_time"]["unit"] == "ns", totals

    def run_in(self, directory, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], cwd=directory, check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_the_table_holds_the_same_numbers(self):
        table, _ = self.run("totals", self.asynchronous)
        rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()[1:]}
        wanted = {name: [row["unit"], *(str(row[key]) for key in ("events", "raw_value", "value", "stacks"))]
                  for name, row in self.totals(self.asynchronous).items()}
        assert rows == wanted, table

    def test_standard_input_says_the_same(self):
        assert self.totals("-", stdin=self.jdk.read_bytes()) == self.totals(self.jdk)

    def test_threads_change_nothing(self):
        for recording in (self.asynchronous, self.jdk, self.chunks):
            for threads in (2, 3, 64):
                assert self.totals(recording, "--jobs", str(threads)) == self.totals(recording), recording

    def test_a_cut_recording_is_salvaged_and_the_loss_named(self):
        cut = self.directory / "cut.jfr"
        cut.write_bytes(self.jdk.read_bytes() + self.asynchronous.read_bytes()[:-1000])
        stdout, stderr = self.run("totals", "--json", cut, code=3)
        assert re.search(r"jfr totals: missing: truncated at byte \d+: the end of the chunk at byte \d+ is missing", stderr), stderr
        kept, cut_off = json.loads(stdout)["types"], self.totals(self.asynchronous)
        for name, row in self.totals(self.jdk).items():
            assert row["events"] <= kept[name]["events"] <= row["events"] + cut_off.get(name, row)["events"], name

    def test_unreadable_input_says_where(self):
        garbage = self.directory / "garbage.jfr"
        garbage.write_bytes(b"not a recording at all" * 100)
        assert re.search(r"garbage\.jfr at byte 0: ", self.run("totals", garbage, code=1)[1])
        assert "does-not-exist.jfr" in self.run("totals", "does-not-exist.jfr", code=1)[1]

    def test_output_that_cannot_be_written_is_an_error(self):
        cut = self.directory / "cut.jfr"
        cut.write_bytes(self.jdk.read_bytes() + b"cut")
        for recording in (self.jdk, cut):
            with open("/dev/full", "w") as full:
                done = subprocess.run([self.program, "jfr", "totals", recording], stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 1 and done.stderr.count(b"cannot write") == 1, done

    def test_wrong_usage_exits_2_and_help_is_complete(self):
        for arguments, says in (((), "usage"), (("frobnicate",), "frobnicate"), (("totals",), "name a recording"), (("totals", "-", "-"), "give - once"),
                                (("totals", self.jdk, "--frobnicate"), "--help"),
                                (("totals", self.jdk, "--jobs", "0"), "1 to 64"),
                                (("totals", self.jdk, "--jobs", "2x"), "1 to 64")):
            assert says in self.run(*arguments, code=2)[1], arguments
        assert "totals" in self.run("--help")[0]
        manual = (self.program.parent / "hotstack-jfr.1").read_text().replace("\\-", "-")
        options = set(re.findall(r"--[a-z-]+", self.run("totals", "--help")[0]))
        assert options and options <= set(re.findall(r"--[a-z-]+", manual)), options


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        recordings = Recordings(pathlib.Path(name))
        if missing := recordings.missing():
            print(f"1..0 # SKIP {missing} is missing: {INSTALL}")
            return
        tests = Tests(program, recordings)
        run_tests(tests)


main()
