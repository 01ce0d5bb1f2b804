# SPDX-License-Identifier: Apache-2.0
"""Tests that an installation by `meson install` works alone, in TAP. Usage: installed.py TREE BUILD CLASSES

CLASSES is the folder with Target.class. Installs BUILD into a temporary root and then uses only what is there: pkg-config names each library,
each public header compiles alone as strict C11 and as C++, each library exports exactly what its
version map says, and every C example of examples/ and of the libraries' READMEs builds. The programs
run from where they lie, also after the tree has moved, and profile a real JVM.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STRICT_C = ["gcc", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c"]
STRICT_CXX = ["g++", "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]
MACROS = {"libjfr": "JFR", "libstackagg": "SAGG", "libattach": "ATTACH", "libchsink": "CHS"}
LIBRARIES = {"libjfr": "jfr", "libstackagg": "stackagg", "libattach": "attach", "libchsink": "chsink"}


class Points:
    def __init__(self):
        self.count = self.failed = 0

    def report(self, name, fault):
        self.count += 1
        self.failed += bool(fault)
        print(f"{'not ok' if fault else 'ok'} {self.count} - {name}", flush=True)
        if fault:
            print("\n".join(f"# {line}" for line in str(fault).splitlines()), flush=True)

    def attempt(self, name, body, *arguments):
        """Runs a group of points; what stops the group is a failed point."""
        try:
            body(*arguments)
        except RuntimeError as error:
            self.report(name, error)


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def fault_of(command, **options):
    done = run(command, **options)
    return (done.stderr or f"exit status {done.returncode}") if done.returncode else None


class Installation:
    """An installed tree below a temporary root, seen through pkg-config only."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.pc_files = sorted(self.root.rglob("*.pc"))
        self.environment = dict(
            os.environ,
            PKG_CONFIG_PATH=":".join(sorted({str(file.parent) for file in self.pc_files})),
            PKG_CONFIG_SYSROOT_DIR=str(self.root),
        )

    def flags(self, library, *options):
        """pkg-config's words. The sysroot is meant for ours alone, so system libraries lose it again."""
        done = run(["pkg-config", *options, library], env=self.environment)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [self.without_root(word) for word in done.stdout.split()]

    def without_root(self, word):
        option, path = word[:2], word[2:]
        if option in ("-I", "-L") and path.startswith(str(self.root)) and not pathlib.Path(path).exists():
            return option + path[len(str(self.root)) :]
        return word

    def shared_object(self, library):
        return next(self.root.rglob(f"{library}.so"), None)


def check_headers(points, installation, library, prefix):
    headers = sorted(installation.root.rglob(f"include/{prefix}/*.h"))
    points.report(f"{library} installs headers", None if headers else "none found")
    flags = installation.flags(library, "--cflags")
    for header in headers:
        for language, compiler in (("C11", STRICT_C), ("C++", STRICT_CXX)):
            source = f"#include <{prefix}/{header.name}>\nextern int not_empty;\n"
            fault = fault_of([*compiler, *flags, "-"], input=source)
            points.report(f"{prefix}/{header.name} alone as {language}", fault)


INIT = re.compile(r"^#define +(\w+_INIT)\b", re.MULTILINE)
TYPE = re.compile(r"sizeof\((\w+)\)")


def check_starts(points, installation, library, prefix):
    """Every _INIT macro, as C and as C++ without a warning."""
    uses = {}
    for header in sorted(installation.root.rglob(f"include/{prefix}/*.h")):
        text = header.read_text()
        uses |= {found[1]: TYPE.search(text, found.end())[1] for found in INIT.finditer(text)}
    body = "".join(f"int use_{name}(void);\nint use_{name}(void) {{ {kind} o = {name}; return o.size == sizeof(o) ? 0 : 1; }}\n" for name, kind in uses.items())
    flags = installation.flags(library, "--cflags")
    for language, compiler in (("C11", STRICT_C), ("C++", STRICT_CXX), ("C++11", [*STRICT_CXX, "-std=c++11"])):
        fault = fault_of([*compiler, *flags, "-"], input=f"#include <{prefix}/{prefix}.h>\n{body}") if uses else "no _INIT macro was found"
        points.report(f"{len(uses)} _INIT macros of {library} as {language}", fault)


