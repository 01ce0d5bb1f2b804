# SPDX-License-Identifier: Apache-2.0
"""Checks a page of metrics by Prometheus' own rules, with `promtool check metrics`."""
import re
import shutil
import subprocess

ABSENT = "promtool is absent: deploy/dependencies/install test installs it (Debian's package prometheus)"
# <product>_<component>_<noun>_<unit>, and labels that do not grow with pids, stacks or threads.
NAME = re.compile(r"hotstack_(backend|collector)_[a-z0-9_]+")
FORBIDDEN = {"pid", "thread", "stack", "pod", "jvm"}


def is_checkable():
    return shutil.which("promtool") is not None


def check(page):
    """Raises AssertionError with what is wrong with the page, a text."""
    result = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
    said = (result.stdout + result.stderr).strip()
    assert result.returncode == 0 and not said, f"promtool check metrics: {said}"
    for line in page.splitlines():
        if line.startswith("#") or not line:
            continue
        assert NAME.match(line), f"a name without product and component: {line}"
        labels = set(re.findall(r'[{,](\w+)="', line.rsplit(" ", 1)[0]))
        assert not labels & FORBIDDEN, f"a label without bounds: {line}"


def types(page):
    """{name: type} of the families on the page."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE))
