#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack profile and hotstack ps on a real JVM.

usage: profile_test.py HOTSTACK WORKER CLASSES DATADIR
  HOTSTACK  the program
  WORKER    hotstack-attach-worker
  CLASSES   the folder with Target.class
  DATADIR   the folder where the build puts flamegraph.html, when it has Node
Prints TAP. Skips, naming the command that helps, where a JDK or async-profiler is missing.
"""
import gzip
import json
import os
import pathlib
import platform
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/support"))
import flamegraph_page  # noqa: E402

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
HOTSTACK, WORKER, CLASSES, DATADIR = sys.argv[1:5]
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "unknown")
PROFILER = pathlib.Path(os.environ.get("HOTSTACK_ASYNC_PROFILER") or
                        CACHE / f"async-profiler/linux-{ARCH}/libasyncProfiler.so")
ENVIRONMENT = dict(os.environ, HOTSTACK_ATTACH_WORKER=WORKER, HOTSTACK_ASYNC_PROFILER=str(PROFILER),
                   HOTSTACK_DATADIR=DATADIR)


class Skipped(Exception):
    pass


def find_java():
    for java in (CACHE / "jdk/21/bin/java", CACHE / "jdk/17/bin/java",
                 pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64/bin/java"),
                 pathlib.Path("/usr/lib/jvm/java-17-openjdk-arm64/bin/java")):
        if java.exists():
            return java
    return None


def start_jvm(*flags, java=None):
    jvm = subprocess.Popen([java or find_java(), "-Xmx64m", *flags, "-cp", CLASSES, "Target"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert jvm.stdout.readline() == "ready\n"
    return jvm


def end_jvm(jvm):
    jvm.kill()
    rest = jvm.stdout.read()
    jvm.wait()
    pathlib.Path(f"/tmp/.java_pid{jvm.pid}").unlink(missing_ok=True)
    return rest


def hotstack(*arguments, **options):
    return subprocess.run([HOTSTACK, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=ENVIRONMENT, **options)


def is_clean(jvm):
    """Nothing of this program's in the JVM's /tmp: its directories are named in the JVM's maps."""
    maps = pathlib.Path(f"/proc/{jvm.pid}/maps").read_text()
    return not any(pathlib.Path(path).exists() for path in re.findall(r"(/\S*/hotstack-cli\w+-\w+)/lib", maps))


