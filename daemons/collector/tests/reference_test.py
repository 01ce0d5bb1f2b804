#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/collector.md holds the tables of both programs, and the examples are valid.

usage: reference_test.py PAGE EXAMPLES COLLECTOR ATTACHD
"""

import pathlib
import subprocess
import sys
import tempfile


def output(*command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{command}: {run.stderr}")
    return run.stdout


def main():
    page, examples, collector, attachd = sys.argv[1:5]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for program in (collector, attachd):
        if output(program, "--print-reference") not in text:
            sys.exit(f"{page} lacks the table that {program} --print-reference writes; put it there")
    with tempfile.TemporaryDirectory() as directory:
        token = pathlib.Path(directory) / "collector.token"
        token.write_text("hidden-word\n", encoding="utf-8")
        example = (pathlib.Path(examples) / "collector.yaml").read_text(encoding="utf-8")
        local = pathlib.Path(directory) / "collector.yaml"
        local.write_text(example.replace("/etc/hotstack/collector.token", str(token)), encoding="utf-8")
        shown = output(collector, f"--config={local}", "--print-config")
        assert "workload: \"shop\"" in shown and "hidden-word" not in shown, shown
    shown = output(attachd, f"--config={examples}/attachd.yaml", "--print-config")
    assert "allow_uids: [\"64044\"]" in shown, shown


main()
