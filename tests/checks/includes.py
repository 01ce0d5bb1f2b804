# SPDX-License-Identifier: Apache-2.0
"""Who may include what: the walls between the rooms of the tree.

Usage: includes.py TREE. The rules:
  1. the four libraries do not include one another;
  2. nothing outside a library includes its private headers;
  3. a daemon's core/ includes no transport, parser or storage library, no header of files or sockets, also
     not through the tree's own headers; and it holds no SQL.
A rule that finds no file to look at fails too: then the tree has moved and the rule with it.
"""

import os
import pathlib
import re
import subprocess
import sys

LIBRARIES = {"libjfr": "jfr", "libstackagg": "stackagg", "libattach": "attach", "libchsink": "chsink"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
OUTSIDE_CORE = re.compile(
    r"^(nng/|curl/|microhttpd\.h|yaml\.h|protobuf-c/|google/protobuf|jansson\.h|contract/wire/|http/)|\.pb-c\.h$"
    r"|^(unistd|fcntl|dirent|netdb|poll)\.h$|^sys/(stat|file|socket|mman|epoll)\.h$"
)
SQL = re.compile(r'"[^"\n]*\b(SELECT\s|INSERT INTO\s|(CREATE|ALTER|DROP) TABLE\s)')


def sources(tree):
    listed = subprocess.run(
        ["git", "-C", tree, "ls-files", "-z", "--", "*.c", "*.h"], check=True, capture_output=True, text=True
    ).stdout
    return [pathlib.PurePath(name) for name in listed.split("\0") if name and (tree / name).is_file()]


def includes(tree, path):
    text = (tree / path).read_text(encoding="utf-8")
    return [(kind, name) for kind, name in INCLUDE.findall(text)]


def check_library(path, found, faults):
    room = path.parts[0]
    for _, name in found:
        for library, prefix in LIBRARIES.items():
            if library != room and (name.startswith(f"{prefix}/") or f"{library}/" in name):
                faults.append(f"{path}: includes {name}; the libraries do not include one another")


def check_outsider(tree, path, found, faults):
    """A quoted include must not lead into a library's src/."""
    for kind, name in found:
        if kind != '"':
            continue
        target = (tree / path).parent.joinpath(name).resolve()
        for library in LIBRARIES:
            if target.is_relative_to(tree / library) or re.search(rf"{library}/src/", name):
                faults.append(f"{path}: includes {name}, a private header of {library}")


def reached(path, texts, roots):
    """All that a file includes, directly and through headers of the tree: (name, through)."""
    waiting, seen = [(path, "")], set()
    while waiting:
        at, through = waiting.pop()
        for _, name in INCLUDE.findall(texts[at]):
            if (name, at) in seen:
                continue
            seen.add((name, at))
            yield name, through
            for folder in (at.parent, *roots):
                header = pathlib.PurePath(os.path.normpath(folder / name))
                if header in texts:
                    waiting.append((header, f", through {header}"))
                    break


def check_core(tree, path, texts, roots, faults):
    for name, through in reached(path, texts, roots):
        if OUTSIDE_CORE.search(name):
            faults.append(f"{path}: includes {name}{through}; a core reaches the outside through its ports only")
    if SQL.search((tree / path).read_text(encoding="utf-8")):
        faults.append(f"{path}: holds SQL; that is an adapter's")


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    faults, looked = [], {"libraries": 0, "outside": 0, "cores": 0}
    planted = {
        pathlib.PurePath("d/core/a.c"): '#include "b.h"\n',
        pathlib.PurePath("d/core/b.h"): "#include <x/c.h>\n",
        pathlib.PurePath("s/include/x/c.h"): "#include <unistd.h>\n",
    }
    found = [name for name, _ in reached(pathlib.PurePath("d/core/a.c"), planted, [pathlib.PurePath("s/include")])]
    assert any(OUTSIDE_CORE.search(name) for name in found), "the rule of cores does not see a planted fault"
    all_sources = sources(tree)
    texts = {path: (tree / path).read_text(encoding="utf-8") for path in all_sources}
    roots = sorted({path.parents[1] for path in all_sources if path.parents[1].name == "include"} | {
        path.parents[2] for path in all_sources if len(path.parents) > 2 and path.parents[2].name == "include"})
    for path in all_sources:
        found = includes(tree, path)
        if path.parts[0] in LIBRARIES:
            looked["libraries"] += 1
            check_library(path, found, faults)
        else:
            looked["outside"] += 1
            check_outsider(tree, path, found, faults)
        if path.parts[0] == "daemons" and "core" in path.parts:
            looked["cores"] += 1
            check_core(tree, path, texts, roots, faults)
    faults += [f"the rule for {rule} found no file to look at" for rule, count in looked.items() if not count]
    print(", ".join(f"{rule}: {count} files" for rule, count in looked.items()))
    print("\n".join(faults) or "no include crosses a wall")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
