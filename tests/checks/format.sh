#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C source and header is formatted as .clang-format says. Usage: format.sh TREE
set -euo pipefail
cd "$1"
command -v clang-format-14 >/dev/null || { echo "clang-format-14 is missing: apt-get install clang-format-14"; exit 77; }

if printf 'int  f( void ) {return 0;}\n' |
    clang-format-14 --dry-run --Werror --assume-filename=libjfr/src/planted.c 2>/dev/null; then
    echo "a planted line that is not formatted passes: does clang-format find the tree's .clang-format?"
    exit 1
fi
./dev fmt --check || { echo "run ./dev fmt"; exit 1; }
echo "$(git ls-files '*.c' '*.h' | wc -l) files, all formatted"