def check_versions(points, installation, library, macros):
    said = run(["pkg-config", "--modversion", library], env=installation.environment).stdout.strip()
    major, minor, patch = map(int, said.split("."))
    prefix = LIBRARIES[library]
    source = f"""#include <{prefix}/{prefix}.h>
_Static_assert({macros}_VERSION_NUMBER == {major * 1000000 + minor * 1000 + patch}, "number");
_Static_assert(sizeof({macros}_VERSION) == sizeof("{said}"), "text");
"""
    points.report(f"{library}'s headers have the version of its .pc file", fault_of([*STRICT_C, *installation.flags(library, "--cflags"), "-"], input=source))


def check_documents(points, installation, library):
    """The files that the .pc file names exist: the formats, the promises about versions, the pages' templates."""
    def place(variable):
        return pathlib.Path(run(["pkg-config", f"--variable={variable}", library], env=installation.environment).stdout.strip() or "/nothing")

    def below(path):
        return path if str(path).startswith(str(installation.root)) else installation.root / str(path).lstrip("/")
    wanted = [below(place("formatsdir")) / "jfr.md", below(place("docdir")) / "abi.md"]
    if library == "libstackagg":
        wanted.append(below(place("templatedir")) / "flamegraph.html")
    missing = [str(path) for path in wanted if not path.exists()]
    points.report(f"{library}.pc names the documents", f"missing: {missing}" if missing else None)


def check_both(points, tree, scratch):
    """-Ddefault_library=both: a program links the static library by pkg-config's words alone."""
    build, root = pathlib.Path(scratch) / "both", pathlib.Path(scratch) / "both-root"
    setup = ["meson", "setup", build, tree, "-Ddefault_library=both", "-Dtests=disabled", "-Dui=disabled", f"--prefix={root}", "-Dlibdir=lib"]
    fault = fault_of(setup) or fault_of(["meson", "compile", "-C", build, "jfr:static_library", "jfr:shared_library", "stackagg:static_library", "stackagg:shared_library"])
    points.report("-Ddefault_library=both builds both", fault)
    if fault:
        return
    for library, name in (("libjfr", "jfr"), ("libstackagg", "stackagg")):
        kinds = [path.suffix for path in (build / library / f"lib{name}.a", build / library / f"lib{name}.so") if path.exists()]
        points.report(f"{library} is there as archive and shared object", None if kinds == [".a", ".so"] else f"only {kinds}")
    example = tree / "examples/jfr-top/jfr-top.c"
    flags = [f"-I{tree}/libjfr/include", build / "libjfr/libjfr.a", "-lz"]
    program = pathlib.Path(scratch) / "static-top"
    fault = fault_of(["gcc", "-std=c11", "-D_GNU_SOURCE", "-o", program, example, *flags])
    linked = run(["ldd", program]).stdout if not fault else ""
    points.report("a program of the static library needs no shared one", fault or ("it does: " + linked if "libjfr" in linked else None))


def check_exports(points, tree, installation, library):
    shared = installation.shared_object(library)
    if shared is None:
        points.report(f"{library} exports what its map says", f"no {library}.so was installed")
        return
    text = re.sub(r"/\*.*?\*/|#.*", "", (tree / library / f"{library}.map").read_text(), flags=re.DOTALL)
    promised = set(re.findall(r"\b(\w+)\s*;", text.split("local:")[0]))
    listed = run(["nm", "-D", "--defined-only", "--without-symbol-versions", shared]).stdout
    exported = {line.split()[-1] for line in listed.splitlines() if line.split()[1] not in ("A", "a")}
    differences = [f"in the map only: {name}" for name in sorted(promised - exported)]
    differences += [f"exported only: {name}" for name in sorted(exported - promised)]
    points.report(f"{library} exports what its map says", "\n".join(differences))


def check_readme(points, tree, installation, library):
    """The first example of a README, as it stands there, in a main of its own."""
    example = re.search(r"```c\n(.*?)```", (tree / library / "README.md").read_text(), re.DOTALL)[1].splitlines()
    includes = [line for line in example if line.startswith("#include")]
    body = [line for line in example if line not in includes]
    source = "\n".join(["#include <stdio.h>", *includes, "int main(void)", "{", *body, "return 0;", "}", ""])
    points.report(f"the example of {library}'s README builds", fault_of([*STRICT_C, *installation.flags(library, "--cflags"), "-"], input=source))


