#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The committed fixtures are those that their generator writes.
# usage: fixtures_test.sh JFR_FIXTURES DIR
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$1" "$tmp"
diff -r -x README.md "$tmp" "$2" || {
  echo "write them anew: meson compile -C BUILD jfr_fixtures && BUILD/libjfr/tests/jfr_fixtures libjfr/tests/data"
  exit 1
}
