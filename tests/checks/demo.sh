#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo from start to end, in TAP. Usage: demo.sh TREE
set -euo pipefail
dev=$1/dev
work=$(mktemp -d)
holder=''
end() {
    [[ -z $holder ]] || kill "$holder" 2>/dev/null || true
    [[ -z $demo ]] || kill "$demo" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
count=0 failed=0 demo=''

# point NAME PATTERN: the demo's output has a line like that.
point() {
    count=$((count + 1))
    if grep -qE -- "$2" "$work/out"; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
    fi
}

cache=${HOTSTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hotstack}
if [[ ! -f $cache/chdb/libchdb.so ]]; then
    echo "1..0 # SKIP no embedded store on this machine: deploy/dependencies/install demo"
    exit 0
fi

python3 - "$work/port" <<'EOF_PYTHON' &
import pathlib, signal, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
pathlib.Path(sys.argv[1] + ".new").write_text(str(listener.getsockname()[1]))
pathlib.Path(sys.argv[1] + ".new").rename(sys.argv[1])
signal.pause()
EOF_PYTHON
holder=$!
while [[ ! -s $work/port ]]; do
    kill -0 "$holder"
    sleep 0.05
done
taken=$(<"$work/port")
"$dev" demo --port "$taken" --for 1 >"$work/out" 2>&1 || true
point "a taken port is named, with what to do" "port $taken of 127.0.0.1 is taken .*--port"

# Ended by Ctrl-C, as a user does. A shell starts what it puts in the background deaf to it.
env --default-signal=INT "$dev" demo --port 0 >"$work/out" 2>&1 &
demo=$!
until grep -q 'Ctrl-C ends it' "$work/out" || ! kill -0 "$demo" 2>/dev/null; do sleep 0.2; done
kill -INT "$demo" 2>/dev/null || true
status=0
wait "$demo" || status=$?
point "one URL with a one-time code" '^ +http://127\.0\.0\.1:[0-9]+/#code=[0-9a-f]{48}$'
point "all three profiles arrive" 'CPU, allocation and lock profiles are on the page'
point "the end's checks can see a session" 'holds [1-9][0-9]* traces of a profiling session and 1 directory'
point "the service answers afterwards" 'still answers: [1-9][0-9]* orders served'
point "no profiling session is left in it" 'no profiling session is in it'
point "no file is left in its /tmp" 'no file of ours is in its /tmp'
[[ $status == 0 ]] || {
    failed=$((failed + 1))
    echo "not ok $((++count)) - it ends with status 0, not $status"
}
((failed == 0)) || sed 's/^/# /' "$work/out"
echo "1..$count"
((failed == 0))
