#!/bin/sh
# A test program and the workers that it starts, all under valgrind: the program's TAP goes through, and
# what valgrind says of a worker, whose end nobody else sees, makes the run fail.
# usage: valgrind_test.sh WORKER PROGRAM [ARGUMENT...]
set -eu
worker=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -m 1777 "$work/logs"
cat >"$work/worker" <<WORKER
#!/bin/sh
exec valgrind -q --leak-check=full --log-file="$work/logs/%p" "$worker" "\$@"
WORKER
chmod 755 "$work/worker"
export HOTSTACK_ATTACH_WORKER="$work/worker"
status=0
valgrind -q --error-exitcode=9 --leak-check=full "$@" || status=$?
workers=$(find "$work/logs" -type f | wc -l)
echo "# $workers workers"
# its own warnings, as of a system call that it does not know, start with dashes
if [ "$workers" -eq 0 ] || grep -rh '^==' "$work/logs" >&2; then
    echo "Bail out! $workers workers under valgrind, and what it says of them is above"
    exit 1
fi
exit $status
