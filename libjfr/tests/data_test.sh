#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The totals of the committed recordings are those that the JDK's own reader gave.
# usage: data_test.sh JFR_TOTALS DIR   (its recordings, and those in DIR/cut)
set -eu
totals=$1 data=$2
set -- "$data"/*.jfr.gz "$data"/cut/*.jfr.gz
echo "1..$#"
number=0
for file; do
  number=$((number + 1))
  name=${file##*/}
  if "$totals" "$file" | diff "${file%.jfr.gz}.json" - >&2; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
  fi
done
