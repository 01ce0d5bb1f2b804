# SPDX-License-Identifier: Apache-2.0
"""Writes the Java sources of the call tree: classes whose methods call one another, Roots and Records.

Usage: make_tree.py OUT_DIR

The same on each run. A service has some thousand methods on its stacks; this tree has CLASSES x
METHODS, each with three callees anywhere in the tree, and RECORDS classes of objects to allocate.
"""

import pathlib
import random
import sys

CLASSES = 96
METHODS = 20
POOLS = 8
RECORDS = 240
RECORD_FIELDS = 18
PACKAGES = ("orders", "billing", "catalog", "search.index", "storage.page", "web.filter")
NOUNS = ("Order", "Invoice", "Page", "Index", "Token", "Filter", "Query", "Ledger", "Cursor", "Batch", "Route", "Entry")
VERBS = ("resolve", "apply", "visit", "merge", "decode", "accept", "doFilter", "lookup", "process", "compute")
ROLES = ("Handler", "Resolver", "Visitor", "Codec", "Registry", "Planner", "Service", "Chain")


def class_name(number):
    noun, role = NOUNS[number % len(NOUNS)], ROLES[number // len(NOUNS)]
    return f"bench.{PACKAGES[number % len(PACKAGES)]}", f"{noun}{role}"


def method_name(number):
    return f"{VERBS[number % len(VERBS)]}{'Nested' if number >= len(VERBS) else ''}"


def call(chooser):
    package, name = class_name(chooser.randrange(CLASSES))
    return f"{package}.{name}.{method_name(chooser.randrange(METHODS))}(walk)"


def class_source(number, chooser):
    package, name = class_name(number)
    lines = [f"package {package};", "", "import bench.Walk;", "", f"public final class {name} {{"]
    for method in range(METHODS):
        lines += [
            f"    public static Object {method_name(method)}(Walk walk) {{",
            "        switch (walk.next()) {",
            *[f"            case {i}:\n                return {call(chooser)};" for i in range(3)],
            "            default:\n                return walk.arrive();",
            "        }",
            "    }",
        ]
    return package, name, "\n".join(lines + ["}", ""])


def roots_source(chooser):
    cases = [f"            case {i}: return {call(chooser)};" for i in range(POOLS - 1)]
    return "\n".join(
        [
            "package bench;",
            "",
            "final class Roots {",
            "    static Object enter(int pool, Walk walk) {",
            "        switch (pool) {",
            *cases,
            f"            default: return {call(chooser)};",
            "        }",
            "    }",
            "",
            "    /** Loads every class, lest a walk does it in its depth; from one line, lest each load is a stack. */",
            "    static void load() throws ClassNotFoundException {",
            "        String[] names = {",
            *[f"            \"{'.'.join(class_name(i))}\"," for i in range(CLASSES)],
            *[f"            \"bench.Records$Record{i}\"," for i in range(RECORDS)],
            "        };",
            "        for (String name : names) {",
            "            Class.forName(name);",
            "        }",
            "    }",
            "}",
            "",
        ]
    )


def records_source():
    fields = ", ".join(f"f{i}" for i in range(RECORD_FIELDS))
    return "\n".join(
        [
            "package bench;",
            "",
            "final class Records {",
            f"    static final int KINDS = {RECORDS};",
            "",
            *[f"    static final class Record{i} {{ long {fields}; }}" for i in range(RECORDS)],
            "",
            "    static Object make(int kind) {",
            "        switch (kind) {",
            *[f"            case {i}: return new Record{i}();" for i in range(RECORDS - 1)],
            f"            default: return new Record{RECORDS - 1}();",
            "        }",
            "    }",
            "}",
            "",
        ]
    )


def write(out):
    chooser = random.Random(20)
    for number in range(CLASSES):
        package, name, text = class_source(number, chooser)
        folder = out / package.replace(".", "/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.java").write_text(text)
    (out / "bench/Roots.java").write_text(roots_source(chooser))
    (out / "bench/Records.java").write_text(records_source())


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
