#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests which symbols the agent needs from a C library. Output in TAP.
# usage: agent_needs_test.sh LIBRARY NEEDS JNI_HOME SOURCE...
set -eu
library=$1 needs=$2 jni=$3
shift 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# Reports one test point, which failed if its body wrote anything to $tmp/wrong.
point() {
  count=$((count + 1))
  if [ -s "$tmp/wrong" ]; then
    failed=1
    echo "not ok $count - $1"
    sed 's/^/# /' "$tmp/wrong"
  else
    echo "ok $count - $1"
  fi
}

undefined() { nm -D --undefined-only "$1" | awk '{ print $2 }' | sort; }

grep -v '^#' "$needs" | sort >"$tmp/allowed"

readelf -d "$library" | grep NEEDED >"$tmp/wrong" || true
point "it names no library that must be there"

undefined "$library" | comm -23 - "$tmp/allowed" >"$tmp/wrong"
point "it needs nothing that needs.txt does not list, and no version of it"

nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^Agent_On' >"$tmp/wrong" || true
point "it offers nothing but the agent's entry points"

musl=/usr/lib/$(uname -m)-linux-musl/libc.so
if ! command -v musl-gcc >"$tmp/wrong" || [ ! -e "$musl" ]; then
  echo "ok 4 - musl # SKIP no musl-gcc: apt-get install musl-tools"
  echo "1..4"
  exit $failed
fi

nm -D --defined-only "$musl" | awk '{ print $3 }' | sort -u >"$tmp/musl"
comm -23 "$tmp/allowed" "$tmp/musl" >"$tmp/wrong"
point "musl has all of it"

musl-gcc -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror \
  -I "$(dirname "$0")/../include" -I "$(dirname "$0")/../agent" -isystem "$jni/include" -isystem "$jni/include/linux" -shared -nostdlib \
  -o "$tmp/agent-musl.so" "$@" >"$tmp/wrong" 2>&1 || true
point "it builds with musl-gcc"

undefined "$tmp/agent-musl.so" | comm -23 - "$tmp/allowed" >"$tmp/wrong"
point "built so it needs nothing else"

# A program built with musl loads both: every symbol is found, and bad options are refused.
cat >"$tmp/load.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        int (*attach)(void *, char *, void *) =
            library == NULL ? NULL : (int (*)(void *, char *, void *))dlsym(library, "Agent_OnAttach");
        if (attach == NULL)
            return printf("%s\n", dlerror()), 1;
        char nowhere[] = "/nonexistent/hotstack";
        if (attach(NULL, NULL, NULL) != 1 || attach(NULL, nowhere, NULL) != 2)
            return printf("%s: Agent_OnAttach took bad options\n", argv[i]), 1;
    }
    return 0;
}
C
{ musl-gcc -o "$tmp/load" "$tmp/load.c" && "$tmp/load" "$library" "$tmp/agent-musl.so"; } >"$tmp/wrong" 2>&1 || true
point "a process of musl's loads both builds and calls them"

echo "1..$count"
exit $failed
