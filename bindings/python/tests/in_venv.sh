#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test in the cache's venv of Python packages, or says that it is missing: in_venv.sh TEST [ARGUMENT...]
venv=${HOTSTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hotstack}/python
if [ ! -x "$venv/bin/python" ]; then
  echo "1..0 # SKIP no Python packages in $venv: run deploy/dependencies/install test"
  exit 0
fi
exec "$venv/bin/python" "$@"
