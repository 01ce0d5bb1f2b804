#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public API is documented, typed, and its examples are true. Prints TAP.

Runs in the cache's venv of Python packages; the environment holds PYTHONPATH (the package that was built).
"""

import doctest
import importlib
import importlib.util
import inspect
import json
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import typing
import unittest

import tap
from support import CACHE, EXAMPLE, INSTALL, TREE

import hotstack

PAGE = TREE / "docs/python.md"


CHECKERS = all(map(importlib.util.find_spec, ("mypy", "pandas-stubs", "pyarrow-stubs")))
PYRIGHT = CACHE / "pyright/index.js"
NODE = CACHE / "venv/bin/node"

# A type checker knows the results of a table's methods.
KNOWN_TYPES = """
import typing
import pandas, polars, pyarrow
typing.assert_type(recording.samples().to_pandas(), pandas.DataFrame)
typing.assert_type(recording.samples().to_polars(), polars.DataFrame)
typing.assert_type(recording.samples().to_arrow(), pyarrow.Table)
"""


def code_of_the_page():
    """The Python examples of the page, sessions without their answers."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(doctest.script_from_examples(block) if ">>>" in block else block for block in blocks)


def members():
    """(name, object) of everything public: what __all__ names, and the public members of its classes."""
    for name in hotstack.__all__:
        thing = getattr(hotstack, name)
        yield name, thing
        if not inspect.isclass(thing) or issubclass(thing, Exception) and thing.__module__ == "hotstack":
            continue
        for inner, value in vars(thing).items():
            if isinstance(value, (property, staticmethod, classmethod)) or inspect.isfunction(value):
                if not inner.startswith("_") or inner in ("__init__", "__call__", "__arrow_c_stream__"):
                    yield f"{name}.{inner}", value


def is_written_here(function):
    """Not made by NamedTuple or a decorator of the standard library."""
    return getattr(function, "__module__", "").startswith("hotstack")


class Documentation(unittest.TestCase):
    def test_everything_public_is_documented(self):
        seen = 0
        for name, thing in members():
            if name.startswith("__") or name.endswith("_COLUMNS"):
                continue
            if inspect.isfunction(thing) and not is_written_here(thing):
                continue
            seen += 1
            text = (thing.fget if isinstance(thing, property) else thing).__doc__
            self.assertTrue(text and text.strip() and not text.startswith(name.partition(".")[0] + "("), name)
        self.assertGreater(seen, 80)

    def test_everything_public_is_typed(self):
        for name, thing in members():
            function = thing.fget if isinstance(thing, property) else thing
            if not inspect.isfunction(function) or not is_written_here(function):
                continue
            signature = inspect.signature(function)
            self.assertIsNot(signature.return_annotation, inspect.Signature.empty, name)
            for parameter in list(signature.parameters.values()):
                if parameter.name != "self":
                    self.assertIsNot(parameter.annotation, inspect.Parameter.empty, f"{name}({parameter.name})")
        for name in hotstack.__all__:
            thing = getattr(hotstack, name)
            if inspect.isclass(thing) and issubclass(thing, tuple):
                self.assertEqual(set(thing.__annotations__), set(thing._fields), name)

    @unittest.skipUnless(CHECKERS, f"mypy, pandas-stubs or pyarrow-stubs are missing: {INSTALL}")
    def test_the_type_checker_agrees(self):
        package = pathlib.Path(hotstack.__file__).parent
        self.assertTrue((package / "py.typed").exists())
        strict = ["mypy", "--strict", "--python-version", "3.11"]
        with tempfile.TemporaryDirectory() as cache:
            environment = dict(os.environ, MYPY_CACHE_DIR=cache, MYPYPATH=str(package.parent))
            page = pathlib.Path(cache) / "page.py"
            page.write_text(f'example: str = ""\n{code_of_the_page()}\n{KNOWN_TYPES}', encoding="utf-8")
            for command in (
                [*strict, "-p", "hotstack"],
                [*strict, str(page), *map(str, sorted((TREE / "examples/python").glob("*.py")))],
                ["mypy.stubtest", "hotstack._native"],
            ):
                done = subprocess.run(
                    [sys.executable, "-m", *command], env=environment, cwd=cache, capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(PYRIGHT.exists() and NODE.exists(), f"pyright or node is missing: {INSTALL}")
    def test_every_public_type_is_known_to_pyright(self):
        """Types of pandas and others count as known: their stubs are not whole."""
        python = pathlib.Path(sys.executable).parent  # pyright looks for packages where the first python of PATH does
        environment = dict(os.environ, PATH=f"{python}{os.pathsep}{os.environ['PATH']}")
        command = [NODE, PYRIGHT, "--ignoreexternal", "--outputjson", "--verifytypes", "hotstack"]
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(command, env=environment, cwd=empty, capture_output=True, text=True, check=False)
        said = json.loads(done.stdout)["typeCompleteness"]
        unknown = [row["name"] for row in said["symbols"] if not row["isTypeKnown"] and row["isExported"]]
        self.assertEqual((said["completenessScore"], unknown), (1, []))
        public = [name for name in hotstack.__all__ if not name.startswith("__")]
        self.assertGreaterEqual(said["exportedSymbolCounts"]["withKnownType"], len(public))

    def test_the_page_names_everything_public(self):
        text = PAGE.read_text(encoding="utf-8")
        for name, thing in members():
            short = name.rpartition(".")[2]
            if short.startswith("_") or (inspect.isfunction(thing) and not is_written_here(thing)):
                continue
            self.assertRegex(text, rf"\b{re.escape(short)}\b", name)


def doctests():
    """One case for each docstring with examples, and the page."""
    suite = unittest.TestSuite()
    names = {"example": str(EXAMPLE)}
    options = {"extraglobs": names, "optionflags": doctest.ELLIPSIS}
    for module in ["hotstack", *(f"hotstack.{item.name}" for item in pkgutil.iter_modules(hotstack.__path__))]:
        if module == "hotstack._native":
            continue
        suite.addTests(doctest.DocTestSuite(importlib.import_module(module), **options))
    suite.addTests(
        doctest.DocFileSuite(str(PAGE), module_relative=False, globs=names, optionflags=doctest.ELLIPSIS)
    )
    return suite


if __name__ == "__main__":
    tap.main(Documentation, extra=[doctests()])
