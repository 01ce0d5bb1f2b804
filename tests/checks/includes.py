# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of which room of the tree may include which.

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
# <stdio.h> and <stdlib.h> declare some of these beside functions that a core may use, such as a stream in memory:
# the includes alone do not tell.
CALLS = (
    "open openat creat close fopen fdopen freopen tmpfile mkstemp mkdtemp remove rename unlink "
    "opendir readdir closedir stat lstat fstat access mkdir rmdir link symlink readlink realpath chmod chown "
    "truncate ftruncate mmap munmap read pread write pwrite lseek fsync fdatasync flock ioctl fcntl dup pipe "
    "socket connect bind listen accept send sendto sendmsg recv recvfrom recvmsg poll select getaddrinfo "
    "fork execve posix_spawn system popen kill"
).split()
# A member, as in ports->open(...), is a port; a name that the file defines itself is its own function.
CALL = re.compile(r"(?<![\w.>])(" + "|".join(CALLS) + r")(?:at|64|[234])?\s*\(")
DEFINED = re.compile(r"^(?:static|inline)[\w\s*]*?\b(\w+)\(", re.MULTILINE)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
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


def calls(text):
    """Functions of files, sockets and processes that the code calls."""
    code = NOT_CODE.sub(" ", text)
    return sorted({name for name in CALL.findall(code)} - set(DEFINED.findall(code)))


def reached(path, texts, roots):
    """All that a file includes, directly and through headers of the tree: (name, through, header of the tree)."""
    waiting, seen = [(path, "")], set()
    while waiting:
        at, through = waiting.pop()
        for _, name in INCLUDE.findall(texts[at]):
            if (name, at) in seen:
                continue
            seen.add((name, at))
            places = (pathlib.PurePath(os.path.normpath(folder / name)) for folder in (at.parent, *roots))
            header = next((place for place in places if place in texts), None)
            yield name, through, header
            if header is not None:
                waiting.append((header, f", through {header}"))


def check_core(path, texts, roots, faults):
    rule = "a core reaches the outside through its ports only"
    read = {path}
    for name, through, header in reached(path, texts, roots):
        if OUTSIDE_CORE.search(name):
            faults.append(f"{path}: includes {name}{through}; {rule}")
        if header is not None:
            read.add(header)
    for at in sorted(read):
        through = "" if at == path else f", through {at}"
        faults += [f"{path}: calls {name}(){through}; {rule}" for name in calls(texts[at])]
    if SQL.search(texts[path]):
        faults.append(f"{path}: holds SQL; that is an adapter's")


def check_planted_faults():
    """A core that breaks each part of the rule must be found, and one that breaks none must pass."""
    roots = [pathlib.PurePath("s/include")]
    bad = {
        "a header of files, through two headers": ('#include "b.h"\n', {"d/core/b.h": "#include <x/c.h>\n",
                                                   "s/include/x/c.h": "#include <unistd.h>\n"}),
        "a file that is opened": ("f(void)\n{\n    g = fopen(name, mode);\n}\n", {}),
        "a file that is removed": ("f(void)\n{\n    return unlinkat(at, name, 0);\n}\n", {}),
        "a file whose facts are read": ("f(void)\n{\n    if (stat(name, &facts) != 0)\n        g();\n}\n", {}),
        "a folder read in a header": ("#include <x/d.h>\n", {"s/include/x/d.h": "f()\n{\n    opendir(n);\n}\n"}),
        "SQL": ('f(void)\n{\n    return "SELECT 1";\n}\n', {}),
    }
    for what, (text, headers) in bad.items():
        texts = {pathlib.PurePath(name): content for name, content in {"d/core/a.c": text, **headers}.items()}
        faults = []
        check_core(pathlib.PurePath("d/core/a.c"), texts, roots, faults)
        assert faults, f"the rule of cores does not see {what}"
    good = ("/* open(1) and stat(2) */\nstatic void accept(int a)\n{\n    ports->open(a);\n    ports.read(a);\n"
            "    say(\"close(a)\", reopen(a));\n    accept(a);\n}\n")
    faults = []
    check_core(pathlib.PurePath("d/core/a.c"), {pathlib.PurePath("d/core/a.c"): good}, roots, faults)
    assert not faults, f"the rule of cores finds a fault where there is none: {faults}"


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    faults, looked = [], {"libraries": 0, "outside": 0, "cores": 0}
    check_planted_faults()
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
            check_core(path, texts, roots, faults)
    faults += [f"the rule for {rule} found no file to look at" for rule, count in looked.items() if not count]
    print(", ".join(f"{rule}: {count} files" for rule, count in looked.items()))
    print("\n".join(faults) or "no include crosses a wall")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
