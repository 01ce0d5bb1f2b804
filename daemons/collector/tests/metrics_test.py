#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector's page /metrics is what Prometheus expects, also while attachd and the backend are away.

usage: metrics_test.py COLLECTOR
"""

import pathlib
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


def main():
    if not metrics_page.is_checkable():
        print(f"1..0 # SKIP {metrics_page.ABSENT}")
        return
    print("1..1")
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
        with subprocess.Popen([sys.argv[1], f"--config={settings}"]) as process:
            try:
                page = fetch(port, process)
                metrics_page.check(page)
                types = metrics_page.types(page)
                assert types["hotstack_collector_build_info"] == "gauge", types
                assert types["hotstack_collector_covered_seconds_total"] == "counter", types
            finally:
                process.terminate()
    print("ok 1 - the page of metrics is clean")


main()
