# SPDX-License-Identifier: Apache-2.0
"""Every program that is installed answers --help and --version, and its manual page renders.

Usage: programs.py TREE BUILD
"""

import json
import pathlib
import subprocess
import sys


def introspect(build, what):
    out = subprocess.run(["meson", "introspect", build, what], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def installed_programs(build):
    for target in introspect(build, "--targets"):
        if target["type"] == "executable" and target["installed"] and "/bin/" in target["install_filename"][0]:
            yield pathlib.Path(target["filename"][0])


def fault_of_option(program, option):
    run = subprocess.run([program, option], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        return f"{program.name} {option}: exit status {run.returncode}: {run.stderr.strip()[:200]}"
    if program.name not in run.stdout:
        return f"{program.name} {option}: standard output does not name the program"
    return None


def fault_of_page(page):
    run = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode else None


def main():
    tree, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    programs = list(installed_programs(build))
    if not programs:
        print("no installed program in this build")
        return 77
    pages = [*tree.glob("docs/man/*.[1-9]"), *build.glob("daemons/cli/*.[1-9]")]
    faults = [fault_of_option(program, option) for program in programs for option in ("--help", "--version")]
    faults += [fault_of_page(page) for page in pages]
    faults = [fault for fault in faults if fault]
    print("\n".join(faults) or f"{len(programs)} programs, {len(pages)} manual pages: in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
