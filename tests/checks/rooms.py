# SPDX-License-Identifier: Apache-2.0
"""Rooms that a stranger finds their way in.

Usage: rooms.py TREE. The rules:
  1. a folder holds at most 30 source files (aim at 25): then it has sub-folders by noun;
  2. no circle of includes between files of different folders.
Each rule is first held to a planted fault.
"""

import collections
import pathlib
import re
import subprocess
import sys

MOST = 30
SOURCES = re.compile(r"\.(c|h|cpp|py|ts|tsx|mjs|java)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def crowded(paths):
    """Folders with more source files than a person takes in at a glance."""
    counts = collections.Counter(str(path.parent) for path in paths)
    return [f"{folder}: {count} source files; at most {MOST}" for folder, count in counts.items() if count > MOST]


def resolve(path, name, known, by_name):
    """The file of the tree that an include means, or None."""
    beside = pathlib.PurePath(*pathlib.PurePosixPath(path.parent / name).parts)
    if str(beside) in known:
        return str(beside)
    found = [one for one in by_name[pathlib.PurePath(name).name] if one == name or one.endswith("/" + name)]
    return found[0] if len(found) == 1 else None


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


def circles(graph):
    """Circles of includes whose files lie in more than one folder."""
    faults, state = [], {}

    def visit(name, trail):
        state[name] = "open"
        for target in graph[name]:
            if state.get(target) == "open":
                circle = [*trail[trail.index(target) :], target]
                if len({str(pathlib.PurePath(one).parent) for one in circle}) > 1:
                    faults.append("a circle of includes: " + " -> ".join(circle))
            elif target not in state:
                visit(target, [*trail, target])
        state[name] = "done"

    for name in graph:
        if name not in state:
            visit(name, [name])
    return faults


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    planted = {"a/x.h": '#include "b/y.h"\n', "b/y.h": '#include "a/x.h"\n'}
    assert circles(include_graph(planted)), "the rule of circles does not see a planted one"
    assert crowded([pathlib.PurePath(f"a/{i}.c") for i in range(MOST + 1)]), "the rule of folders is blind"
    listed = subprocess.run(["git", "-C", tree, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    paths = [pathlib.PurePath(name) for name in listed.split("\0") if SOURCES.search(name) and (tree / name).is_file()]
    texts = {str(path): (tree / path).read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h")}
    graph = include_graph(texts)
    edges = sum(len(targets) for targets in graph.values())
    faults = crowded(paths) + circles(graph)
    print(f"{len(paths)} source files, {edges} includes of the tree's own")
    print("\n".join(faults) or "every room is small, and no includes go in a circle")
    return 1 if faults or edges < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
