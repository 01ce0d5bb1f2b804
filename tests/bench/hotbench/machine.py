# SPDX-License-Identifier: Apache-2.0
"""The machine, in words."""

import os
import platform
import subprocess


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "none"
    return (done.stdout or done.stderr).splitlines()[0].strip() if done.stdout or done.stderr else "none"


def cpu_facts():
    facts = {}
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    return facts


def has_bmi2():
    return "bmi2" in cpu_facts().get("flags", "").split()


def memory_gib():
    with open("/proc/meminfo", encoding="utf-8") as lines:
        return int(next(lines).split()[1]) / (1 << 20)


def load():
    return os.getloadavg()[0]


def describe():
    """Rows (what, value)."""
    facts = cpu_facts()
    return [
        ("CPU", f"{facts.get('model name', platform.machine())}, {os.cpu_count()} cores in view"
                f"{', BMI2' if has_bmi2() else ', no BMI2'}{', virtual' if 'hypervisor' in facts.get('flags', '') else ''}"),
        ("memory", f"{memory_gib():.0f} GiB"),
        ("kernel", platform.release().split("-")[0]),
        ("C compiler", first_line(["cc", "--version"])),
        ("load average before the run", f"{load():.1f}"),
    ]
