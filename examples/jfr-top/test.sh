#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example finds the hot method of a committed recording, and says what it cannot read.
# usage: test.sh JFR_TOP DATA_DIR
set -eu
out=$("$1" "$2/jdk25-all.jfr.gz" cpu)
echo "$out" | sed -n 2p | grep -q 'Workload.burnCpu' || { echo "$out"; exit 1; }
if "$1" "$2/README.md" 2>/dev/null; then
  echo "a text file was read as a recording"
  exit 1
fi
