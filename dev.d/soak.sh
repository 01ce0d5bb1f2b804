# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev soak: what takes hours.

soak_usage() {
    cat <<'USAGE'
usage: ./dev soak [--hours N]

The long tests, for N hours or a little more (default 2), ends with status 1 at the first fault:
  1. every unit test again and again, sanitised: half of the time for AddressSanitizer with
     UBSan, half for ThreadSanitizer, in a quarter of N
  2. each fuzzer in turn, in half of N, or until all runs of its program have done ten million
     executions
  3. meson's suite "soak", where rooms keep their own long tests
  4. the sanitised command line on damaged inputs, in an eighth of N
USAGE
}

# repeat_until SECONDS COMMAND...: runs the command until the time is over, at least once.
repeat_until() {
    local end=$((SECONDS + $1)) rounds=0
    shift
    while ((rounds == 0 || SECONDS < end)); do
        "$@" || return 1
        rounds=$((rounds + 1))
    done
    say_note "$rounds rounds"
}

# The lane of ./dev test, with the runner's word only.
sanitised_round() {
    local select=()
    mapfile -t select < <(lane_selection "$1")
    meson_test "$(lane_directory "$1")" "$(jobs_count)" "${select[@]}"
}

command_soak() {
    local hours=2
    while (($#)); do
        case $1 in
        -h | --help) soak_usage; return ;;
        --hours) hours=${2:?--hours needs a number}; shift 2 ;;
        *) die_usage "unknown argument '$1'; see ./dev soak --help" ;;
        esac
    done
    [[ $hours =~ ^[1-9][0-9]*$ ]] || die_usage "--hours takes a whole number from 1, not '$hours'"
    # shellcheck source=dev.d/test.sh
    . "$HOTSTACK_ROOT/dev.d/test.sh"
    # shellcheck source=dev.d/fuzz.sh
    . "$HOTSTACK_ROOT/dev.d/fuzz.sh"
    dependencies test

    local lane total=$((hours * 3600)) fuzzers
    for lane in unit-asan tsan; do
        build_directory "$(lane_directory "$lane")" || exit 1
        say_step "soaking $lane"
        repeat_until $((total / 8)) sanitised_round "$lane" || die "$lane failed; see above"
    done

    build_fuzzers
    mapfile -t fuzzers < <(list_fuzzers)
    command_fuzz --seconds $((total / 2 / ${#fuzzers[@]})) --executions 10000000

    build_directory build || exit 1
    say_step "soaking: the suite soak"
    HOTSTACK_SOAK_SECONDS=$((total / 4)) meson_test build "$(jobs_count)" --suite soak --timeout-multiplier 0 ||
        die "the suite soak failed; see above"
    HOTSTACK_SOAK_SECONDS=$((total / 8)) meson_test "$(lane_directory unit-asan)" 1 --suite soak soak-mutants --timeout-multiplier 0 ||
        die "the command line fails on damaged inputs; see above"
}
