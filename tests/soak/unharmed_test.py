#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A profiled service is unharmed: throughput, memory, descriptors and threads of the demo service.

usage: unharmed_test.py DRIVER WORKER JAR SECONDS
  DRIVER      coverage_driver
  WORKER      hotstack-attach-worker
  JAR         demo-service.jar
Alternates minutes with and without a session at the default settings, for SECONDS. One service runs on this machine, beside
it one in a runc container whose memory limit leaves 64 MiB above its steady use (root only). Prints TAP, and as comments
what was measured; the ratio of throughputs is reported, not judged.
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import containers  # noqa: E402

DRIVER, WORKER, JAR = sys.argv[1:4]
SECONDS = int(sys.argv[4])
MINUTE = 60
RSS_KIB = 32 << 10
HEADROOM = 64 << 20

# Threads that HotSpot keeps after a first attach, pools that it grows and shrinks by itself, and the service's own threads.
COMES_AND_GOES = ("http-", "Attach Listener", "C1 CompilerThre", "C2 CompilerThre", "GC Thread", "G1 ", "Sweeper", "Common-Cleaner")


class Service:
    """A running demo service, whose port is in a file."""

    def __init__(self, pid, port_file):
        while not port_file.exists():
            time.sleep(0.05)
        self.pid, self.port = pid, int(port_file.read_text())

    def orders(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as answer:
            stats = json.load(answer)
        return stats["orders"]

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def threads(self):
        names = [path.read_text().strip() for path in pathlib.Path(f"/proc/{self.pid}/task").glob("*/comm")]
        return sorted(name for name in names if not name.startswith(COMES_AND_GOES))

    def descriptors(self):
        names = [os.readlink(path) for path in pathlib.Path(f"/proc/{self.pid}/fd").iterdir() if path.is_symlink()]
        return sorted(name for name in names if not name.startswith("socket:"))

    def efficiency(self):
        """Orders per second of CPU, over a minute."""
        orders, cpu = self.orders(), self.cpu_seconds()
        time.sleep(MINUTE)
        return (self.orders() - orders) / (self.cpu_seconds() - cpu)

    def lives(self):
        return pathlib.Path(f"/proc/{self.pid}").exists()


def session(service, directory):
    return subprocess.Popen([DRIVER, str(service.pid), f"calm{os.getpid()}", containers.PROFILER, directory, "10"],
                            stdout=subprocess.DEVNULL, env=dict(os.environ, HOTSTACK_ATTACH_WORKER=WORKER))


def one_session(service):
    """A minute with a session: its efficiency."""
    with tempfile.TemporaryDirectory() as directory:
        driver = session(service, directory)
        try:
            efficiency = service.efficiency()
        finally:
            driver.send_signal(signal.SIGTERM)
            assert driver.wait() == 0, "the session did not end well"
    return efficiency


def soak(service, until):
    """Minutes with and without in turn; what was wrong."""
    one_session(service)  # the first loads the library, and HotSpot's listener comes
    threads, descriptors, resident = service.threads(), service.descriptors(), service.resident_kib()
    with_session, without = [], []
    while time.monotonic() < until or not without:
        with_session.append(one_session(service))
        without.append(service.efficiency())
    ratio = statistics.median(with_session) / statistics.median(without)
    grown = service.resident_kib() - resident
    print(f"# {len(without)} pairs of minutes, throughput ratio with / without {ratio:.3f}, RSS {grown:+} KiB", flush=True)
    if grown > RSS_KIB:
        yield f"RSS grew by {grown} KiB"
    if service.threads() != threads:
        yield f"threads: {threads} became {service.threads()}"
    if service.descriptors() != descriptors:
        yield f"descriptors: {descriptors} became {service.descriptors()}"


def on_this_machine(until):
    java = list(containers.jdks().values())[-1] / "bin/java"
    with tempfile.TemporaryDirectory() as directory:
        port_file = pathlib.Path(directory) / "port"
        jvm = subprocess.Popen([java, "-Xmx128m", "-jar", JAR, "--port-file", port_file, "--load", "high"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield from soak(Service(jvm.pid, port_file), until)
        finally:
            jvm.kill()
            jvm.wait()
            pathlib.Path(f"/tmp/.java_pid{jvm.pid}").unlink(missing_ok=True)


def in_a_small_container(until):
    name = pathlib.Path(JAR).name
    container = containers.Container(
        list(containers.jdks().values())[-1], pathlib.Path(JAR).parent, ready="demo service on",
        arguments=["-Xmx128m", "-XX:+AlwaysPreTouch", "-jar", f"/app/{name}", "--port-file", "/tmp/port"])
    try:
        service = Service(container.pid, pathlib.Path(f"/proc/{container.pid}/root/tmp/port"))
        service.efficiency()  # until its use is steady
        limit = service.resident_kib() * 1024 + HEADROOM
        container.limit_memory(limit)
        print(f"# the container may use {limit >> 20} MiB", flush=True)
        minutes, most = 0, 0
        while time.monotonic() < until and service.lives():
            one_session(service)
            minutes += 1
            most = max(most, service.resident_kib())
        print(f"# {minutes} minutes with sessions in the container, at most {most >> 10} MiB of it resident", flush=True)
        if not service.lives():
            yield "the JVM did not live through it"
    finally:
        container.end()


def faults(case, until):
    try:
        return list(case(until))
    except (OSError, AssertionError) as error:  # a service that does not answer any more
        return [repr(error)]


def main():
    reason = containers.missing()
    if reason is not None:
        print(f"1..0 # SKIP {reason}")
        return 0
    failed, cases = 0, (on_this_machine, in_a_small_container)
    print(f"1..{len(cases)}", flush=True)
    with ThreadPoolExecutor(len(cases)) as side_by_side:
        until = time.monotonic() + SECONDS
        found = list(side_by_side.map(lambda case: faults(case, until), cases))
    for number, (case, wrong) in enumerate(zip(cases, found), 1):
        print(f"{'ok' if not wrong else 'not ok'} {number} - {case.__name__}", flush=True)
        for line in wrong:
            print(f"# {line}")
        failed += bool(wrong)
    return 1 if failed else 0


sys.exit(main())
