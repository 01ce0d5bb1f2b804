# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev bench

bench_usage() {
    cat <<'USAGE'
usage: ./dev bench [--quick] [--no-page] [NAME...]

Installs an optimised build into build-bench/stage, makes the recordings it needs (once, minutes, in
$HOTSTACK_CACHE/bench), and measures the installed programs and their peers in one run: all benchmarks,
or only those named. Prints their tables, writes them to docs/benchmarks.md, and fails when a target is
missed, by how much it says. Close other programs first.

  --quick     fewer recordings, rounds and peers
  --no-page   leave docs/benchmarks.md as it is
  --list      name the benchmarks
USAGE
}

bench_build() {
    local options
    mapfile -t options < <(release_options)
    build_tree build-bench --prefix "$HOTSTACK_ROOT/build-bench/stage" "${options[@]}" || return 1
    logged "$HOTSTACK_ROOT/build-bench/install.log" meson install --no-rebuild -C "$HOTSTACK_ROOT/build-bench" ||
        { show_log "$HOTSTACK_ROOT/build-bench/install.log" "installing failed"; return 1; }
}

command_bench() {
    local program=$HOTSTACK_ROOT/tests/bench/bench.py
    case ${1:-} in
    -h | --help) bench_usage; return ;;
    --list) python3 "$program" --list; return ;;
    esac
    python3 "$program" --check "$@" || exit 2
    dependencies bench
    bench_build || exit 1
    say_step "measuring"
    HOTSTACK_BENCH_BUILD=$HOTSTACK_ROOT/build-bench python3 "$program" "$@"
}
