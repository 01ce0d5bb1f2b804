#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack jfr print, events, summary and metadata over recordings of real JVMs, held to the JDK 25's jfr tool.

usage: jfr_print_test.py [--few] HOTSTACK
  --few     a few recordings instead of every kind from every JDK
  HOTSTACK  the program
Prints TAP. Skips, naming the command that helps, where javac, a JDK or async-profiler is missing.
"""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from recordings import CACHE, INSTALL, Recordings, run_tests

JFR = CACHE / "jdk/25/bin/jfr"
RELEASES = (11, 17, 21, 25)
KINDS = [
    *(("jdk-default", release) for release in RELEASES),
    ("jdk-profile", 25), ("jdk-all", 25),
    *((f"async-{kind}", 17) for kind in ("cpu", "ctimer", "itimer", "wall", "alloc", "lock", "live", "all", "chunks")),
    ("async-all", 25),
]
# The JDK's text tells the same whatever the release: each kind once, and the oldest events.
IN_TEXT = [("jdk-default", 11), ("jdk-default", 17), ("jdk-profile", 25), ("jdk-all", 25), ("async-all", 25),
           *((f"async-{kind}", 17) for kind in ("cpu", "ctimer", "itimer", "wall", "alloc", "lock", "live", "chunks"))]
FEW = [("jdk-default", 17), ("jdk-default", 25), ("jdk-profile", 25), ("async-chunks", 17)]


def chunks_of(data):
    """Returns the chunks of a recording, each as a recording of its own."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at + 8:at + 16], "big")
        yield data[at:at + size]
        at += size


def without_known_differences(text):
    """The JDK's tool reads the JVM's modified UTF-8 as UTF-8: a character beyond U+FFFF becomes two U+FFFD."""
    return re.sub(rb"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}", rb"\\ufffd\\ufffd", text)


def events_in_text(text):
    """How often each event is in what print wrote as text, less what differs on purpose: control characters of strings, which may
    drive a terminal, are written as ?; characters beyond U+FFFF as above; a native function without a class has no dot before it; old
    objects are written in full."""
    text = re.sub("[\U00010000-\U0010ffff]", "\ufffd\ufffd", text.decode())
    text = re.sub(r"^    \.(?=.*\) line: )", "    ", text, flags=re.M)
    events = re.split(r"(?<=\n\}\n\n)(?=\S+ \{\n  startTime = )", text)
    return collections.Counter(re.sub(r"[\x00-\x1f\x7f?]", "", event) for event in events if not event.startswith("jdk.OldObjectSample "))


