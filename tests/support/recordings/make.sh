#!/usr/bin/env bash
# Makes real recordings of Workload.java for the tests of libjfr and of what stands on it.
#
# usage: make.sh OUT_DIR KIND JAVA [LIB]
#   KIND  jdk-default | jdk-profile | jdk-all | async-cpu | async-ctimer | async-itimer | async-wall |
#         async-alloc | async-lock | async-all | async-live | async-chunks
#   JAVA  the java program to run
#   LIB   libasyncProfiler.so; needed by the async kinds
# Writes OUT_DIR/recording.jfr, and for async-chunks OUT_DIR/open.jfr: a copy taken while the JVM
# still wrote the last chunk. Compiles Workload.java into OUT_DIR with the javac on PATH, unless
# OUT_DIR/Workload.class is there. Seconds of load: $HOTSTACK_RECORD_SECONDS (3).
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2,11p' "$0" | cut -c3-; exit 2; }
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

record_jdk() {
  local settings=${kind#jdk-}
  if [ "$settings" = all ]; then
    all_settings >"$out/all.jfc"
    settings=$out/all.jfc
  fi
  "$java" -Xmx64m "-XX:StartFlightRecording=filename=$file,settings=$settings" -cp "$out" \
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
    async-live) args=alloc=64k,live ;;
    async-all | async-chunks)
      args=event=ctimer,interval=5ms,wall=20ms,alloc=64k,lock=100us,nativemem=64k,nativelock=100us
      ;;
    *) echo "make.sh: unknown kind $kind" >&2; exit 2 ;;
  esac
  [ "$kind" != async-chunks ] || args=$args,chunksize=256k
  "$java" -Xmx64m "-agentpath:$lib=start,$args,cstack=vm,quiet,log=$out/profiler.log,jfr,file=$file" \
    -cp "$out" Workload "$seconds" >"$out/workload.log" 2>&1 &
  local pid=$!
  if [ "$kind" = async-chunks ]; then
    # Until the JVM has finished a chunk and begun the next; it dies by itself when it is too slow.
    while kill -0 "$pid" 2>/dev/null && [ "$(grep -ao FLR "$file" | wc -l)" -lt 2 ]; do sleep 0.2; done
    cp "$file" "$out/open.jfr"
  fi
  wait "$pid"
}

case $kind in
  jdk-*) record_jdk ;;
  async-*) record_async ;;
  *) echo "make.sh: unknown kind $kind" >&2; exit 2 ;;
esac
[ -s "$file" ] || { echo "make.sh: no recording; see $out/workload.log" >&2; exit 1; }