def libraries_of(sources):
    text = "\n".join(source.read_text() for source in sources)
    return [library for library, prefix in LIBRARIES.items() if re.search(rf"#include <{prefix}/", text)]


def check_examples(points, tree, installation, scratch):
    for directory in sorted((tree / "examples").iterdir()):
        sources = sorted(directory.glob("*.c"))
        if sources:
            flags = [w for lib in libraries_of(sources) for w in installation.flags(lib, "--cflags", "--libs")]
            output = pathlib.Path(scratch) / directory.name
            command = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", output, *sources]
            points.report(f"example {directory.name} builds", fault_of([*command, *flags]))


def installed_environment():
    """Nothing of the build or the caller helps the programs to find their parts."""
    return {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH" and not name.startswith("HOTSTACK_")}


def find_java():
    cache = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
    candidates = [cache / "jdk/21/bin/java", cache / "jdk/17/bin/java", *pathlib.Path("/usr/lib/jvm").glob("java-17-openjdk-*/bin/java")]
    return next((java for java in candidates if java.exists()), None)


def check_profile(points, program, pid, scratch):
    page = pathlib.Path(scratch) / "page.html"
    done = run([program, "profile", "-d", "1", "-f", page, pid], env=installed_environment())
    points.report("profile writes a page", None if done.returncode == 0 and page.exists() else done.stderr)
    recording = pathlib.Path(scratch) / "x.jfr"
    done = run([program, "profile", "-d", "1", "-f", recording, pid], env=installed_environment())
    done = run([program, "convert", recording, "-f", "json", "-o", "-"], env=installed_environment()) if recording.exists() else done
    engine = json.loads(done.stdout or "{}").get("meta", {}).get("engine", done.stderr)
    points.report("it records with async-profiler", None if engine in ("ctimer", "perf", "itimer", "cpu") else f"the engine is {engine!r}")
    done = run([program, "threads", pid], env=installed_environment())
    points.report("threads shows the JVM's threads", None if done.returncode == 0 and "main" in done.stdout else done.stderr or done.stdout)


def check_programs(points, root, classes, scratch):
    """The prefix has moved: what the build was configured with is not there."""
    moved = pathlib.Path(scratch) / "moved"
    (next(pathlib.Path(root).rglob("bin/hotstack")).parent.parent).rename(moved)
    for name in ("hotstack", "hotstack-attachd", "hotstack-collector", "hotstack-backend"):
        points.report(f"{name} runs from a private prefix", fault_of([moved / "bin" / name, "--version"], env=installed_environment()))
    points.report("licences are installed", None if (moved / "share/doc/hotstack/THIRD-PARTY.md").exists() else "no THIRD-PARTY.md")
    java = find_java()
    if java is None:
        points.report("a JVM to profile # SKIP no JDK: run deploy/dependencies/install test", None)
        return
    with subprocess.Popen([java, "-Xmx64m", "-cp", classes, "Target"], stdout=subprocess.PIPE, text=True) as jvm:
        try:
            jvm.stdout.readline()  # "ready"
            check_profile(points, moved / "bin/hotstack", str(jvm.pid), scratch)
        finally:
            jvm.kill()


def main():
    tree, build, classes = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    points = Points()
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as scratch:
        fault = fault_of(["meson", "install", "--no-rebuild", "-C", build], env=dict(os.environ, DESTDIR=root))
        points.report("meson install", fault)
        if not fault:
            installation = Installation(root)
            for library, prefix in LIBRARIES.items():
                points.attempt(f"{library}: headers", check_headers, points, installation, library, prefix)
                points.attempt(f"{library}: _INIT", check_starts, points, installation, library, prefix)
                points.attempt(f"{library}: version", check_versions, points, installation, library, MACROS[library])
                points.attempt(f"{library}: documents", check_documents, points, installation, library)
                check_exports(points, tree, installation, library)
                points.attempt(f"{library}: README", check_readme, points, tree, installation, library)
            points.attempt("both kinds of library", check_both, points, tree, scratch)
            points.attempt("examples", check_examples, points, tree, installation, scratch)
            points.attempt("programs", check_programs, points, root, classes, scratch)
    print(f"1..{points.count}")
    return 1 if points.failed else 0


if __name__ == "__main__":
    sys.exit(main())
