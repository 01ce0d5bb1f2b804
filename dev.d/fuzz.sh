# shellcheck shell=bash
# ./dev fuzz. A fuzzer is any program of the build that libFuzzer is linked into.

fuzz_usage() {
    cat <<'USAGE'
usage: ./dev fuzz [--seconds N] [--list] [TARGET...]

Builds the libFuzzer targets (clang 14, AddressSanitizer and UBSan) into build-fuzz/ and runs
each for N seconds (default 60), one after the other, or only those named. What it learns is
kept under $HOTSTACK_CACHE/fuzz/TARGET; the committed corpus (fuzz/corpus beside the target's
source) is its start. A crash leaves its input in the current directory and ends with status 1.
USAGE
}

# Prints "name<TAB>program<TAB>directory of its source" of each fuzzer in build-fuzz.
list_fuzzers() {
    meson introspect "$HOTSTACK_ROOT/build-fuzz" --targets | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    if target["type"] != "executable":
        continue
    program = target["filename"][0]
    with open(program, "rb") as file:
        if b"LLVMFuzzerRunDriver" not in file.read():
            continue
    sources = [s for part in target["target_sources"] for s in part.get("sources", [])]
    print(target["name"], program, os.path.dirname(sources[0]), sep="\t")'
}

build_fuzzers() {
    dependencies test
    build_tree build-fuzz CC=clang-14 -Dfuzz=true -Dtests=disabled -Dui=disabled \
        -Db_sanitize=address,undefined -Db_lundef=false || exit 1
}

# run_fuzzer SECONDS NAME PROGRAM SOURCES
run_fuzzer() {
    local learnt=$HOTSTACK_CACHE/fuzz/$2 seeds=() directory
    mkdir -p "$learnt"
    for directory in "$4/corpus/$2" "$4/corpus"; do
        if [[ -d $directory ]]; then
            seeds=("$directory")
            break
        fi
    done
    say_step "fuzzing $2 for $1 s"
    "$3" -max_total_time="$1" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 "$learnt" "${seeds[@]}"
}

command_fuzz() {
    local seconds=60 wanted=() listed='' name program sources ran=0
    while (($#)); do
        case $1 in
        -h | --help) fuzz_usage; return ;;
        --seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
        --list) listed=1; shift ;;
        -*) die_usage "unknown option '$1'; see ./dev fuzz --help" ;;
        *) wanted+=("$1"); shift ;;
        esac
    done
    build_fuzzers
    local fuzzers
    mapfile -t fuzzers < <(list_fuzzers)
    local fuzzer
    for fuzzer in "${fuzzers[@]}"; do
        IFS=$'\t' read -r name program sources <<<"$fuzzer"
        if [[ -n $listed ]]; then
            echo "$name"
            continue
        fi
        [[ ${#wanted[@]} == 0 || " ${wanted[*]} " == *" $name "* ]] || continue
        run_fuzzer "$seconds" "$name" "$program" "$sources" || die "$name found a fault; its input is in $PWD"
        ran=$((ran + 1))
    done
    [[ -n $listed ]] || ((ran)) || die "no such fuzzer: ${wanted[*]}; ./dev fuzz --list names them"
}
