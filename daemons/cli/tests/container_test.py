#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JVMs in containers of runc: read-only root, no capabilities, another user, a limit on memory.

usage: container_test.py HOTSTACK WORKER CLASSES
  HOTSTACK  the program
  WORKER    hotstack-attach-worker
  CLASSES   the folder with Target.class
Prints TAP. Skips, naming the command that helps, without root, runc, a JDK or async-profiler.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/support"))
import containers  # noqa: E402
from containers import LIMIT, NOBODY, POD, PROFILER  # noqa: E402

HOTSTACK, WORKER, CLASSES = sys.argv[1:4]
ENVIRONMENT = dict(os.environ, HOTSTACK_ATTACH_WORKER=WORKER, HOTSTACK_ASYNC_PROFILER=str(PROFILER))


def hotstack(*arguments):
    return subprocess.run([HOTSTACK, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=ENVIRONMENT, check=False)


def profiled_under_a_read_only_root(directory, jdk):
    container = containers.Container(jdk, CLASSES)
    try:
        row = [jvm for jvm in json.loads(hotstack("ps", "--json").stdout)["jvms"] if jvm["pid"] == container.pid][0]
        assert row["container_id"] == container.id and row["pod_uid"] == POD, row
        assert row["uid"] == NOBODY and row["ns_pid"] == 1 and row["verdict"]["ok"], row
        assert row["limits"]["memory_bytes"] == LIMIT, row["limits"]
        doctor = hotstack("doctor", container.pid)
        assert doctor.returncode == 0 and "files go to /tmp" in doctor.stdout, doctor.stdout
        out = directory / "container.collapsed"
        result = hotstack("profile", "-d", "2", "-e", "cpu", "-f", out, container.pid)
        assert result.returncode == 0, result.stderr
        assert "Target.burn" in out.read_text() and container.files() == [], container.files()
        assert hotstack("jcmd", container.pid, "VM.version").returncode == 0
        assert container.text() == "ready\n", container.text()
    finally:
        container.end()


def the_jdks_recorder_where_nothing_is_executable(directory, jdk):
    container = containers.Container(jdk, CLASSES, tmp=["noexec"])
    try:
        strict = hotstack("profile", "-d", "1", "--engine", "async-profiler", "-f", directory / "x.jfr", container.pid)
        assert strict.returncode == 1 and "no_exec_dir" in strict.stderr and "/tmp: noexec" in strict.stderr, strict.stderr
        doctor = hotstack("doctor", container.pid)
        assert doctor.returncode == 0 and "JDK's own recorder only (no_exec_dir)" in doctor.stdout, doctor.stdout
        out = directory / "noexec.collapsed"
        result = hotstack("profile", "-d", "2", "-e", "cpu", "-f", out, container.pid)
        assert result.returncode == 0 and "JDK's own recorder" in result.stderr and "no_exec_dir" in result.stderr, result.stderr
        assert "Target.burn" in out.read_text() and container.files() == [], container.files()
        assert container.text() == "ready\n", container.text()
    finally:
        container.end()


def nothing_without_any_place(directory, jdk):
    """Even /tmp is full: the reason says so, and nothing hangs."""
    container = containers.Container(jdk, CLASSES, tmp=["size=64k"])
    try:
        result = hotstack("profile", "-d", "1", "-f", directory / "full.jfr", container.pid)
        assert result.returncode == 1 and re.search(r"disk_full|permission_denied", result.stderr), result.stderr
        doctor = hotstack("doctor", container.pid)
        assert doctor.returncode == 1 and "/tmp: full" in doctor.stdout, doctor.stdout
    finally:
        container.end()


def main():
    reason = containers.missing()
    if reason is not None:
        print(f"1..0 # SKIP {reason}")
        return 0
    homes = containers.jdks()
    cases = [(profiled_under_a_read_only_root, name) for name in homes]
    cases += [(the_jdks_recorder_where_nothing_is_executable, name) for name in sorted({list(homes)[0], list(homes)[-1]})]
    cases += [(nothing_without_any_place, list(homes)[-1])]
    failed = 0
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as directory:
        for number, (case, name) in enumerate(cases, 1):
            try:
                case(pathlib.Path(directory), homes[name])
                print(f"ok {number} - {case.__name__} JDK {name}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} - {case.__name__} JDK {name}")
                print("# " + repr(error).replace("\\n", "\n# "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
