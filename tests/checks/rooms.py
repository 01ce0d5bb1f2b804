# SPDX-License-Identifier: Apache-2.0
"""Rooms that a stranger finds their way in.

Usage: rooms.py TREE. The rules:
  1. a folder holds at most 26 source files (aim at 25): then it has sub-folders by noun;
  2. no circle of includes between files of different folders;
  3. every C source of a library or program is named in a meson.build: otherwise nothing builds it.
Each rule is first held to a planted fault.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

MOST = 26
PRODUCTION = ("libjfr", "libstackagg", "libattach", "libchsink", "daemons", "bindings", "wasm")
SOURCES = re.compile(r"\.(c|h|cpp|py|ts|tsx|mjs|java)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def crowded(paths):
    """Folders with more source files than a person takes in at a glance."""
    counts = collections.Counter(str(path.parent) for path in paths)
    return [f"{folder}: {count} source files; at most {MOST}" for folder, count in counts.items() if count > MOST]


def resolve(path, name, known, by_name):
    """The file of the tree that an include means, or None. Of several by that name it is the nearest."""
    beside = os.path.normpath(path.parent / name)
    if beside in known:
        return beside
    found = [one for one in by_name[pathlib.PurePath(name).name] if one == name or one.endswith("/" + name)]
    return max(found, key=lambda one: len(os.path.commonpath([one, path])), default=None)


def include_graph(texts):
    known = set(texts)
    by_name = collections.defaultdict(list)
    for name in texts:
        by_name[pathlib.PurePath(name).name].append(name)
    return {
        name: [
            target
            for include in INCLUDE.findall(text)
            if (target := resolve(pathlib.PurePath(name), include, known, by_name)) and target != name
        ]
        for name, text in texts.items()
    }


def reached(graph, name):
    """All files that a file includes, directly or through others."""
    waiting, seen = [name], set()
    while waiting:
        for target in graph[waiting.pop()]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def circles(graph):
    """Files of different folders that include one another, directly or through others."""
    reach = {name: reached(graph, name) for name in graph}
    folder = {name: str(pathlib.PurePath(name).parent) for name in graph}
    return [
        f"a circle of includes: {name} -> {target} -> ... -> {name}"
        for name, targets in graph.items()
        for target in targets
        if folder[target] != folder[name] and name in reach[target]
    ]


def unbuilt(paths, builds):
    """C sources of libraries and programs that no meson.build names. Tests and fuzzers have names made in loops."""
    return [
        f"{path}: no meson.build names it; build it or delete it"
        for path in paths
        if path.suffix == ".c" and path.parts[0] in PRODUCTION and not {"tests", "fuzz"} & set(path.parts)
        and not re.search(rf"['/]{re.escape(path.name)}'", builds)
    ]


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    planted = {"a/x.h": '#include "b/y.h"\n', "a/b/y.h": '#include "../x.h"\n'}
    assert circles(include_graph(planted)), "the rule of circles does not see a planted one"
    planted = {"a/x.h": '#include "w.h"\n#include "b/y.h"\n', "a/w.h": '#include "x.h"\n', "b/y.h": '#include "a/w.h"\n'}
    assert circles(include_graph(planted)), "the rule of circles does not see one behind a circle in one folder"
    assert not circles(include_graph({"a/x.h": '#include "w.h"\n', "a/w.h": '#include "x.h"\n#include "b/y.h"\n', "b/y.h": ""}))
    assert crowded([pathlib.PurePath(f"a/{i}.c") for i in range(MOST + 1)]), "the rule of folders is blind"
    assert unbuilt([pathlib.PurePath("libjfr/src/a.c")], "'b.c', 'aa.c'"), "the rule of sources that nothing builds is blind"
    assert not unbuilt([pathlib.PurePath("libjfr/src/a.c")], "'src/a.c'")
    listed = subprocess.run(["git", "-C", tree, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    paths = [pathlib.PurePath(name) for name in listed.split("\0") if SOURCES.search(name) and (tree / name).is_file()]
    texts = {str(path): (tree / path).read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h")}
    graph = include_graph(texts)
    edges = sum(len(targets) for targets in graph.values())
    builds = "".join((tree / name).read_text(encoding="utf-8") for name in listed.split("\0") if name.endswith("meson.build"))
    faults = crowded(paths) + circles(graph) + unbuilt(paths, builds)
    print(f"{len(paths)} source files, {edges} includes of the tree's own")
    print("\n".join(faults) or "every room is small, no includes go in a circle, and every source is built")
    return 1 if faults or edges < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
