#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector's page /metrics is what Prometheus expects, also while attachd and the backend are away, and
each metric of a collector to which everything has happened is in the reference.

usage: metrics_test.py COLLECTOR COLLECTOR_TEST REFERENCE
       metrics_test.py --write COLLECTOR_TEST REFERENCE    puts the tables' rows into the reference
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/support"))
import metrics_page

PATIENCE_S = 120


def free_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return holder.getsockname()[1]


def fetch(port, process):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        assert process.poll() is None, f"the collector ended with {process.returncode}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                return answer.read().decode()
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the collector does not serve its metrics")


def eventful_page(collector_test):
    """The page of metrics_test.c, which asserts that the promised metrics have values."""
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8") as page:
        environment = {**os.environ, "CK_RUN_CASE": "metrics", "HOTSTACK_METRICS_PAGE": page.name}
        subprocess.run([collector_test], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return page.read()


def reference_rows(page):
    """A row of the reference for each family."""
    helps = dict(re.findall(r"^# HELP hotstack_collector_(\S+) (.+)$", page, re.MULTILINE))
    rows = []
    for name, kind in metrics_page.types(page).items():
        short = name.removeprefix("hotstack_collector_")
        series = re.findall(rf"^{name}(\{{.*\}})? \S+$", page, re.MULTILINE)
        labels = sorted({label for one in series for label in re.findall(r'[{,](\w+)="', one)})
        rows.append(f"| `{short}` | {kind} | {', '.join(labels)} | {helps[short]} |")
    return rows


HEADING = "| metric | type | labels | meaning |\n|---|---|---|---|\n"


def write_reference(collector_test, reference):
    text = pathlib.Path(reference).read_text(encoding="utf-8")
    before, after = text.split(HEADING)
    rest = after.split("\n\n", 1)[1] if "\n\n" in after else ""
    rows = "\n".join(reference_rows(eventful_page(collector_test)))
    pathlib.Path(reference).write_text(before + HEADING + rows + "\n\n" + rest, encoding="utf-8")


def check_idle_page(collector):
    with tempfile.TemporaryDirectory(prefix="hotstack-collector-") as directory:
        port = free_port()
        token = pathlib.Path(directory) / "token"
        token.write_text("collector-token-0123456789\n", encoding="utf-8")
        settings = pathlib.Path(directory) / "collector.yaml"
        settings.write_text(
            f"backend: {{url: http://127.0.0.1:9, token_file: {token}}}\n"
            f"attachd: {{socket: {directory}/attachd.sock}}\n"
            f"queue: {{dir: {directory}/queue}}\n"
            f"listen: {{port: {port}}}\n"
            "sandbox: false\n",  # LeakSanitizer looks through /proc at the end, which the filter does not allow
            encoding="utf-8")
        with subprocess.Popen([collector, f"--config={settings}"]) as process:
            try:
                page = fetch(port, process)
                metrics_page.check(page)
                types = metrics_page.types(page)
                assert types["hotstack_collector_build_info"] == "gauge", types
                assert types["hotstack_collector_covered_seconds_total"] == "counter", types
            finally:
                process.terminate()


def check_reference(page, reference):
    text = pathlib.Path(reference).read_text(encoding="utf-8")
    absent = [row for row in reference_rows(page) if row not in text.splitlines()]
    assert not absent, f"{reference} lacks these rows (metrics_test.py --write puts them there):\n" + "\n".join(absent)


def main():
    if sys.argv[1] == "--write":
        write_reference(*sys.argv[2:])
        return
    collector, collector_test, reference = sys.argv[1:]
    if not metrics_page.is_checkable():
        print(f"1..0 # SKIP {metrics_page.ABSENT}")
        return
    print("1..3")
    check_idle_page(collector)
    print("ok 1 - the page of metrics is clean while nobody answers")
    if not collector_test:
        print("ok 2 # SKIP no check, with which the collector's tests are built\nok 3 # SKIP the same")
        return
    page = eventful_page(collector_test)
    metrics_page.check(page)
    print("ok 2 - the page of metrics is clean after everything has happened")
    check_reference(page, reference)
    print("ok 3 - each metric is in the reference")


main()
