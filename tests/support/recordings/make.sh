#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes real recordings of Workload.java for the tests of libjfr and of what stands on it.
#
# usage: make.sh OUT_DIR KIND JAVA [LIB]
#   KIND  jdk-default | jdk-profile | jdk-all | jdk-shallow | jdk-chunks | async-cpu | async-ctimer | async-itimer |
#         async-method | async-wall | async-nobatch | async-alloc | async-live | async-nativemem |
#         async-lock | async-nativelock | async-features | async-process | async-all | async-chunks |
#         async-sync
#   JAVA  the java program to run
#   LIB   libasyncProfiler.so; needed by the async kinds
# Writes OUT_DIR/recording.jfr, and for the kinds of several chunks OUT_DIR/open.jfr: a copy taken
# while the JVM still wrote its last chunk (not by a JDK before 14, which writes it at its end).
# Compiles Workload.java into OUT_DIR with the javac on PATH, unless OUT_DIR/Workload.class is there.
# Seconds of load: $HOTSTACK_RECORD_SECONDS (3). More of async-profiler's arguments:
# $HOTSTACK_RECORD_ARGUMENTS.
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2,17p' "$0" | cut -c3-; exit 2; }
out=$1 kind=$2 java=$3 lib=${4:-}
seconds=${HOTSTACK_RECORD_SECONDS:-3}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
file=$out/recording.jfr
rm -f "$file" "$out/open.jfr"
[ -e "$out/Workload.class" ] ||
  javac --release 11 -encoding UTF-8 -d "$out" "$here/Workload.java"

# Every event the reader turns into samples, with nothing filtered away. An unknown name is only
# warned of, so that one file serves all JDKs.
all_settings() {
  cat <<'JFC'
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
JFC
  setting() {
    echo "  <event name=\"$1\"><setting name=\"enabled\">true</setting>"
    echo "    <setting name=\"stackTrace\">true</setting>$2</event>"
  }
  local none='<setting name="threshold">0 ns</setting>'
  setting jdk.ExecutionSample '<setting name="period">10 ms</setting>'
  setting jdk.NativeMethodSample '<setting name="period">20 ms</setting>'
  setting jdk.CPUTimeSample '<setting name="throttle">10 ms</setting>'
  setting jdk.ObjectAllocationInNewTLAB ''
  setting jdk.ObjectAllocationOutsideTLAB ''
  setting jdk.ObjectAllocationSample '<setting name="throttle">1000/s</setting>'
  setting jdk.JavaMonitorEnter "$none"
  setting jdk.JavaMonitorWait "$none"
  setting jdk.ThreadPark "$none"
  setting jdk.JVMInformation '<setting name="period">beginChunk</setting>'
  setting jdk.ActiveSetting ''
  setting jdk.ActiveRecording ''
  echo '</configuration>'
}

# Copies the JDK's chunk from its repository once it has flushed: the offset of its types is stated
# (bytes 24 to 31), and byte 64 is not 0, as it is when the chunk is finished.
copy_open_jdk() {
  local found copy=$out/copy.jfr
  found=$(find "$out/repository" -name '*.jfr' -size +0 | sort | tail -n 1)
  [ -n "$found" ] && cp "$found" "$copy" || return 1
  [ "$(od -An -tu1 -j64 -N1 "$copy" | tr -d ' ')" != 0 ] &&
    [ "$(od -An -tx8 -j24 -N8 "$copy" | tr -d ' ')" != 0000000000000000 ] &&
    mv "$copy" "$out/open.jfr"
}

# Copies the recording once async-profiler has finished a chunk and begun the next.
copy_open_async() {
  [ "$(grep -ao FLR "$file" 2>/dev/null | wc -l)" -ge 2 ] && cp "$file" "$out/open.jfr"
}

# Waits for the copy, or for the JVM's end when that is too fast.
copy_open() {
  local pid=$1 copy=copy_open_async
  [ "$kind" != jdk-chunks ] || copy=copy_open_jdk
  while kill -0 "$pid" 2>/dev/null && ! "$copy"; do sleep 0.05; done
}

record_jdk() {
  local settings=${kind#jdk-}
  local options=()
  [ "$kind" != jdk-shallow ] || options=(-XX:FlightRecorderOptions=stackdepth=2)
  if [[ $settings =~ ^(all|chunks|shallow)$ ]]; then
    all_settings >"$out/all.jfc"
    settings=$out/all.jfc
  fi
  if [ "$kind" = jdk-chunks ]; then
    mkdir -p "$out/repository"
    "$java" -Xmx64m "-XX:StartFlightRecording=filename=$file,settings=$settings" \
      "-XX:FlightRecorderOptions=maxchunksize=1m,repository=$out/repository" -cp "$out" \
      Workload "$seconds" >"$out/workload.log" 2>&1 &
    copy_open $!
    wait $!
    return
  fi
  "$java" -Xmx64m "-XX:StartFlightRecording=filename=$file,settings=$settings" "${options[@]}" -cp "$out" \
    Workload "$seconds" >"$out/workload.log" 2>&1
}

record_async() {
  local args
  case $kind in
    async-cpu) args=event=cpu,interval=5ms ;;
    async-ctimer) args=event=ctimer ;;
    async-itimer) args=event=itimer,interval=20ms ;;
    async-wall) args=event=wall,interval=20ms ;;
    async-alloc) args=alloc=64k ;;
    async-lock) args=lock=100us ;;
    async-method) args=event=Workload.allocate ;;
    async-nobatch) args=event=ctimer,interval=5ms,wall=20ms,nobatch ;;
    async-live) args=alloc=64k,live ;;
    async-nativemem) args=nativemem=64k ;;
    async-nativelock) args=nativelock=100us ;;
    async-features) args=event=ctimer,interval=5ms,alloc=64k,features=vtable+comptask+pcaddr+stats ;;
    async-process) args=event=ctimer,interval=5ms,proc=1,threads,sched ;;
    async-sync) args=event=ctimer,interval=5ms,wall=20ms,lock=100us,jfrsync=profile ;;
    async-all | async-chunks)
      args=event=ctimer,interval=5ms,wall=20ms,alloc=64k,lock=100us,nativemem=64k,nativelock=100us
      ;;
    *) echo "make.sh: unknown kind $kind" >&2; exit 2 ;;
  esac
  [ "$kind" != async-chunks ] || args=$args,chunksize=256k
  args=$args${HOTSTACK_RECORD_ARGUMENTS:+,$HOTSTACK_RECORD_ARGUMENTS}
  "$java" -Xmx64m "-agentpath:$lib=start,$args,cstack=vm,quiet,log=$out/profiler.log,jfr,file=$file" \
    -cp "$out" Workload "$seconds" >"$out/workload.log" 2>&1 &
  local pid=$!
  [ "$kind" != async-chunks ] || copy_open "$pid"
  wait "$pid"
}

case $kind in
  jdk-*) record_jdk ;;
  async-*) record_async ;;
  *) echo "make.sh: unknown kind $kind" >&2; exit 2 ;;
esac
[ -s "$file" ] || { echo "make.sh: no recording; see $out/workload.log" >&2; exit 1; }
