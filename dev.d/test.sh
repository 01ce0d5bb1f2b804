# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test: lanes of meson tests. A lane is a build directory and a selection of its suites;
# which tests there are is meson's knowledge, so a new room's suite runs without a change here.

test_usage() {
    cat <<'USAGE'
usage: ./dev test [SUITE...]

Installs what the tests need, builds, runs all lanes, prints a table and, last, one line
"N passed, N failed[, N skipped]". Lanes:
  unit         every C unit test, gcc
  unit-asan    the same, clang 14, under AddressSanitizer and UBSan, without the suite "once" (long
               comparisons with the JDK's tools)
  tsan         as unit-asan, gcc, under ThreadSanitizer, without suites that start no threads
  checks       the tree's rules: sizes, includes, core purity, shell scripts, documents
  tidy         clang-tidy over every C source
  install      what is installed works alone: headers, pkg-config, examples, symbols
  examples     the programs of examples/, the demo service on each JDK
  python       the Python package: against the command line, its readers, its wheel
  ui           the page's and the flame graph's own tests
  e2e          the whole product, real parts only
  k8s          beside a real kube-apiserver and etcd, which are built first where they are not there
SUITE is a lane or a suite of meson's, for example libjfr; --list prints both.

In CI (CI=true) a skipped test fails the run unless tests/allowed-skips.txt allows it.
HOTSTACK_JOBS=N bounds compilers and tests side by side (default: all cores).
USAGE
}

LANES=(unit unit-asan tsan checks tidy install examples python ui e2e k8s)
# Meson suites that are not C unit tests, so not repeated by the compiler and sanitizer lanes.
OTHER_SUITES=(checks tidy install examples python ui e2e bench soak k8s)
# Comparisons with the JDK's own tools or under valgrind take minutes, and neither another compiler
# nor a sanitizer changes their result; rooms have a short form outside this suite where ASan matters.
ONCE_SUITE=once
# Nothing in these starts a thread; the suites recording and cli run the libraries on several.
SINGLE_THREADED_SUITES=(libjfr libstackagg catalogue config contract diagnosis)
SANITIZED=(-Db_lundef=false)

# Prints the build directory of a lane.
lane_directory() {
    case $1 in
    unit-asan | tidy) echo build-asan ;;
    tsan) echo build-tsan ;;
    *) echo build ;;
    esac
}

# Builds a lane's directory, once a run.
build_directory() {
    [[ -z ${built[$1]:-} ]] || return "${built[$1]}"
    compile_directory "$1" && built[$1]=0 || built[$1]=1
    return "${built[$1]}"
}

compile_directory() {
    case $1 in
    build-asan) build_tree "$1" CC=clang-14 -Db_sanitize=address,undefined "${SANITIZED[@]}" ;;
    build-tsan) build_tree "$1" -Db_sanitize=thread "${SANITIZED[@]}" ;;
    *) build_tree "$1" ;;
    esac
}

# Prints how many of a lane's tests run at the same time; tests of the whole product mostly wait.
lane_jobs() {
    case $1 in
    e2e) echo $((2 * $(jobs_count))) ;;
    *) jobs_count ;;
    esac
}

# The arguments of meson test that select a lane's tests, one a line.
lane_selection() {
    case $1 in
    unit) printf -- '--no-suite=%s\n' "${OTHER_SUITES[@]}" ;;
    unit-asan | tsan)
        printf -- '--no-suite=%s\n' "${OTHER_SUITES[@]}" "$ONCE_SUITE"
        [[ $1 != tsan ]] || printf -- '--no-suite=%s\n' "${SINGLE_THREADED_SUITES[@]}"
        echo --timeout-multiplier=5
        ;;
    *) echo "--suite=$1" ;;
    esac
}

meson_test() {
    local dir=$HOTSTACK_ROOT/$1 jobs=$2
    shift 2
    rm -f "$dir"/meson-logs/lane-*.json
    env TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}" \
        meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes "$jobs" "$@"
}

run_lane() {
    local lane=$1 dir select=() status start=$SECONDS
    dir=$(lane_directory "$lane")
    mapfile -t select < <(lane_selection "$lane")
    if ! build_directory "$dir"; then
        echo "the build failed" >"$results/$lane.error"
        return
    fi
    say_step "testing $lane"
    {
        meson_test "$dir" "$(lane_jobs "$lane")" --logbase "lane-$lane" "${select[@]}" 2>&1 && status=0 || status=$?
        echo "$status" >"$results/$lane.status"
    } | grep -v '^Full log written to' || true
    cp "$HOTSTACK_ROOT/$dir/meson-logs/lane-$lane.json" "$results/$lane.json" 2>/dev/null ||
        echo "no test ran" >"$results/$lane.error"
    echo $((SECONDS - start)) >"$results/$lane.seconds"
}

list_suites() {
    dependencies build
    build_directory build || exit 1
    printf 'lanes:\n'
    printf '  %s\n' "${LANES[@]}"
    printf 'suites of meson:\n'
    meson introspect "$HOTSTACK_ROOT/build" --tests |
        python3 -c 'import json, sys
for s in sorted({s.split(":")[-1] for t in json.load(sys.stdin) for s in t["suite"]}): print("  " + s)'
}

declare -gA built=()

command_test() {
    local lanes=() argument
    for argument in "$@"; do
        case $argument in
        -h | --help) test_usage; return ;;
        --list) list_suites; return ;;
        -*) die_usage "unknown option '$argument'; see ./dev test --help" ;;
        *) lanes+=("$argument") ;;
        esac
    done
    ((${#lanes[@]})) || lanes=("${LANES[@]}")
    dependencies test
    [[ " ${lanes[*]} " != *" k8s "* ]] || dependencies kubernetes
    results=$(mktemp -d)
    trap 'rm -rf "$results"' EXIT
    local lane
    for lane in "${lanes[@]}"; do run_lane "$lane"; done
    python3 "$HOTSTACK_ROOT/tests/support/tally.py" \
        --allowed-skips "$HOTSTACK_ROOT/tests/allowed-skips.txt" "$results" "${lanes[@]}"
}
