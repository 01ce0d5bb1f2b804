#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that libattach builds against musl and works: a static attach-list lists this machine's JVMs
# and runs a command in one. A JVM that itself runs on musl is not tested. usage: musl_test.sh
# SOURCE_DIR CLASSES
set -eu
source_dir=$1 classes=$2
java=$(find "${HOTSTACK_CACHE:-$HOME/.cache/hotstack}/jdk" -path '*/bin/java' 2>/dev/null | sort | tail -1)
command -v musl-gcc >/dev/null || { echo "no musl-gcc: run deploy/dependencies/install test"; exit 77; }
work=$(mktemp -d)
jvm=
cleanup() {
    [ -z "$jvm" ] || kill "$jvm" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

# Only the kernel's headers, since /usr/include also has glibc's.
mkdir "$work/kernel"
for name in linux asm-generic; do ln -s "/usr/include/$name" "$work/kernel/$name"; done
ln -s "$(dirname "$(find /usr/include -path '*/asm/types.h' -print -quit)")" "$work/kernel/asm"

mapfile -t sources < <(find "$source_dir/src" -name '*.c')
musl-gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -static -idirafter "$work/kernel" \
    -I "$source_dir/include" -I "$source_dir/src" -I "$source_dir/agent" -o "$work/attach-list" \
    "${sources[@]}" "$source_dir/../examples/attach-list/attach-list.c"
"$work/attach-list" >/dev/null
message=$("$work/attach-list" $$ VM.version 2>&1) && { echo "a shell was taken for a JVM"; exit 1; }
case $message in *"not a HotSpot JVM"*) ;; *) echo "$message"; exit 1 ;; esac

[ -n "$java" ] || { echo "no JDK: run deploy/dependencies/install test"; exit 77; }
mkfifo "$work/output"
"$java" -Xmx64m -cp "$classes" Target >"$work/output" 2>&1 &
jvm=$!
read -r line <"$work/output"
[ "$line" = ready ] || { echo "the JVM said: $line"; exit 1; }
"$work/attach-list" | grep -q "^$jvm .* Target ok$" || { "$work/attach-list"; exit 1; }
"$work/attach-list" "$jvm" VM.version | grep -q "^JDK " || { echo "VM.version was not answered"; exit 1; }
rm -f "/tmp/.java_pid$jvm"
