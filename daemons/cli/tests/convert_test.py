#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack convert over recordings of real JVMs.

usage: convert_test.py HOTSTACK DATADIR
  HOTSTACK  the program
  DATADIR   the folder where the build puts flamegraph.html, when it has Node
Prints TAP. Skips, naming the command that helps, where javac, a JDK or async-profiler is missing.
"""
import datetime
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from recordings import INSTALL, TREE, Recordings, run_tests

sys.path.insert(0, str(TREE / "tests/support"))
import flamegraph_page  # noqa: E402


class Convert:
    def __init__(self, program, datadir, directory):
        self.program = program
        self.directory = directory
        self.env = dict(os.environ)
        self.env["HOTSTACK_DATADIR"] = str(datadir)

    def __call__(self, *arguments, code=0, stdin=None, **env):
        done = subprocess.run([self.program, "convert", *map(str, arguments)], cwd=self.directory,
                              input=stdin, capture_output=True, env=dict(self.env, **env))
        stderr = done.stderr.decode()
        assert done.returncode == code, f"exit {done.returncode}, not {code}: {stderr}"
        return done.stdout.decode(), stderr


def profiles(document):
    return {profile["type"]: profile for profile in document["profiles"]}


def check_sums(profile):
    """Asserts that the nodes and the omitted values add up to the profile."""
    assert profile["total"] == int(profile["value_total"])


def collapsed_total(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


class Tests:
    def __init__(self, recordings, convert, datadir):
        self.recordings, self.convert, self.datadir = recordings, convert, datadir
        self.directory = convert.directory
        self.asynchronous = recordings.make("async-all", 21)
        self.jdk = recordings.make("jdk-all", 17)
        self.chunks = recordings.make("async-chunks", 17)

    def document(self, *arguments, code=0):
        return flamegraph_page.read(self.convert(*arguments, "-f", "json", "-o", "-", code=code)[0])

    def test_raw_totals_equal_the_jdks_own_reader(self):
        for recording in (self.asynchronous, self.jdk, self.chunks):
            truth = self.recordings.truth(recording)
            ours = profiles(self.document(recording))
            assert set(ours) == set(truth), f"{recording}: {set(ours)} {set(truth)}"
            for name, row in truth.items():
                assert int(ours[name]["raw_total"]) == int(row["raw_value"]), f"{recording}: {name}"
                assert ours[name]["samples"] == row["events"], f"{recording}: {name}"
                check_sums(ours[name])

    def test_known_methods_are_there(self):
        def names(profile, document):
            return {document["strings"][i] for i in profile["frames"]["method"]}
        document = self.document(self.asynchronous)
        byname = profiles(document)
        assert "burnCpu" in names(byname["cpu"], document)
        assert "allocate" in names(byname["alloc_bytes"], document)
        assert {"enterMonitor", "takeLock"} & names(byname["lock_delay"], document)
        assert document["meta"]["engine"] == "ctimer"
        assert document["meta"]["intervals"]["cpu"] == "5000000"
        assert document["meta"]["notes"] == []
        assert int(document["meta"]["end_ns"]) > int(document["meta"]["start_ns"]) > 1.5e18

    def test_collapsed_has_a_file_per_type(self):
        _, stderr = self.convert(self.asynchronous, "-o", "many.collapsed")
        for name, profile in profiles(self.document(self.asynchronous)).items():
            path = self.directory / f"many.{name}.collapsed"
            assert f"wrote many.{name}.collapsed" in stderr
            assert collapsed_total(path.read_text()) == profile["total"], name
        assert not (self.directory / "many.collapsed").exists()

    def test_one_type_goes_to_the_named_file_or_standard_output(self):
        self.convert(self.asynchronous, "-t", "cpu", "-o", "one.collapsed")
        text, _ = self.convert(self.asynchronous, "--type=cpu", "-f", "collapsed", "-o", "-")
        assert (self.directory / "one.collapsed").read_text() == text != ""
        assert "Workload.burnCpu" in text

    def test_wall_time_by_state(self):
        def stacks(*arguments):
            text, _ = self.convert(self.asynchronous, "-t", "wall", "-f", "collapsed", "-o", "-", *arguments)
            return [line.rsplit(" ", 1) for line in text.splitlines()]
        apart = stacks("--wall-states")
        for state, root in (("runnable", "[running];"), ("sleeping", "[waiting];")):
            of_state = {stack.removeprefix(root): value for stack, value in apart if stack.startswith(root)}
            assert of_state == dict(stacks("--state", state)) != {}, state
        assert sum(int(value) for _, value in apart) == sum(int(value) for _, value in stacks())
        # 1 to 8 readers add up the same
        assert apart == stacks("--wall-states", "--jobs", "8")

    def test_a_type_alone_says_what_it_says_among_all(self):
        """Types that are not asked for are not read if that saves time."""
        for number, recording in enumerate((self.asynchronous, self.jdk)):
            self.convert(recording, "-o", f"all{number}.collapsed")
            for path in self.directory.glob(f"all{number}.*.collapsed"):
                name = path.name.split(".")[1]
                text, _ = self.convert(recording, "-t", name, "-f", "collapsed", "-o", "-")
                assert text == path.read_text() != "", (recording, name)

    def test_several_types_on_standard_output_are_an_error_that_lists_them(self):
        stdout, stderr = self.convert(self.asynchronous, "-f", "collapsed", "-o", "-", code=2)
        assert stdout == ""
        assert "cpu, alloc_bytes, alloc_objects, lock_count, lock_delay, wall" in stderr, stderr

    def test_standard_input_and_files_say_the_same(self):
        piped, _ = self.convert("-", "-t", "cpu", "-f", "collapsed", "-o", "-", stdin=self.asynchronous.read_bytes())
        named, _ = self.convert(self.asynchronous, "-t", "cpu", "-f", "collapsed", "-o", "-")
        assert piped == named

    def test_inputs_add_up(self):
        once = profiles(self.document(self.jdk))
        twice = profiles(self.document(self.jdk, self.jdk))
        assert {n: 2 * p["total"] for n, p in once.items()} == {n: p["total"] for n, p in twice.items()}

    def test_threads_and_lines(self):
        plain, _ = self.convert(self.asynchronous, "-t", "cpu", "-f", "collapsed", "-o", "-")
        threads, _ = self.convert(self.asynchronous, "-t", "cpu", "--threads", "--lines", "-f", "collapsed", "-o", "-")
        assert collapsed_total(plain) == collapsed_total(threads)
        assert re.search(r"^[^;]+;.*Workload\.burnCpu:\d+", threads, re.MULTILINE)

    def test_a_node_limit_cuts_by_weight_and_counts(self):
        whole = profiles(self.document(self.asynchronous))["alloc_bytes"]
        cut = profiles(self.document(self.asynchronous, "--max-nodes", "10"))["alloc_bytes"]
        check_sums(cut)
        assert len(cut["nodes"]["depth"]) == 10
        assert 10 + sum(cut["omitted"]["count"]) == len(whole["nodes"]["depth"])
        assert cut["total"] == whole["total"]

    def test_html_holds_all_types(self):
        if not (self.datadir / "flamegraph.html").exists():
            return "no template: the build has no Node"
        self.convert(self.asynchronous, "-o", "page.html")
        page = (self.directory / "page.html").read_text()
        assert flamegraph_page.of_page(page) == self.document(self.asynchronous)
        assert "burnCpu" not in page, "the page's data is not compressed"
        return None

    def test_html_holds_threads_lines_and_what_was_cut(self):
        if not (self.datadir / "flamegraph.html").exists():
            return "no template: the build has no Node"
        for arguments in (("--threads",), ("--lines",), ("--max-nodes", "30"), ("--min-width", "1"), ("--raw-names", "--threads", "--lines")):
            self.convert(self.chunks, *arguments, "-o", "page.html")
            page = (self.directory / "page.html").read_text()
            shown = flamegraph_page.of_page(page)
            assert shown == self.document(self.chunks, *arguments), arguments
            assert shown.get("threads", False) == ("--threads" in arguments)
        return None

    def heatmap(self, recording, *arguments):
        self.convert(recording, "-o", "x.heatmap.html", *arguments)
        page = (self.directory / "x.heatmap.html").read_text()
        document = flamegraph_page.of_page(page)
        return flamegraph_page.picture(document), {p["type"]: (p["heat"], flamegraph_page.cells_of(p)) for p in document["profiles"]}

    def test_a_heatmap_has_every_value_at_its_time(self):
        if not (self.datadir / "heatmap.html").exists():
            return "no template: the build has no Node"
        for arguments in ((), ("--threads", "--lines"), ("--max-nodes", "40"), ("--max-cells", "1000")):
            picture, maps = self.heatmap(self.chunks, *arguments)
            shape = [a for a in arguments if a not in ("--max-cells", "1000")]
            assert picture == flamegraph_page.picture(self.document(self.chunks, *shape)), arguments
            for name, (heat, cells) in maps.items():
                values = [value for *_, value in picture[name]["nodes"]] + [value for _, value, _ in picture[name]["omitted"]] + [0]
                sums = [0] * len(values)
                for row in cells.values():
                    for place, value in row.items():
                        sums[place] += value
                assert sums == values, (arguments, name)
                assert sum(map(len, cells.values())) <= 1000 or "--max-cells" not in arguments
                if not arguments:
                    self.check_times(name, heat, cells)
        return None

    def check_times(self, name, heat, cells):
        """--from and --to take another way to the same samples."""
        middle = heat["buckets"] // 2
        at = int(heat["origin_ns"]) + middle * heat["step_ns"]
        clock = f"{datetime.datetime.fromtimestamp(at // 10**9, datetime.timezone.utc):%Y-%m-%dT%H:%M:%S}.{at % 10**9:09d}Z"
        later = profiles(self.document(self.chunks, "--from", clock)).get(name, {"total": 0})["total"]
        assert sum(sum(row.values()) for bucket, row in cells.items() if bucket >= middle) == later, name

    def test_a_heatmap_wants_times(self):
        if not (self.datadir / "heatmap.html").exists():
            return "no template: the build has no Node"
        (self.directory / "a.cpu.collapsed").write_text("a;b 1\n")
        _, stderr = self.convert("a.cpu.collapsed", "-o", "a.heatmap.html", code=1)
        assert "heatmaps need a JFR recording" in stderr
        assert not (self.directory / "a.heatmap.html").exists()
        return None

    def test_a_minimum_width_cuts_what_is_narrower(self):
        whole = profiles(self.document(self.asynchronous))["alloc_bytes"]
        cut = profiles(self.document(self.asynchronous, "--min-width", "2.5"))["alloc_bytes"]
        check_sums(cut)
        wide = [total for total in whole["nodes"]["total"] if total * 40 >= whole["total"]]
        assert sorted(cut["nodes"]["total"]) == sorted(wide)
        assert len(wide) + sum(cut["omitted"]["count"]) == len(whole["nodes"]["total"])

    def test_hostile_file_names_stay_text(self):
        hostile = self.directory / "<img src=x onerror=alert(1)>\x1b[31m.jfr"
        shutil.copy(self.jdk, hostile)
        text, _ = self.convert(hostile, "-f", "json", "-o", "-")
        assert "<" not in text and "\x1b" not in text
        assert json.loads(text)["meta"]["title"] == hostile.name
        hostile.write_bytes(b"no recording")
        assert "\x1b" not in self.convert(hostile, "-f", "json", "-o", "-", code=1)[1]

    def test_a_large_output_is_whole_and_takes_no_more_of_the_disk(self):
        lines = [f"a.b{i:05};{';'.join(f'k.m{i % 7}{n}' for n in range(150))} {i + 1}\n" for i in range(30000)]
        (self.directory / "large.in.collapsed").write_text("".join(lines))
        self.convert("large.in.collapsed", "--type=cpu", "-o", "large.collapsed")
        written = self.directory / "large.collapsed"
        assert written.stat().st_size > 30_000_000
        assert written.read_text() == "".join(lines)
        assert written.stat().st_blocks * 512 < written.stat().st_size + (1 << 20)

    def test_a_missing_template_is_named_and_collapsed_works_without(self):
        empty = self.directory / "empty"
        empty.mkdir()
        _, stderr = self.convert(self.jdk, "-o", "none.html", code=1, HOTSTACK_DATADIR=str(empty))
        assert str(empty) in stderr and "flamegraph.html" in stderr
        assert not (self.directory / "none.html").exists()
        self.convert(self.jdk, "-o", "none.collapsed", HOTSTACK_DATADIR=str(empty))

    def test_a_cut_recording_is_salvaged_and_the_loss_named(self):
        cut = self.directory / "cut.jfr"
        cut.write_bytes(self.jdk.read_bytes() + self.asynchronous.read_bytes()[:-1000])
        _, stderr = self.convert(cut, "-o", "cut.json", code=3)
        assert re.search(r"missing: truncated at byte \d+: the end of the chunk at byte \d+", stderr), stderr
        assert re.search(r"missing: \d+ samples have no stack: they lie in chunks whose end was never written", stderr), stderr
        document = flamegraph_page.read((self.directory / "cut.json").read_text())
        assert document["meta"]["loss"]["chunks_partial"] == 1
        assert document["meta"]["notes"]
        whole, kept = profiles(self.document(self.jdk)), profiles(document)
        cut_off = profiles(self.document(self.asynchronous))
        for name, profile in whole.items():
            most = profile["total"] + (cut_off[name]["total"] if name in cut_off else 0)
            assert profile["total"] <= kept[name]["total"] <= most, name
        assert kept["cpu"]["total"] > whole["cpu"]["total"]

    def test_the_recording_of_a_jvm_that_was_killed_is_read(self):
        """Its last chunk was never finished: the samples of its flushes are there."""
        whole = profiles(self.document(self.jdk))["cpu"]["samples"]
        killed = self.directory / "killed.jfr"
        head = bytearray(self.jdk.read_bytes())
        head[64] = 3  # as while it is written
        killed.write_bytes(head[:-100])
        document = self.document(killed, code=3)
        assert whole * 0.9 <= profiles(document)["cpu"]["samples"] <= whole
        assert document["meta"]["loss"] == {"chunks_partial": 1} or document["meta"]["loss"]["bytes_lost"] > 0
        assert any("the end of the chunk at byte 0 is missing" in note for note in document["meta"]["notes"]), document["meta"]

    def test_unreadable_inputs_say_where(self):
        garbage = self.directory / "garbage.jfr"
        for content in (b"", b"FLR", b"not a recording at all" * 100, self.jdk.read_bytes()[:40]):
            garbage.write_bytes(content)
            _, stderr = self.convert(garbage, "-o", "garbage.json", code=1)
            assert re.search(r"garbage\.jfr at byte \d+: ", stderr) or "no profile samples" in stderr, stderr
            assert not (self.directory / "garbage.json").exists()
        for path in ("does-not-exist.jfr", "."):
            _, stderr = self.convert(path, "-o", "garbage.json", code=1)
            assert path in stderr

    def test_an_output_that_cannot_be_written_is_an_error(self):
        _, stderr = self.convert(self.jdk, "-o", "no/such/folder.json", code=1)
        assert "no/such/folder.json" in stderr
        _, stderr = self.convert(self.jdk, "-f", "json", "-o", "/dev/full", code=1)
        assert "No space left" in stderr
        for kind in ("pprof", "speedscope", "csv", "top", "arrow"):
            for path in ("/dev/full", "-"):
                with open("/dev/full", "w", encoding="ascii") as full:
                    done = subprocess.run([self.convert.program, "convert", self.jdk, "-t", "cpu", "-f", kind, "-o", path],
                                          stdout=full, stderr=subprocess.PIPE, text=True)
                assert done.returncode == 1 and done.stderr.count("cannot write") == 1 and "No space left" in done.stderr, (kind, path, done)

    def test_a_device_holds_one_type(self):
        _, stderr = self.convert(self.jdk, "-f", "collapsed", "-o", "/dev/null", code=2)
        assert "/dev/null holds one profile type" in stderr and "cpu, alloc_bytes" in stderr, stderr
        self.convert(self.jdk, "-f", "collapsed", "-t", "cpu", "-o", "/dev/null")

    def test_a_failed_run_leaves_the_old_output(self):
        old = self.directory / "old.json"
        old.write_text("old")
        self.convert("does-not-exist.jfr", "-o", "old.json", code=1)
        assert old.read_text() == "old"
        self.convert(self.jdk, "-o", "old.json")
        json.loads(old.read_text())
        assert not list(self.directory.glob("old.json.*"))

    def test_an_input_is_not_replaced(self):
        stacks = self.directory / "mine.cpu.collapsed"
        stacks.write_text("a.B.run 5\n")
        os.link(stacks, self.directory / "same.collapsed")
        for output in ("mine.cpu.collapsed", "same.collapsed"):
            _, stderr = self.convert(stacks, "-o", output, code=2)
            assert f"{output} is also an input" in stderr, stderr
        (self.directory / "mine.wall.collapsed").write_text("a.B.run 7\n")
        _, stderr = self.convert("mine.cpu.collapsed", "mine.wall.collapsed", "-o", "mine.collapsed", code=1)
        assert "mine.cpu.collapsed is also an input" in stderr, stderr
        assert stacks.read_text() == "a.B.run 5\n"

    def test_an_output_keeps_its_rights_and_its_link(self):
        kept = self.directory / "kept.json"
        kept.write_text("old")
        kept.chmod(0o600)
        (self.directory / "link.json").symlink_to("kept.json")
        self.convert(self.jdk, "-o", "link.json")
        assert (self.directory / "link.json").is_symlink() and kept.stat().st_mode & 0o777 == 0o600
        json.loads(kept.read_text())
        (self.directory / "nowhere.json").symlink_to("no/such/file.json")
        assert "nowhere.json" in self.convert(self.jdk, "-o", "nowhere.json", code=1)[1]

    def test_standard_input_is_read_once(self):
        assert "standard input can be read only once" in self.convert("-", "-", "-o", "x.json", code=2)[1]

    def test_several_inputs_are_named(self):
        assert self.document(self.jdk, self.asynchronous)["meta"]["title"] == "recording.jfr and 1 more"

    def test_a_document_is_no_input(self):
        self.convert(self.jdk, "-o", "page.json")
        _, stderr = self.convert("page.json", "-o", "again.json", code=1)
        assert "page.json is a JSON, HTML or XML document" in stderr and "--type" not in stderr, stderr

    def test_stacks_that_the_recorder_cut_are_told(self):
        deep = self.recordings.make("jdk-shallow", 21)
        document = self.document(deep)
        note = next(note for note in document["meta"]["notes"] if note.startswith("stacks were cut at their root in "))
        assert re.search(r" in [1-9]\d*\.\d % of cpu\b", note), note
        assert f"note: {note}: record with a larger stack depth" in self.convert(deep, "-o", "deep.json")[1]
        assert not any("cut at their root" in note for note in self.document(self.jdk)["meta"]["notes"])

    def test_a_run_that_a_signal_ends_leaves_nothing(self):
        """Here the kernel's, for a file that grows past a limit."""
        done = subprocess.run([self.convert.program, "convert", self.jdk, "-o", "ended.json"], cwd=self.directory, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        assert done.returncode == -signal.SIGXFSZ, done
        assert not list(self.directory.glob("ended.json*"))

    def test_a_type_without_samples_lists_those_there_are(self):
        _, stderr = self.convert(self.jdk, "-t", "live_bytes", "-o", "x.json", code=1)
        assert "cpu, alloc_bytes" in stderr, stderr

    def test_wrong_usage_exits_2_and_help_is_complete(self):
        for arguments, says in ((("-o", "x.html"), "name a recording"), ((self.jdk,), "-o FILE"),
                                ((self.jdk, "-o", "x"), "--format"), ((self.jdk, "-o", "-"), "standard output"),
                                ((self.jdk, "-o", "x.html", "-t", ","), "one profile type"), ((self.jdk, "-o", "x.html", "-t", "cup"), "cup"),
                                ((self.jdk, "-o", "x.html", "-f", "pdf"), "pdf"),
                                ((self.jdk, "-o", "x.html", "--max-nodes", "-1"), "--max-nodes"),
                                ((self.jdk, "-o", "x.html", "--max-stacks", "0"), "--max-stacks"),
                                ((self.jdk, "-o", "x.html", "--max-cells", "999"), "--max-cells"),
                                ((self.jdk, "-o", "x.heatmap.html", "--inverted"), "--inverted"),
                                ((self.jdk, "-o", "x.html", "--max-memory", "4k"), "--max-memory"),
                                ((self.jdk, "-o", "x.html", "--min-width", "101"), "--min-width"),
                                ((self.jdk, "-o", "x.html", "--min-width", "1x"), "--min-width"),
                                ((self.jdk, "--frobnicate"), "--help")):
            assert says in self.convert(*arguments, code=2)[1], arguments
        text, _ = self.convert("--help")
        manual = (self.convert.program.parent / "hotstack-convert.1").read_text().replace("\\-", "-")
        options = set(re.findall(r"--[a-z-]+", text))
        assert options == set(re.findall(r"--[a-z-]+", manual)), options
        assert {"--output", "--format", "--type", "--threads", "--lines", "--raw-names", "--max-nodes", "--min-width", "--max-stacks", "--max-memory", "--max-cells", "--thread", "--thread-pattern", "--from",
                "--to", "--state", "--wall-states", "--inverted", "--jobs", "--help"} == options

    def test_the_program_lists_its_commands(self):
        done = subprocess.run([self.convert.program, "--help"], capture_output=True, text=True, check=True)
        assert "convert" in done.stdout
        for arguments in ([], ["frobnicate"]):
            done = subprocess.run([self.convert.program, *arguments], capture_output=True, text=True)
            assert done.returncode == 2 and "--help" in done.stderr


def main():
    program, datadir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        recordings = Recordings(directory)
        if missing := recordings.missing():
            print(f"1..0 # SKIP {missing} is missing: {INSTALL}")
            return
        tests = Tests(recordings, Convert(program, datadir, directory), datadir)
        run_tests(tests)


main()
