#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs shellcheck over every shell script of the tree. Usage: shell.sh TREE
set -euo pipefail
cd "$1"
command -v shellcheck >/dev/null || { echo "shellcheck is missing: apt-get install shellcheck"; exit 77; }

scripts=()
while IFS= read -r -d '' file; do
    [[ -f $file && ! -L $file ]] || continue
    IFS= read -r first <"$file" || continue
    case $first in
    '#!'*bash* | '#!'*/sh* | '# shellcheck shell='*) scripts+=("$file") ;;
    esac
done < <(git ls-files -z)

((${#scripts[@]} > 5)) || { echo "found only ${#scripts[@]} scripts: is $1 the tree?"; exit 1; }
shellcheck -x "${scripts[@]}"
echo "${#scripts[@]} scripts, no finding"
