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
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
HOTSTACK, WORKER, CLASSES = sys.argv[1:4]
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "unknown")
PROFILER = pathlib.Path(os.environ.get("HOTSTACK_ASYNC_PROFILER") or
                        CACHE / f"async-profiler/linux-{ARCH}/libasyncProfiler.so")
ENVIRONMENT = dict(os.environ, HOTSTACK_ATTACH_WORKER=WORKER, HOTSTACK_ASYNC_PROFILER=str(PROFILER))
POD = "8dbc5577-d0e2-4706-8787-57d52c03ddf2"
LIMIT = 512 << 20
NOBODY = 65534


def jdks():
    return {home.name: home for home in sorted((CACHE / "jdk").glob("*")) if (home / "bin/java").exists()}


def why_not():
    if os.geteuid() != 0:
        return "containers need root"
    if shutil.which("runc") is None:
        return "no runc: run deploy/dependencies/install test"
    if not jdks() or not PROFILER.exists():
        return "no JDK or no libasyncProfiler.so: run deploy/dependencies/install test"
    return None


class Container:
    """A JVM in a container, whose /tmp is mounted with the given options."""

    def __init__(self, jdk, tmp_options, command=None, binds=(), ready="ready\n"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="hotstack-container-"))
        self.directory.chmod(0o755)
        self.id = os.urandom(32).hex()
        self.make_bundle(jdk, tmp_options, command or ["-Xmx64m", "-cp", "/app", "Target"], list(binds))
        self.output = open(self.directory / "output", "w+", encoding="utf-8")
        self.runc = subprocess.Popen(["runc", "--root", self.directory / "state", "run", "--bundle", self.directory, self.id],
                                     stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)
        while ready not in self.text():
            assert self.runc.poll() is None, self.text()
            time.sleep(0.05)
        state = subprocess.run(["runc", "--root", self.directory / "state", "state", self.id],
                               stdout=subprocess.PIPE, text=True, check=True)
        self.pid = json.loads(state.stdout)["pid"]

    def make_bundle(self, jdk, tmp_options, command, more):
        root = self.directory / "rootfs"
        shared = [path for path in ("/usr", "/lib", "/lib64", "/bin") if pathlib.Path(path).exists()]
        binds = [(path, path) for path in shared] + [(str(jdk), "/jdk"), (CLASSES, "/app")] + more
        for _, inside in binds + [("", "/proc"), ("", "/tmp"), ("", "/dev")]:
            (root / inside[1:]).mkdir(parents=True)
        (root / "tmp").chmod(0o1777)
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
                  {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777", *tmp_options]}]
        mounts += [{"destination": inside, "type": "bind", "source": os.path.realpath(outside), "options": ["bind", "ro"]}
                   for outside, inside in binds]
        config = {
            "ociVersion": "1.0.2",
            "root": {"path": "rootfs", "readonly": True},
            "process": {"user": {"uid": NOBODY, "gid": NOBODY}, "cwd": "/", "noNewPrivileges": True,
                        "args": ["/jdk/bin/java", *command], "env": ["PATH=/usr/bin"], "capabilities": {}},
            "mounts": mounts,
            "linux": {"namespaces": [{"type": name} for name in ("pid", "mount", "ipc", "uts")],
                      "cgroupsPath": f"/kubepods/burstable/pod{POD}/{self.id}",
                      "resources": {"memory": {"limit": LIMIT}}},
        }
        (self.directory / "config.json").write_text(json.dumps(config))

    def text(self):
        self.output.flush()
        return (self.directory / "output").read_text()

    def files(self):
        """What is ours in its /tmp."""
        return [path.name for path in pathlib.Path(f"/proc/{self.pid}/root/tmp").iterdir() if path.name.startswith("hotstack-")]

    def limit_memory(self, size):
        subprocess.run(["runc", "--root", self.directory / "state", "update", "--memory", str(size), self.id], check=True)

    def end(self):
        subprocess.run(["runc", "--root", self.directory / "state", "kill", self.id, "KILL"],
                       stderr=subprocess.DEVNULL, check=False)
        self.runc.wait()
        self.output.close()
        shutil.rmtree(self.directory)


def hotstack(*arguments):
    return subprocess.run([HOTSTACK, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=ENVIRONMENT, check=False)


def profiled_under_a_read_only_root(directory, jdk):
    container = Container(jdk, [])
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
    container = Container(jdk, ["noexec"])
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
    container = Container(jdk, ["size=64k"])
    try:
        result = hotstack("profile", "-d", "1", "-f", directory / "full.jfr", container.pid)
        assert result.returncode == 1 and re.search(r"disk_full|permission_denied", result.stderr), result.stderr
        doctor = hotstack("doctor", container.pid)
        assert doctor.returncode == 1 and "/tmp: full" in doctor.stdout, doctor.stdout
    finally:
        container.end()


def main():
    reason = why_not()
    if reason is not None:
        print(f"1..0 # SKIP {reason}")
        return 0
    homes = jdks()
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
