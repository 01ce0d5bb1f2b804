#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The conventions of names and first lines that CONTRIBUTING.md states.

Usage: conventions.py TREE. The rules:
  1. every source file begins with its SPDX line (after `#!`, where there is one);
  2. a header below a library's src/ ends in _impl.h, and no header elsewhere in a library does;
  3. error codes are named X_ERR_...;
  4. a public header is included as <room/noun.h>;
  5. the version in a library's version.h is the project's;
  6. a daemon writes to standard error by log_line alone, which lets no control byte through;
  7. production code outside the catalogue produces every reason of the catalogue.
Each rule is first held to a planted fault, so that a rule that sees nothing fails.
"""

import pathlib
import re
import subprocess
import sys

LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = {".c", ".h", ".cpp", ".css", ".java", ".mjs", ".proto", ".py", ".pyi", ".rs", ".sh", ".sql", ".ts", ".tsx"}
LIBRARIES = ("libjfr", "libstackagg", "libattach", "libchsink")
OLD_CODE = re.compile(r"\b(?:SAGG|ATTACH|JFR|CHS|CONFIG|LOCALRPC|HTTP|STORE)_E_[A-Z]\w*")
REASONS = "daemons/shared/catalogue/include/catalogue/reason.h"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def public_headers(paths):
    """Public headers as they are included: "jfr/sum.h" for libjfr/include/jfr/sum.h."""
    return {path.split("/include/", 1)[1] for path in paths if "/include/" in path and path.endswith(".h")}


def faults_of(path, text, public):
    lines = text.split("\n", 2)
    first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    if LICENCE not in first:
        yield f"{path}: the first line is not its SPDX-License-Identifier"
    room = path.split("/")[0]
    if room in LIBRARIES and path.endswith(".h"):
        private = path.startswith(f"{room}/src/")
        if private != path.endswith("_impl.h") and (private or "/include/" in path):
            yield f"{path}: private headers, and only those, end in _impl.h"
    if path.endswith((".c", ".h", ".cpp")):
        for name in OLD_CODE.findall(text):
            yield f"{path}: {name}: error codes are named X_ERR_..."
        for name in INCLUDE.findall(text):
            if name in public:
                yield f'{path}: includes "{name}": a public header is included as <{name}>'


    if is_of_daemon(path) and "stderr" in text:
        yield f"{path}: writes to stderr: a daemon's messages go through log_line (base/log.h)"


def is_of_daemon(path):
    parts = path.split("/")
    return (parts[0] == "daemons" and parts[1] != "cli" and path.endswith(".c") and
            not {"tests", "fuzz"} & set(parts) and path != "daemons/shared/base/log.c")


PLANTED = {
    "daemons/backend/planted.c": f'/* {LICENCE} */\nvoid f(void) {{ fputs("a", stderr); }}\n',
    "libjfr/src/read/planted.h": f"/* {LICENCE} */\n",
    "libjfr/include/jfr/planted_impl.h": f"/* {LICENCE} */\n",
    "libjfr/src/planted.c": f"/* {LICENCE} */\nint a = SAGG_E_PLANTED;\n",
    "libjfr/src/included.c": f'/* {LICENCE} */\n#include "jfr/planted.h"\n',
    "dev.d/planted.sh": "#!/bin/sh\n# nothing\n",
}


def is_source(path):
    return pathlib.PurePath(path).suffix in SOURCES and "/corpus/" not in path and not path.startswith("tests/data/")


def faults_of_version(path, text, version):
    numbers = [re.search(rf"_VERSION_{part} +(\d+)$", text, re.MULTILINE) for part in ("MAJOR", "MINOR", "PATCH")]
    if [number and number[1] for number in numbers] != version.split(".") or f'"{version}"' not in text:
        yield f"{path}: is not of version {version}, which meson.build states"


def check_versions(tree):
    version = re.search(r"version: '([\d.]+)'", (tree / "meson.build").read_text())[1]
    headers = sorted(tree.glob("lib*/include/*/version.h"))
    if len(headers) != len(LIBRARIES) or not list(faults_of_version("planted", headers[0].read_text(), "99.1.0")):
        yield "each library has a version.h, and a wrong version in one is a fault"
    for header in headers:
        yield from faults_of_version(header.relative_to(tree), header.read_text(), version)


def unproduced(reasons, texts):
    """Reasons that no production code names. libattach's reasons map to the catalogue by name."""
    produced = {name for text in texts for name in re.findall(r"\b(?:ATTACH_)?REASON_(\w+)", text)}
    return [f"{REASONS}: nothing produces the reason {name}" for name in reasons if name not in produced]


def check_reasons(tree, paths):
    reasons = re.findall(r"^    REASON_(\w+) = \d+,$", (tree / REASONS).read_text(), re.MULTILINE)
    producers = [path for path in paths if path.startswith(("daemons/", "libattach/src/")) and path.endswith(".c") and
                 "/tests/" not in path and not path.startswith("daemons/shared/catalogue/")]
    if not reasons or not unproduced(["PLANTED"], [(tree / path).read_text() for path in producers]):
        yield "the rule of reasons does not see a planted one"
    yield from unproduced(reasons, [(tree / path).read_text(encoding="utf-8") for path in producers])


def main():
    tree = pathlib.Path(sys.argv[1])
    for path, text in PLANTED.items():
        if not list(faults_of(path, text, {"jfr/planted.h"})):
            print(f"no rule sees the planted fault in {path}")
            return 1
    listed = subprocess.run(["git", "-C", tree, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    paths = [path for path in listed.split("\0") if path and (tree / path).is_file() and is_source(path)]
    public = public_headers(paths)
    faults = [fault for path in paths for fault in faults_of(path, (tree / path).read_text(encoding="utf-8"), public)]
    faults += [*check_versions(tree), *check_reasons(tree, paths)]
    print(f"{len(paths)} files")
    print("\n".join(faults) or "all keep the conventions")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
