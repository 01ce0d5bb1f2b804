# shellcheck shell=bash
# ./dev bench

bench_usage() {
    cat <<'USAGE'
usage: ./dev bench [NAME...]

Builds an optimised tree into build-bench/ and runs meson's benchmarks, or only those named, one
at a time. Each measures ours and a peer in the same run on the same data and prints the ratio;
it fails when the ratio misses its target. Close other programs first.
USAGE
}

command_bench() {
    case ${1:-} in
    -h | --help) bench_usage; return ;;
    -*) die_usage "unknown option '$1'; see ./dev bench --help" ;;
    esac
    dependencies test
    build_tree build-bench -Dbuildtype=release || exit 1
    say_step "measuring"
    meson test -C "$HOTSTACK_ROOT/build-bench" --no-rebuild --benchmark --verbose --num-processes 1 "$@"
}
