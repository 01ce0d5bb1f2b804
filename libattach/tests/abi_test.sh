#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports exactly what its version map names.
# usage: abi_test.sh LIBRARY MAP
set -eu
library=$1 map=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  sort >"$tmp/exported"
sed -n '/global:/,/local:/s/^ *\([a-z_0-9]*\);$/\1/p' "$map" | sort >"$tmp/mapped"
diff "$tmp/mapped" "$tmp/exported" >"$tmp/diff" || {
  echo "exports (>) and $map (<) differ:"
  cat "$tmp/diff"
  exit 1
}
