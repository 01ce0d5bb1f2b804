#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example lists without an error, and names what is wrong with a process that is no JVM.
# usage: test.sh ATTACH_LIST
set -eu
"$1" >/dev/null
if message=$("$1" $$ VM.version 2>&1); then
  echo "a shell was taken for a JVM"
  exit 1
fi
echo "$message" | grep -q 'not a HotSpot JVM' || { echo "$message"; exit 1; }
