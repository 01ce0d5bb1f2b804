#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's install line, then the installed product on a live JVM. Prints TAP. Run by fresh_root_test.py in a fresh Debian.
set -euo pipefail
product=${1:-$HOME/product}
[[ -x $product/bin/hotstack ]] || ./dev install --prefix "$product"
exec python3 tests/soak/fresh_root/installed_test.py "$product"