class Tests:
    def __init__(self, program, recordings, kinds):
        self.program = program
        self.directory = recordings.directory
        self.recordings = {(kind, release): recordings.make(kind, release) for kind, release in kinds}
        self.jdk = self.recordings["jdk-profile", 25]

    def run(self, *arguments, code=0, stdin=None):
        done = subprocess.run([self.program, "jfr", *map(str, arguments)], input=stdin, capture_output=True)
        stderr = done.stderr.decode()
        assert done.returncode == code, f"exit {done.returncode}, not {code}: {stderr}"
        return done.stdout, stderr

    def print_json(self, *arguments, **options):
        return json.loads(self.run("print", "--json", *arguments, **options)[0])["recording"]["events"]

    def jdk_print(self, recording, *arguments):
        command = [JFR, "print", "--json", *arguments, recording]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def compare(self, recording, *arguments):
        ours = without_known_differences(self.run("print", "--json", *arguments, recording)[0])
        theirs = self.jdk_print(recording, *arguments)
        events = json.loads(ours)
        if ours != theirs:
            assert events == json.loads(theirs), f"{recording}: other values"
            raise AssertionError(f"{recording}: the same values, written otherwise")
        return events["recording"]["events"]

    def test_print_json_is_the_jdks(self):
        """Chunk by chunk: the JDK's tool takes the first chunk's clock and constants for all that follow."""
        for (kind, release), recording in self.recordings.items():
            events = []
            for number, chunk in enumerate(chunks_of(recording.read_bytes())):
                part = recording.with_name(f"chunk-{number}.jfr")
                part.write_bytes(chunk)
                events += self.compare(part, "--stack-depth", "64")
            types = {event["type"] for event in events}
            assert len(events) > 20 and len(types) > 5, f"{kind} {release}: {len(events)} events of {types}"
            assert events == self.print_json_known(recording), f"{kind} {release}: the chunks and the whole differ"

    def test_print_text_is_the_jdks(self):
        """Event by event: of events that end together the JDK's text has some other order than its JSON."""
        for kind, release in set(IN_TEXT) & self.recordings.keys():
            recording = self.recordings[kind, release]
            part = recording.with_name("chunk-text.jfr")
            part.write_bytes(next(chunks_of(recording.read_bytes())))
            ours = events_in_text(self.run("print", part)[0])
            theirs = events_in_text(subprocess.run([JFR, "print", part], check=True, stdout=subprocess.PIPE).stdout)
            for event in ((ours - theirs) + (theirs - ours)):
                which = "ours" if event in ours else "the JDK's"
                raise AssertionError(f"{kind} {release}, only {which}: {event}")
            assert sum(ours.values()) > 20, f"{kind} {release}: {sum(ours.values())} events"

    def print_json_known(self, recording):
        text = self.run("print", "--json", "--stack-depth", "64", recording)[0]
        return json.loads(without_known_differences(text))["recording"]["events"]

    def test_stack_depth_and_filters_are_the_jdks(self):
        for arguments in (["--stack-depth", "1"], [], ["--stack-depth", "0"], ["--events", "CPULoad,Thread*"],
                          ["--events", "jdk.*Heap*,jdk.GarbageCollection"], ["--categories", "GC,JVM"],
                          ["--categories", "Java Application", "--events", "*Park"], ["--events", "jdk.ZAllocationStall"]):
            for kind in (("jdk-default", 17), ("jdk-profile", 25)):
                self.compare(self.recordings[kind], *arguments)

    def test_time_zone_of_the_recording(self):
        recording = self.directory / "zone"
        recording.mkdir()
        java = CACHE / "jdk/25/bin/java"
        file = recording / "zone.jfr"
        subprocess.run([java, "-Duser.timezone=America/St_Johns", "-Xmx64m",
                        f"-XX:StartFlightRecording=filename={file}", "-cp", self.jdk.parent, "Workload", "0.2"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        events = self.compare(file)
        assert re.search(r"-0[23]:30$", events[0]["values"]["startTime"]), events[0]["values"]["startTime"]

    def test_events_are_those_of_print_one_a_line(self):
        lines = self.run("events", "--stack-depth", "64", self.jdk)[0].splitlines()
        key = lambda event: json.dumps(event, sort_keys=True)
        printed = sorted(self.print_json("--stack-depth", "64", self.jdk), key=key)
        assert sorted(map(json.loads, lines), key=key) == printed

    def test_time_window(self):
        events = self.print_json(self.jdk)
        start = min(event["values"]["startTime"] for event in events)
        middle = sorted(event["values"]["startTime"] for event in events)[len(events) // 2]
        early = self.print_json("--to", middle, self.jdk)
        late = self.print_json("--from", middle, self.jdk)
        assert 0 < len(early) < len(events) and 0 < len(late) < len(events)
        assert all(event["values"]["startTime"] < middle for event in early)
        # Events across the border are in both.
        assert len(early) + len(late) >= len(events)
        assert self.print_json("--from", "+1h", self.jdk) == []
        assert self.print_json("--to", start, self.jdk) == []

    def test_summary_counts_what_print_prints(self):
        for recording in self.recordings.values():
            counts = {}
            for event in self.print_json("--stack-depth", "0", recording):
                counts[event["type"]] = counts.get(event["type"], 0) + 1
            summary = json.loads(self.run("summary", "--json", recording)[0])
            ours = {row["name"]: row["count"] for row in summary["events"] if row["count"] > 0}
            for name in ("jdk.Metadata", "jdk.Checkpoint"):
                assert ours.pop(name) >= summary["chunks"], name
            assert ours == counts, recording
            assert sum(row["bytes"] for row in summary["events"]) + 68 * summary["chunks"] == recording.stat().st_size

    def test_summary_is_the_jdks(self):
        recording = self.recordings["jdk-default", 25]
        table = subprocess.run([JFR, "summary", recording], check=True, capture_output=True, text=True).stdout
        theirs = {row[0]: (int(row[1]), int(row[2])) for row in map(str.split, table.splitlines())
                  if len(row) == 3 and row[1].isdigit() and row[2].isdigit()}
        summary = json.loads(self.run("summary", "--json", recording)[0])
        assert {row["name"]: (row["count"], row["bytes"]) for row in summary["events"]} == theirs
        text = self.run("summary", recording)[0].decode()
        rows = {row[0]: (int(row[1]), int(row[2])) for row in map(str.split, text.split("Bytes\n", 1)[1].splitlines())}
        assert rows == theirs

    def test_what_the_recorder_lost(self):
        """A cpu sampler that rarely has room for 50,000 samples a second; libjfr-settings counts what is sure to be lost."""
        directory = self.directory / "lost"
        directory.mkdir()
        file, settings = directory / "recording.jfr", directory / "lost.jfc"
        event = '<event name="jdk.{}"><setting name="enabled">true</setting>{}</event>'
        throttle = '<setting name="throttle">20 us</setting>'
        settings.write_text('<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">' + event.format("CPUTimeSample", throttle) +
                            event.format("CPUTimeSamplesLost", "") + event.format("DataLoss", "") + "</configuration>")
        subprocess.run([CACHE / "jdk/25/bin/java", "-Xmx64m", f"-XX:StartFlightRecording=filename={file},settings={settings}", "-cp",
                        self.jdk.parent, "Workload", "0.5"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        events = json.loads(self.jdk_print(file, "--events", "CPUTimeSamplesLost,DataLoss"))["recording"]["events"]
        lost = {"samples": sum(event["values"].get("lostSamples", 0) for event in events),
                "bytes": sum(event["values"].get("amount", 0) for event in events)}
        for command in ("summary", "totals"):
            out, stderr = self.run(command, "--json", file)
            assert json.loads(out)["recorder_lost"] == lost, (command, out, lost)
            assert (f"lost {lost['samples']} cpu samples" in stderr) == (lost["samples"] > 0), stderr

    def test_metadata_tells_types_units_and_labels(self):
        types = json.loads(self.run("metadata", "--json", self.jdk)[0])["types"]
        by_name = {t["name"]: t for t in types}
        park = {field["name"]: field for field in by_name["jdk.ThreadPark"]["fields"]}
        assert park["timeout"]["unit"] == "NANOSECONDS" and park["timeout"]["content"] == "jdk.jfr.Timespan"
        assert park["startTime"]["label"] == "Start Time" and park["stackTrace"]["type"] == "jdk.types.StackTrace"
        assert by_name["jdk.ThreadPark"]["event"] and not by_name["int"]["event"]
        chosen = json.loads(self.run("metadata", "--json", "--events", "Thread*", self.jdk)[0])["types"]
        assert {t["name"] for t in chosen} == {n for n, t in by_name.items() if re.fullmatch(r".*\.Thread[^.]*", n) and t["event"]}
        text = self.run("metadata", self.jdk)[0].decode()
        assert "class ThreadPark extends jdk.jfr.Event {" in text and '  @Timespan("NANOSECONDS")\n  @Label("Park Timeout")' in text

    def test_text_shows_each_event(self):
        text = self.run("print", "--events", "ThreadPark,CPULoad,JVMInformation", self.jdk)[0].decode()
        events = self.print_json("--events", "ThreadPark,CPULoad,JVMInformation", self.jdk)
        assert re.findall(r"^(\S+) \{$", text, re.M) == [event["type"] for event in events]
        parked = [event["values"]["parkedClass"] for event in events if event["values"].get("parkedClass")]
        for value in parked:
            assert f"parkedClass = {value['name'].replace('/', '.')} (classLoader = " in text
        assert re.search(r"machineTotal = \d+\.\d\d%", text) and re.search(r"stackTrace = \[\n    \S+\(.*\)", text)

    def test_standard_input(self):
        assert self.run("print", "--json", "-", stdin=self.jdk.read_bytes()) == self.run("print", "--json", self.jdk)

    def test_what_is_no_plain_file(self):
        """A named pipe is read, as by convert; a folder is reported once."""
        for command in ("summary", "metadata", "totals", "events"):
            piped = subprocess.run([self.program, "jfr", command, "/dev/stdin"], input=self.jdk.read_bytes(), capture_output=True)
            assert (piped.returncode, piped.stdout) == (0, self.run(command, self.jdk)[0]), (command, piped.stderr)
            for path in ("/tmp", self.directory / "none.jfr"):
                stderr = self.run(command, path, code=1)[1]
                assert stderr.count(str(path)) == 1 and ("Is a directory" in stderr or "No such file" in stderr), stderr

    def test_names_do_not_drive_the_terminal(self):
        evil = self.directory / "evil.jfr"
        whole = self.recordings["async-chunks", 17].read_bytes()
        name, label = "xx\x1b[c\x9b\u202ez".encode(), "\u2066\x1b[c\x07y".encode()
        assert len(name) == len(b"jdk.CPULoad") and len(label) == len(b"CPU Load") and whole.count(b"jdk.CPULoad") > 0
        evil.write_bytes(whole.replace(b"jdk.CPULoad", name).replace(b"CPU Load", label))
        for command in ("summary", "metadata", "print"):
            text = self.run(command, evil)[0].decode()
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text), command
        assert any(row["name"] == name.decode() for row in json.loads(self.run("summary", "--json", evil)[0])["events"])

    def test_filters_that_leave_nothing_are_noted(self):
        for command, *filters in (("print", "--json", "--from", "+10h"), ("events", "--events", "jdk.ZAllocationStall")):
            assert "no event of the recording passes the filters" in self.run(command, *filters, self.jdk)[1], command

    def test_a_name_that_no_event_has_is_an_error(self):
        """With the nearest one: a typo must not look like an event that did not happen."""
        for command, *filters, says in (("print", "--events", "CPULoadd", "no event type 'CPULoadd'; did you mean 'CPULoad'?"),
                                        ("events", "--events", "CPULoad, jdk.executionsample", "'jdk.executionsample'; did you mean 'jdk.ExecutionSample'?"),
                                        ("events", "--categories", "Nothing", "no category 'Nothing'"),
                                        ("events", "--categories", "Java Virtual Machin", "did you mean 'Java Virtual Machine'?"),
                                        ("metadata", "--events", "CPULoadd", "did you mean 'CPULoad'?"),
                                        ("print", "--events", "Frobnicate*", "no event type 'Frobnicate*'")):
            assert says in self.run(command, *filters, self.jdk, code=2)[1], (command, filters)
        assert self.run("print", "--events", "CPULoad", self.jdk)[1] == ""

    def test_times_that_leave_nothing_are_refused(self):
        for times in (("--from", "+10s", "--to", "+5s"), ("--from", "2026-01-31T09:00:00Z", "--to", "2026-01-31T09:00:00Z"),
                      ("--from", "2026-02-30"), ("--to", "2026-01-31T25:00:00")):
            assert times[0] in self.run("print", *times, self.jdk, code=2)[1], times

    def test_salvaged_recording(self):
        whole = self.recordings["async-chunks", 17].read_bytes()
        first, second = [len(chunk) for chunk in chunks_of(whole)][:2]
        cut = self.directory / "cut.jfr"
        cut.write_bytes(whole[:first + second // 2])
        for command in ("print", "events", "summary", "metadata"):
            out, stderr = self.run(command, "--json", cut, code=3)
            assert "truncated" in stderr and f"chunk at byte {first}" in stderr, stderr
            assert out, command
        events = self.print_json(cut, code=3)
        assert events[:100] == self.print_json(self.recordings["async-chunks", 17])[:100]

    def test_unreadable_recording(self):
        bad = self.directory / "bad.jfr"
        bad.write_bytes(b"not a recording" * 10)
        for command in ("print", "events", "summary", "metadata"):
            out, stderr = self.run(command, "--json", bad, code=1)
            assert out == b"" and "at byte 0" in stderr, stderr
        header_only = self.directory / "header.jfr"
        header_only.write_bytes(self.jdk.read_bytes()[:200])
        out, stderr = self.run("print", "--json", header_only, code=1)
        assert out == b"" and "at byte" in stderr, stderr
        assert "No such file" in self.run("print", self.directory / "none.jfr", code=1)[1]

    def test_usage(self):
        for arguments in (["print"], ["print", "a", "b"], ["print", "--stack-depth", "-1", "a"], ["summary", "--from", "+1s", "a"],
                          ["print", "--from", "yesterday", "a"], ["print", "--nothing", "a"], ["nothing"]):
            out, stderr = self.run(*arguments, code=2)
            assert out == b"" and stderr, arguments
        assert "there is no subcommand 'sumary'; did you mean 'summary'?" in self.run("sumary", code=2)[1]
        for command in ("print", "events", "summary", "metadata", "totals"):
            assert self.run(command, "--nothing", code=2)[1].startswith(f"hotstack jfr {command}: unrecognized option '--nothing'\n")
            assert self.run(command, "--help")[0].startswith(f"usage: hotstack jfr {command}".encode())

    def test_closed_pipe_is_quiet(self):
        """Whether SIGPIPE kills, as a shell leaves it, or is ignored, as some parents do."""
        recording = self.jdk
        for ignored in (False, True):
            reader, writer = os.pipe()
            with open(reader, "rb", closefd=True) as pipe:
                child = subprocess.Popen([self.program, "jfr", "print", "--json", recording], stdout=writer,
                                         stderr=subprocess.PIPE, restore_signals=not ignored)
                os.close(writer)
                assert pipe.read(100).startswith(b"{")
            stderr = child.communicate()[1]
            assert stderr == b"" and child.returncode in ((0,) if ignored else (-signal.SIGPIPE,)), child.returncode


def main():
    *few, name = sys.argv[1:]
    program = pathlib.Path(name).resolve()
    with tempfile.TemporaryDirectory() as name:
        recordings = Recordings(pathlib.Path(name))
        if missing := recordings.missing(*RELEASES):
            print(f"1..0 # SKIP {missing} is missing: {INSTALL}")
            return
        tests = Tests(program, recordings, FEW if few == ["--few"] else KINDS)
        run_tests(tests)


main()
