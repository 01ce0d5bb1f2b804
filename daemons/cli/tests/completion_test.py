#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bash completes every command of the program, the options that its help names, their values, and files.

usage: completion_test.py HOTSTACK COMPLETION_DIRECTORY
Prints TAP. zsh and fish ask the program in the same way; neither shell is needed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HOTSTACK, DIRECTORY = sys.argv[1], pathlib.Path(sys.argv[2])
HELP = subprocess.run([HOTSTACK, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
COMMANDS = set(re.findall(r"^  ([a-z]+)  ", HELP, re.MULTILINE))


def bash(*words):
    """Returns the words that bash offers for the last of the words."""
    script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hotstack; printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(["bash", "-c", script, DIRECTORY / "hotstack.bash", "hotstack", *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                            env=dict(os.environ, PATH=f"{pathlib.Path(HOTSTACK).resolve().parent}:{os.environ['PATH']}"))
    assert result.returncode == 0 and result.stderr == "", result
    return set(result.stdout.split())


def check_commands():
    assert "profile" in COMMANDS, COMMANDS
    assert bash("") == COMMANDS | {"--help", "--version"}, bash("") ^ COMMANDS


def check_options():
    assert bash("profile", "--en") == {"--engine"}
    assert bash("profile", "--engine", "j") == {"jfr"}
    assert bash("attach", "st") == {"status"}
    assert bash("profile", "-e", "cpu,al") == {"cpu,alloc"}
    assert bash("convert", "x.jfr", "-f", "h") == {"html", "heatmap"}
    for name in ("_hotstack", "hotstack.fish"):
        assert "hotstack __complete" in (DIRECTORY / name).read_text(), name
    assert {"summary", "totals"} <= bash("jfr", "") and "--version" not in bash("jfr", "")
    for words in (("convert",), ("diff",), ("top",), *(("jfr", name) for name in bash("jfr", ""))):
        help_text = subprocess.run([HOTSTACK, *words, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        options = set(re.findall(r"^  (?:-\w,|   ) (--[a-z-]+)", help_text, re.MULTILINE))
        assert len(options) > 1 and bash(*words, "-") == options, (words, bash(*words, "-") ^ options)
    for option in re.findall(r"--[a-z]+", " ".join(bash("profile", "--"))):
        help_text = subprocess.run([HOTSTACK, "profile", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert option in help_text, option


def check_files():
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "a file.jfr").write_text("")
        assert bash("convert", f"{name}/a") == bash("convert", "-o", f"{name}/a") == {f"{name}/a", "file.jfr"}
        assert bash("threads", "-d", f"{name}/a") == set()


failed = 0
CHECKS = (check_commands, check_options, check_files)
print(f"1..{len(CHECKS)}")
for number, check in enumerate(CHECKS, 1):
    try:
        check()
        print(f"ok {number} - {check.__name__}")
    except AssertionError as error:
        failed += 1
        print(f"not ok {number} - {check.__name__}\n# {error!r}")
sys.exit(failed)
