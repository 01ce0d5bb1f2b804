#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records real JVMs and compares what libjfr reads with what the JDK's own API reads: events, raw
# totals and stackless samples of every profile type must be equal.
#
# usage: truth_test.sh JFR_TOTALS [KIND:JDK...]
#   JFR_TOTALS  the program built from jfr_totals.c
#   KIND:JDK    a kind of tests/support/recordings/make.sh and a JDK release of the dependency
#               cache; without any, the list below
# Prints TAP. Skips, with the command that helps, where javac, a JDK or async-profiler is missing.
set -euo pipefail

totals=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
support=$here/../../tests/support
cache=${HOTSTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hotstack}
install='run deploy/dependencies/install test'
export HOTSTACK_RECORD_SECONDS=${HOTSTACK_RECORD_SECONDS:-1.5}

[ $# -gt 0 ] || set -- jdk-all:11 jdk-all:17 jdk-all:21 jdk-all:25 jdk-default:17 jdk-profile:25 \
  jdk-chunks:17 jdk-chunks:25 async-cpu:17 async-ctimer:21 async-itimer:11 async-method:25 async-wall:17 \
  async-nobatch:21 async-alloc:25 async-live:21 async-nativemem:11 async-lock:17 async-nativelock:25 \
  async-features:21 async-process:17 async-all:11 async-all:17 async-all:21 async-all:25 \
  async-chunks:17 async-chunks:25 async-sync:17 async-sync:25

if ! command -v javac >/dev/null; then
  echo "1..0 # SKIP javac is missing: $install"
  exit 0
fi
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) arch=unknown ;;
esac
lib=$cache/async-profiler/linux-$arch/libasyncProfiler.so

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
javac --release 11 -encoding UTF-8 -d "$tmp" "$support/recordings/Workload.java" \
  "$support/jfr-truth/JfrTruth.java"

# The types that a recording of a kind must show, so that two empty readings never pass.
types_of() {
  case $1 in
    jdk-all | jdk-chunks) echo cpu alloc_bytes alloc_objects lock_count lock_delay ;;
    jdk-*) echo cpu ;;
    async-alloc) echo alloc_bytes alloc_objects ;;
    async-lock) echo lock_count lock_delay ;;
    async-live) echo alloc_bytes live_bytes ;;
    async-wall) echo wall ;;
    async-nobatch) echo cpu wall ;;
    async-nativemem) echo nativemem_bytes ;;
    async-nativelock) echo lock_count ;;
    async-features) echo cpu alloc_bytes ;;
    async-sync) echo cpu wall lock_delay ;;
    async-method) ;; # a counter of calls is no time: all totals are 0 in both outputs
    async-all | async-chunks) echo cpu wall alloc_bytes lock_delay nativemem_bytes ;;
    *) echo cpu ;;
  esac
}

# The events of a type in a totals line.
events_in() {
  local rest=${1#*"\"$2\": {\"events\": "}
  echo "${rest%%,*}"
}

compare() {
  local dir=$1 kind=$2 ours theirs type
  ours=$("$totals" "$dir/recording.jfr")
  theirs=$("$reader" -cp "$tmp" JfrTruth "$dir/recording.jfr")
  if [ "$ours" != "$theirs" ]; then
    printf '# libjfr %s\n# JDK    %s\n' "$ours" "$theirs"
    return 1
  fi
  for type in $(types_of "$kind"); do
    [ "$(events_in "$ours" "$type")" -gt 0 ] || { echo "# no $type samples"; return 1; }
  done
}

# Checks a copy taken while the last chunk was open: its finished chunks are read, the loss is
# reported, and --walk-unfinished also reads the open chunk (async-profiler's may be empty).
check_open() {
  local dir=$1 kind=$2 closed walked least=1
  closed=$("$totals" "$dir/open.jfr" 2>"$dir/loss")
  grep -q unfinished "$dir/loss" || { echo "# the open chunk was not reported"; return 1; }
  walked=$("$totals" --walk-unfinished "$dir/open.jfr" 2>"$dir/loss")
  grep -q unfinished "$dir/loss" || { echo "# the walked chunk was not reported"; return 1; }
  [ "$kind" = jdk-chunks ] || least=$(events_in "$closed" alloc_bytes)
  if [ "$least" -eq 0 ] || [ "$(events_in "$walked" alloc_bytes)" -lt "$least" ]; then
    echo "# closed $closed, walked $walked"
    return 1
  fi
}

run_one() {
  local kind=$1 java=$2 dir=$3 seconds=$HOTSTACK_RECORD_SECONDS
  # async-profiler looks once a second whether a chunk is full, the JDK flushes once a second.
  [[ $kind != *-chunks ]] || seconds=4
  mkdir -p "$dir"
  cp "$tmp"/Workload*.class "$dir"
  local made=0
  HOTSTACK_RECORD_SECONDS=$seconds "$support/recordings/make.sh" "$dir" "$kind" "$java" "$lib" \
    >"$dir/make.log" 2>&1 || made=$?
  if [ "$made" != 0 ]; then
    sed 's/^/# /' "$dir/make.log" "$dir/workload.log"
    return 1
  fi
  compare "$dir" "$kind" || return 1
  [[ $kind != *-chunks ]] || check_open "$dir" "$kind"
}

reader=$cache/jdk/25/bin/java
[ -x "$reader" ] || reader=$(command -v java)
echo "1..$#"
number=0
failed=0
for pair in "$@"; do
  number=$((number + 1))
  kind=${pair%:*}
  java=$cache/jdk/${pair#*:}/bin/java
  name="$number - $kind on JDK ${pair#*:}"
  if [ ! -x "$java" ]; then
    echo "ok $name # SKIP no such JDK: $install"
  elif [[ $kind == async-* && ! -e $lib ]]; then
    echo "ok $name # SKIP no async-profiler: $install"
  elif run_one "$kind" "$java" "$tmp/$number"; then
    echo "ok $name"
  else
    echo "not ok $name"
    failed=1
  fi
done
exit $failed
