# SPDX-License-Identifier: Apache-2.0
"""The demo service on every JDK of the cache, in TAP. Usage: demo_service_test.py JAR

What tests and demos rely on: it answers at once, its CPU goes where README.md says, its deadlock can
be switched on and off, and its command line says what is wrong with it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

RELEASES = ("11", "17", "21", "25")
SHARES = {
    "PriceEngine.computeDiscounts": 50,
    "CouponMatcher.matchCoupons": 25,
    "ReportBuilder.renderRows": 15,
    "Recommender.rankItems": 10,
}
ENOUGH_CPU_NS = 1_000_000_000
TOLERANCE = 2.0  # points of percent; one order is 0.2 of ENOUGH_CPU_NS
PATIENCE = 60  # seconds before a condition counts as never met


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("HOTSTACK_CACHE") or pathlib.Path(home) / "hotstack")


def find_java(release):
    """The JDK of the cache; for 17 the system's will do."""
    java = cache() / "jdk" / release / "bin" / "java"
    if java.exists():
        return java
    return shutil.which("java") if release == "17" else None


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


class Service:
    """A running demo service; leaves nothing behind."""

    def __init__(self, java, jar):
        self.directory = tempfile.TemporaryDirectory()
        port_file = pathlib.Path(self.directory.name) / "port"
        self.process = subprocess.Popen(
            [java, "-XX:+UseSerialGC", "-Xmx64m", "-jar", jar, "--port-file", port_file, "--load", "high"],
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_for(lambda: port_file.exists() or self.process.poll() is not None, "the port file")
            self.port = int(port_file.read_text())
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()

    def call(self, path, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read().decode()


def answers(service):
    assert service.call("/health") == "ok\n"
    assert service.call("/order") == "served\n"


def cpu_goes_where_the_readme_says(service):
    """The work evens the shares out, so one dear order (a machine that took the CPU away) passes; a wrong share stays."""
    found = {}

    def as_documented():
        spent = json.loads(service.call("/stats"))["cpu_ns"]
        assert set(spent) == set(SHARES), spent
        found.update({method: 100 * spent[method] / max(1, sum(spent.values())) for method in SHARES})
        near = all(abs(found[method] - share) <= TOLERANCE for method, share in SHARES.items())
        return near and sum(spent.values()) > ENOUGH_CPU_NS

    try:
        wait_for(as_documented, "the documented shares of over a second of CPU")
    except AssertionError as error:
        raise AssertionError(f"{error}; found, in percent: {found}") from error


def deadlock_can_be_switched(service):
    def clerks_in_deadlock():
        tool = pathlib.Path(service.process.args[0]).resolve().parent / "jcmd"
        dump = subprocess.run([tool, str(service.process.pid), "Thread.print"], capture_output=True, text=True)
        return "Java-level deadlock" in dump.stdout

    assert not clerks_in_deadlock()
    service.call("/deadlock/on", "POST")
    wait_for(clerks_in_deadlock, "the JVM finds the deadlock")
    answers(service)
    service.call("/deadlock/off", "POST")
    wait_for(lambda: not clerks_in_deadlock(), "the deadlock ends")


def wrong_arguments_are_named(java, jar):
    for arguments in (["--load", "loud"], ["--port", "70000"], ["--colour", "red"]):
        run = subprocess.run([java, "-jar", jar, *arguments], capture_output=True, text=True)
        assert run.returncode == 2 and arguments[0] in run.stderr, run.stderr


class Points:
    """TAP on standard output."""

    def __init__(self):
        self.count = self.failed = 0

    def report(self, name, body):
        self.count += 1
        try:
            body()
            print(f"ok {self.count} - {name}", flush=True)
        except Exception as error:
            self.failed += 1
            print(f"not ok {self.count} - {name}\n# {type(error).__name__}: {error}", flush=True)

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)


def main():
    jar, points = sys.argv[1], Points()
    for release in RELEASES:
        java = find_java(release)
        if java is None:
            points.skip(f"JDK {release}", "not there: deploy/dependencies/install test")
            continue
        with Service(java, jar) as service:
            points.report(f"JDK {release} answers", lambda: answers(service))
            points.report(f"JDK {release} CPU shares", lambda: cpu_goes_where_the_readme_says(service))
            points.report(f"JDK {release} deadlock", lambda: deadlock_can_be_switched(service))
        points.report(f"JDK {release} arguments", lambda: wrong_arguments_are_named(java, jar))
    print(f"1..{points.count}")
    return 1 if points.failed else 0


if __name__ == "__main__":
    sys.exit(main())
