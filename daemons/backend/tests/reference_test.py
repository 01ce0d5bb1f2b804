# SPDX-License-Identifier: Apache-2.0
"""docs/reference/backend.md holds the program's table of settings and names all its metrics.

usage: reference_test.py PAGE BACKEND METRIC-SOURCE..."""
import pathlib
import re
import subprocess
import sys


def main():
    page, backend, *sources = sys.argv[1:]
    text = pathlib.Path(page).read_text(encoding='utf-8')
    table = subprocess.run([backend, '--print-reference'], check=True, capture_output=True,
                           text=True).stdout
    if table not in text:
        sys.exit(f'{page} lacks the table that {backend} --print-reference writes; put it there')
    names = set()
    for source in sources:
        names |= set(re.findall(r'"(hotstack_backend_\w+)"', pathlib.Path(source).read_text()))
    assert len(names) > 5, names
    for name in sorted(names):
        if name not in text and f'`{name.removeprefix("hotstack_backend")}`' not in text:
            sys.exit(f'{page} does not name the metric {name}')


main()
