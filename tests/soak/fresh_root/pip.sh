#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs `pip install .` and nothing else of ours, then tests the Python package. Prints TAP. Run by fresh_root_test.py in a fresh Debian.
set -euo pipefail
# The packages that docs/python.md requires: Python, a C compiler, pkg-config, and headers.
packages=(python3-venv gcc pkg-config libc6-dev libpython3-dev zlib1g-dev libxxhash-dev)
{
    apt-get -q update
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${packages[@]}"
    python3 -m venv "$HOME/venv"
    "$HOME/venv/bin/pip" --disable-pip-version-check install .
} >&2
exec "$HOME/venv/bin/python" tests/soak/fresh_root/package_test.py "$HOME/out"