def cpu_seconds(jvm):
    fields = pathlib.Path(f"/proc/{jvm.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main_cpu(jvm):
    """Seconds of CPU time of the thread that allocates and contends, two milliseconds a round."""
    dump = hotstack("jcmd", jvm.pid, "Thread.print").stdout
    return float(re.search(r'^"main" .*?\bcpu=([\d.]+)ms', dump, re.MULTILINE).group(1)) / 1000


def profile_while(jvm, measure, grows_by, *arguments, end=None):
    """Presses Ctrl-C, or calls end(), once what measure() tells has grown that much since the recording runs. Returns what
    was printed."""
    ours, theirs = pty.openpty()
    profile = subprocess.Popen([HOTSTACK, "profile", "-d", "300", *map(str, arguments), str(jvm.pid)],
                               env=ENVIRONMENT, stderr=theirs)
    os.close(theirs)
    text = b""
    while b"\rprofiling Target" not in text:
        text += os.read(ours, 4096)
    begin = measure(jvm)
    while measure(jvm) < begin + grows_by:
        assert profile.poll() is None, text
        time.sleep(0.05)
    if end is None:
        profile.send_signal(signal.SIGINT)
    else:
        end()
    try:
        while piece := os.read(ours, 4096):
            text += piece
    except OSError:  # the terminal's other end is closed
        pass
    os.close(ours)
    assert profile.wait() == 0, text
    return text.decode()


def collapsed_has_the_burning_method(directory, jvm):
    out = directory / "out.collapsed"
    result = hotstack("profile", "-d", "2", "-e", "cpu", "-f", out, jvm.pid)
    assert result.returncode == 0, result.stderr
    lines = out.read_text().splitlines()
    total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
    burning = sum(int(line.rsplit(" ", 1)[1]) for line in lines if "Target.burn" in line)
    assert burning > total / 2, (burning, total)
    assert is_clean(jvm)
    assert "wrote" in result.stderr and "\r" not in result.stderr


def three_types_from_one_recording(directory, jvm):
    text = profile_while(jvm, main_cpu, 0.3, "-e", "cpu,alloc=64k,lock=100us", "-f", directory / "all.collapsed")
    assert "all.collapsed" not in text, text  # there is one file per type, and each is named
    for name in ("cpu", "alloc_bytes", "lock_delay"):
        assert f"all.{name}.collapsed" in text, text
        assert (directory / f"all.{name}.collapsed").stat().st_size > 0, (name, text)
    only = hotstack("profile", "-d", "1", "-t", "cpu", "-f", directory / "one.collapsed", jvm.pid)
    assert only.returncode == 0 and (directory / "one.collapsed").exists(), only.stderr


def page_is_self_contained(directory, jvm):
    if not (pathlib.Path(DATADIR) / "flamegraph.html").exists():
        raise Skipped("no template: the build has no Node; ./dev build installs it")
    out = directory / "flame.html"
    result = hotstack("profile", "-d", "1", "-f", out, jvm.pid)
    assert result.returncode == 0, result.stderr
    document = flamegraph_page.of_page(out.read_text())
    assert any("burn" in name for name in document["strings"]), document["strings"]


def recording_itself(directory, jvm):
    out = directory / "out.jfr"
    result = hotstack("profile", "-d", "1", "-f", out, jvm.pid)
    assert result.returncode == 0, result.stderr
    assert out.read_bytes()[:4] == b"FLR\0"


def formats_for_other_tools(directory, jvm):
    """The code of convert writes it, and convert's own test checks its content."""
    def start_of(name, size):
        data = (directory / name).read_bytes()
        return gzip.decompress(data)[:size] if name.endswith(".gz") else data[:size]

    for name, begin in (("out.pb.gz", b"\x0a"), ("out.speedscope.json", b"{"), ("out.top.json", b"{"), ("out.cpu.csv", b"class,")):
        result = hotstack("profile", "-d", "1", "-e", "cpu", "-t", "cpu", "-f", directory / name, jvm.pid)
        assert result.returncode == 0 and result.stderr.endswith(f"wrote {directory / name}\n"), result.stderr
        assert start_of(name, len(begin)) == begin, (name, start_of(name, 80))
    schema = json.loads((directory / "out.speedscope.json").read_text())["$schema"]
    assert "speedscope" in schema, schema


def what_the_profiler_dropped_is_told(directory, jvm):
    """Takes one CPU sample per second of a JVM that uses a good part of a core."""
    out = directory / "limited.json"
    text = profile_while(jvm, main_cpu, 0.3, "-e", "cpu=1ms", "--rate-limit", "1", "-f", out)
    told = int(re.search(r"async-profiler dropped (\d+) events.*at most 1 of one kind", text).group(1))
    meta = json.loads(out.read_text())["meta"]
    assert told > 0 and meta["loss"]["recorder_events"] == told, (text, meta)
    assert f"{told} events were dropped by the recorder itself" in meta["notes"], meta


def types_in(page):
    return {profile["type"]: int(profile["value_total"]) for profile in json.loads(page.read_text())["profiles"]}


def wall_time_tells_waiting_from_running(directory, jvm):
    out = directory / "wall.collapsed"
    text = profile_while(jvm, cpu_seconds, 0.5, "-e", "wall=5ms", "-f", out)
    assert f"wrote {out}" in text, text  # one file: no other type
    lines = [line.rsplit(" ", 1) for line in out.read_text().splitlines()]
    running = sum(int(value) for stack, value in lines if stack.startswith("[running];") and "Target.burn" in stack)
    waiting = sum(int(value) for stack, value in lines if stack.startswith("[waiting];"))
    assert 0 < running < waiting, (running, waiting)  # most of a JVM's threads wait all the time
    assert all(stack.split(";")[0] in ("[running]", "[waiting]") for stack, _ in lines), lines


def live_objects_and_native_memory_alone(directory, jvm):
    out = directory / "live.json"
    profile_while(jvm, main_cpu, 0.1, "-e", "live=1k", "-f", out)
    live = types_in(out)
    assert list(live) == ["live_bytes"] and live["live_bytes"] >= 65536, live  # Target's last garbage
    # a JVM that compiles, which takes native memory
    young = start_jvm()
    try:
        profile_while(young, cpu_seconds, 0.5, "-e", "nativemem=1k", "-f", out)
        assert list(types_in(out)) == ["nativemem_bytes"], types_in(out)
    finally:
        assert end_jvm(young) == ""


def every_event_at_once_on_every_jdk(directory, jvm):
    for release in ("11", "17", "21", "25"):
        java = CACHE / f"jdk/{release}/bin/java"
        if not java.exists():
            continue
        target = start_jvm(java=java)
        try:
            out = directory / f"all-{release}.json"
            profile_while(target, main_cpu, 0.2, "-e", "cpu=1ms,alloc=1k,lock=1us,wall=5ms,live,nativemem=1k", "-f", out)
            assert set(types_in(out)) == {"cpu", "alloc_bytes", "alloc_objects", "lock_count", "lock_delay", "wall",
                                          "live_bytes", "nativemem_bytes"}, (release, types_in(out))
        finally:
            assert end_jvm(target) == "", release


def interrupt_and_progress_on_a_terminal(directory, jvm):
    out = directory / "early.collapsed"
    text = profile_while(jvm, cpu_seconds, 0.5, "-e", "cpu", "-f", out)
    assert "\rprofiling Target" in text and "of 300 s" in text, text
    assert out.exists() and is_clean(jvm)


def what_a_jvm_recorded_until_its_end(directory, jvm):
    """Nobody waits for it meanwhile: a process that has ended is noticed all the same."""
    batch = start_jvm()
    try:
        out = directory / "batch.collapsed"
        text = profile_while(batch, cpu_seconds, 0.5, "-e", "cpu", "-f", out, end=batch.terminate)
        assert "has ended" in text and "Target.burn" in out.read_text(), text
        left = [path.name for path in pathlib.Path("/tmp").glob("hotstack-cli*") if holds_a_session_of(path, batch)]
        assert left == [], left
    finally:
        assert end_jvm(batch) == ""


def holds_a_session_of(directory, jvm):
    try:
        return f"\npid {jvm.pid}\n" in (directory / "session").read_text()
    except OSError:
        return False


def what_fails_after_the_start_leaves_nothing(directory, jvm):
    profile = subprocess.Popen([HOTSTACK, "profile", "-d", "300", "-f", str(directory / "never.jfr"), str(jvm.pid)],
                               env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while not (ours := [path for path in pathlib.Path("/tmp").glob("hotstack-cli*") if holds_a_session_of(path, jvm)]):
        assert profile.poll() is None
        time.sleep(0.05)
    recording = ours[0] / "recording.jfr"
    while not recording.exists() or recording.stat().st_size == 0:
        time.sleep(0.05)
    with open(recording, "r+b") as file:
        file.write(b"nonsense")
    profile.send_signal(signal.SIGINT)
    text = profile.communicate()[1]
    assert profile.returncode == 1 and text.startswith("hotstack profile: ") and "could not be ended" not in text, text
    assert not ours[0].exists() and not (directory / "never.jfr").exists(), text
    row = json.loads(hotstack("attach", "status", "--json", jvm.pid).stdout)["jvms"][0]
    assert row["session"] == "none" and not row["running"], row


def second_run_is_told(directory, jvm):
    first = subprocess.Popen([HOTSTACK, "profile", "-d", "300", "-f", str(directory / "first.jfr"), str(jvm.pid)],
                             env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    while is_clean(jvm):
        assert first.poll() is None
        time.sleep(0.05)
    second = hotstack("profile", "-d", "1", "-f", directory / "second.jfr", jvm.pid)
    assert second.returncode == 1 and "external_profiler" in second.stderr and "until" in second.stderr, second.stderr
    assert f"hotstack profile (pid {first.pid})" in second.stderr, second.stderr
    row = json.loads(hotstack("attach", "status", "--json", jvm.pid).stdout)["jvms"][0]
    assert row["session"] == "hotstack" and row["owner"] == f"hotstack profile (pid {first.pid})" and row["until"], row
    text = hotstack("attach", "status").stdout
    assert f"hotstack profile (pid {first.pid})" in text, text
    assert not (directory / "second.jfr").exists()
    first.send_signal(signal.SIGTERM)
    assert first.wait() == 0 and (directory / "first.jfr").stat().st_size > 0


def mistakes_are_named(directory, jvm):
    for arguments, words in ((("-f", "x.html"), "process id"), (("-f", "x.txt", "1"), "hotstack convert --help"), (("-t", "cpu,x", "-f", "x.json", "1"), "profile type"), (("1",), "-f FILE"),
                             (("-e", "gpu", "-f", "x.jfr", "1"), "there is no event 'gpu'; did you mean 'cpu'?"), (("-e", "wall=1ms", "-f", "x.jfr", "1"), "at least 5ms"),
                             (("-e", "live=1k,alloc=2k", "-f", "x.jfr", "1"), "one interval"), (("-d", "0", "-f", "x.jfr", "1"), "--duration"),
                             (("-d", "-5", "-f", "x.jfr", "1"), "--duration"), (("--engine", "tape", "-f", "x.jfr", "1"), "--engine"), (("--loop", "-f", "x.jfr", "1"), "%t"),
                             (("--rate-limit", "0", "-f", "x.jfr", "1"), "--rate-limit"), (("--rate-limit", "4000000000", "-f", "x.jfr", "1"), "from 1 to"),
                             (("-e", "", "-f", "x.jfr", "1"), "name one event"), (("-e", "cpu=10", "-f", "x.jfr", "1"), "unit"),
                             (("-e", "lock=1ns", "-f", "x.jfr", "1"), "at least 1us")):
        result = hotstack("profile", *arguments)
        assert result.returncode == 2 and words in result.stderr, (arguments, result.stderr)
    nobody = hotstack("profile", "-f", directory / "x.jfr", os.getpid())
    assert nobody.returncode == 1 and "HotSpot" in nobody.stderr, nobody.stderr
    nowhere = hotstack("profile", "-f", directory / "none/x.jfr", jvm.pid)
    assert nowhere.returncode == 1 and "cannot write" in nowhere.stderr, nowhere.stderr


def a_name_is_enough(directory, jvm):
    out = directory / "named.jfr"
    result = hotstack("profile", "-d", "1", "-f", out, "Target")
    if "JVMs are called" in result.stderr:  # another test's JVM beside ours
        assert f" {jvm.pid} Target" in result.stderr, result.stderr
    else:
        assert result.returncode == 0 and out.read_bytes()[:4] == b"FLR\0", result.stderr
    nobody = hotstack("profile", "-f", out, "no.such.Main")
    assert nobody.returncode == 1 and "no JVM is called" in nobody.stderr, nobody.stderr


def loop_writes_one_file_after_the_other(directory, jvm):
    loop = subprocess.Popen([HOTSTACK, "profile", "--loop", "-d", "1", "-e", "cpu", "-f", str(directory / "loop-%n.jfr"),
                             str(jvm.pid)], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    while not (directory / "loop-3.jfr").exists():
        assert loop.poll() is None
        time.sleep(0.05)
    loop.send_signal(signal.SIGINT)
    assert loop.wait() == 0 and is_clean(jvm)
    for number in (1, 2, 3):
        assert (directory / f"loop-{number}.jfr").read_bytes()[:4] == b"FLR\0", number


def the_jdks_recorder_when_asked(directory, jvm):
    out = directory / "jdk.jfr"
    result = hotstack("profile", "-d", "1", "--engine", "jfr", "-f", out, jvm.pid)
    assert result.returncode == 0 and b"jdk.ExecutionSample" in out.read_bytes(), result.stderr
    assert is_clean(jvm)


def what_the_jdks_recorder_does_not_know_is_told(directory, jvm):
    out = directory / "jdk.json"
    result = hotstack("profile", "-d", "2", "--engine", "jfr", "-e", "cpu,wall", "-f", out, jvm.pid)
    assert result.returncode == 0 and "not everything is recorded (event_refused)" in result.stderr, result.stderr
    notes = json.loads(out.read_text())["meta"]["notes"]
    assert any(note.startswith("not recorded: ") and "wall-clock" in note for note in notes), notes
    nothing = hotstack("profile", "-d", "1", "--engine", "jfr", "-e", "wall", "-f", out, jvm.pid)
    assert nothing.returncode == 1 and "no wall-clock samples" in nothing.stderr, nothing.stderr


def the_jdks_recorder_where_no_agent_may_be_loaded(directory, jvm):
    locked = start_jvm("-XX:-EnableDynamicAgentLoading")
    try:
        strict = hotstack("profile", "-d", "1", "--engine", "async-profiler", "-f", directory / "x.jfr", locked.pid)
        assert strict.returncode == 1 and "dynamic_agent_loading_disabled" in strict.stderr, strict.stderr
        assert "fix: " in strict.stderr, strict.stderr
        out = directory / "second.collapsed"
        result = hotstack("profile", "-d", "2", "-e", "cpu", "-f", out, locked.pid)
        assert result.returncode == 0 and "JDK's own recorder" in result.stderr, result.stderr
        assert "dynamic_agent_loading_disabled" in result.stderr and out.stat().st_size > 0, result.stderr
        report = hotstack("doctor", "--json", locked.pid)
        assert report.returncode == 0, report.stderr
        verdict = json.loads(report.stdout)["verdict"]
        assert verdict["recorder"] == "jfr" and verdict["reason"] == "dynamic_agent_loading_disabled", verdict
    finally:
        assert end_jvm(locked) == ""


def doctor_names_what_stands_in_the_way(directory, jvm):
    good = hotstack("doctor", jvm.pid)
    assert good.returncode == 0 and "verdict: can be profiled with async-profiler" in good.stdout, good.stdout
    locked = start_jvm("-XX:+DisableAttachMechanism")
    try:
        bad = hotstack("doctor", locked.pid)
        assert bad.returncode == 1 and "verdict: cannot be profiled (attach_disabled)" in bad.stdout, bad.stdout
        assert "paste: _JAVA_OPTIONS=-XX:-DisableAttachMechanism" in bad.stdout, bad.stdout
        os.kill(locked.pid, signal.SIGSTOP)
        _, status = os.waitpid(locked.pid, os.WUNTRACED)  # kill returns before the process has stopped
        assert os.WIFSTOPPED(status), status
        report = json.loads(hotstack("doctor", "--json", locked.pid).stdout)
        state = [check for check in report["checks"] if check["name"] == "state"][0]
        assert state["reason"] == "target_stopped" and state["paste"] == f"kill -CONT {locked.pid}", state
        os.kill(locked.pid, signal.SIGCONT)
    finally:
        assert end_jvm(locked) == ""
    with open("/dev/full", "w", encoding="ascii") as full:
        for command in (("doctor", jvm.pid), ("ps",), ("attach", "status", jvm.pid), ("jcmd", jvm.pid, "VM.version")):
            lost = subprocess.run([HOTSTACK, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
            assert lost.returncode == 1 and "cannot write the output" in lost.stderr, (command, lost)
    none = hotstack("doctor", os.getpid())
    assert none.returncode == 1 and "not a HotSpot JVM" in none.stderr, none.stderr


def a_program_that_makes_its_jvm_itself_is_found_by_its_name(directory, jvm):
    launcher = os.environ.get("HOTSTACK_TEST_LAUNCHER")
    if launcher is None:
        raise Skipped("a native launcher needs jni.h: openjdk-17-jdk-headless")
    name = f"orders-{os.getpid()}"  # other tests run the launcher, too
    shutil.copy(launcher, directory / name)
    own = subprocess.Popen([directory / name, "-java-home", "/usr/lib/jvm/x", "-user", "t", "org.acme.Boot", "start"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env=dict(os.environ, HOTSTACK_TEST_CLASSES=CLASSES))
    try:
        assert own.stdout.readline() == "ready\n"
        found = hotstack("doctor", name)
        assert found.returncode == 0 and f"{own.pid}" in found.stdout and "verdict: can be profiled" in found.stdout, found
        rows = {row.split()[0]: row.split(None, 4) for row in hotstack("ps").stdout.splitlines()[1:]}
        assert rows[str(own.pid)][3] == name, rows
    finally:
        assert end_jvm(own) == ""


def a_deleted_jdk_is_told(directory, jvm):
    home = directory / "jdk"
    shutil.copytree(pathlib.Path(find_java()).resolve().parents[1], home, symlinks=True)
    orphan = start_jvm(java=home / "bin/java")
    shutil.rmtree(home)
    try:
        text = hotstack("doctor", orphan.pid)
        assert text.returncode == 0 and f"paste: hotstack jcmd {orphan.pid} Thread.print" in text.stdout, text.stdout
        checks = json.loads(hotstack("doctor", "--json", orphan.pid).stdout)["checks"]
        jdk = [check for check in checks if check["name"] == "jdk"]
        assert [(check["status"], check["reason"]) for check in jdk] == [("note", "jdk_deleted")], checks
        dump = hotstack("jcmd", orphan.pid, "Thread.print")
        assert dump.returncode == 0 and '"main"' in dump.stdout, dump
    finally:
        end_jvm(orphan)


def jcmd_answers(directory, jvm):
    text = hotstack("jcmd", jvm.pid, "VM.version")
    assert text.returncode == 0 and "JDK " in text.stdout, text
    answer = json.loads(hotstack("jcmd", "--json", jvm.pid, "Thread.print", "-l").stdout)
    assert answer["code"] == 0 and answer["command"] == "Thread.print -l" and "Target.holdLock" in answer["text"], answer
    assert "Thread.print" in hotstack("jcmd", jvm.pid).stdout
    unknown = hotstack("jcmd", jvm.pid, "No.such")
    assert unknown.returncode == 1 and "Unknown diagnostic command" in unknown.stdout, unknown
    odd = hotstack("jcmd", "-x")
    assert odd.returncode == 2 and odd.stderr.count("hotstack jcmd") == 2, odd.stderr
    assert hotstack("help", "jcmd").stdout == hotstack("jcmd", "--help").stdout != hotstack("help").stdout
    misspelt = hotstack("help", "jmcd")
    assert misspelt.returncode == 2 and "no command 'jmcd'" in misspelt.stderr, misspelt
    assert hotstack("jcmd").returncode == 2 and hotstack("attach", "stop").returncode == 2


def list_as_json(directory, jvm):
    rows = {row["pid"]: row for row in json.loads(hotstack("ps", "--json").stdout)["jvms"]}
    mine = rows[jvm.pid]
    assert mine["main_class"] == "Target" and mine["verdict"] == {"ok": True, "reason": "none", "detail": "", "fix": ""}, mine
    assert mine["libc"] == "glibc" and mine["version"] and mine["started_at"].endswith("Z"), mine


def list_names_the_jvm_and_the_verdict(directory, jvm):
    locked = start_jvm("-XX:+DisableAttachMechanism")
    try:
        rows = {row.split()[0]: row.split(None, 4) for row in hotstack("ps").stdout.splitlines()[1:]}
        assert rows[str(jvm.pid)][3:5] == ["Target", "ok"], rows
        assert rows[str(locked.pid)][4].startswith("attach_disabled"), rows
        refused = hotstack("profile", "-f", directory / "x.jfr", locked.pid)
        assert refused.returncode == 1 and "attach_disabled" in refused.stderr, refused.stderr
    finally:
        assert end_jvm(locked) == ""


TESTS = [collapsed_has_the_burning_method, what_the_profiler_dropped_is_told, wall_time_tells_waiting_from_running,
         live_objects_and_native_memory_alone, every_event_at_once_on_every_jdk, three_types_from_one_recording,
         page_is_self_contained, recording_itself, formats_for_other_tools, interrupt_and_progress_on_a_terminal,
         what_a_jvm_recorded_until_its_end, what_fails_after_the_start_leaves_nothing, second_run_is_told,
         mistakes_are_named, a_name_is_enough, loop_writes_one_file_after_the_other, the_jdks_recorder_when_asked,
         what_the_jdks_recorder_does_not_know_is_told, the_jdks_recorder_where_no_agent_may_be_loaded,
         doctor_names_what_stands_in_the_way,
         a_program_that_makes_its_jvm_itself_is_found_by_its_name, a_deleted_jdk_is_told, jcmd_answers, list_as_json,
         list_names_the_jvm_and_the_verdict]


def main():
    if find_java() is None or not PROFILER.exists():
        print("1..0 # SKIP no JDK or no libasyncProfiler.so: run deploy/dependencies/install test")
        return 0
    failed = 0
    print(f"1..{len(TESTS) + 1}")
    jvm = start_jvm()
    with tempfile.TemporaryDirectory() as directory:
        for number, test in enumerate(TESTS, 1):
            try:
                test(pathlib.Path(directory), jvm)
                print(f"ok {number} - {test.__name__}", flush=True)
            except Skipped as reason:
                print(f"ok {number} - {test.__name__} # SKIP {reason}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} - {test.__name__}")
                print("# " + repr(error).replace("\n", "\n# "), flush=True)
    printed = end_jvm(jvm)
    failed += printed != ""
    print(f"{'ok' if printed == '' else 'not ok'} {len(TESTS) + 1} - the JVM's own output is untouched")
    return 1 if failed else 0


sys.exit(main())
