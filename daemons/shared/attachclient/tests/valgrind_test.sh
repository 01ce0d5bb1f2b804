#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A test program and the workers that it starts, all under valgrind, and attachd where HOTSTACK_ATTACHD
# names it: the program's TAP goes through, and what valgrind says of the others, whose end nobody else
# sees, makes the run fail.
# usage: valgrind_test.sh WORKER PROGRAM [ARGUMENT...]
set -eu
worker=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -m 1777 "$work/logs"
leaks=--leak-check=full
if [ -n "${HOTSTACK_ATTACHD:-}" ]; then
    # nng's threads are never joined, so what the loader holds for them is possibly lost
    leaks="$leaks --show-leak-kinds=definite --errors-for-leak-kinds=definite"
fi

# wrap NAME PROGRAM: a program of that name that runs PROGRAM under valgrind
wrap() {
    cat >"$work/$1" <<WRAPPED
#!/bin/sh
exec valgrind -q $leaks --log-file="$work/logs/$1.%p" "$2" "\$@"
WRAPPED
    chmod 755 "$work/$1"
}

wrap worker "$worker"
export HOTSTACK_ATTACH_WORKER="$work/worker"
if [ -n "${HOTSTACK_ATTACHD:-}" ]; then
    wrap attachd "$HOTSTACK_ATTACHD"
    export HOTSTACK_ATTACHD="$work/attachd"
fi
status=0
# shellcheck disable=SC2086 # several options
valgrind -q --error-exitcode=9 $leaks "$@" || status=$?
workers=$(find "$work/logs" -type f -name 'worker.*' | wc -l)
echo "# $workers workers"
# its own warnings, as of a system call that it does not know, start with dashes
if [ "$workers" -eq 0 ] || grep -rh '^==' "$work/logs" >&2; then
    echo "Bail out! $workers workers under valgrind, and what it says of them is above"
    exit 1
fi
exit $status
