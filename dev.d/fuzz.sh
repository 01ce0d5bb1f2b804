# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev fuzz. A fuzzer is any program of the build that libFuzzer is linked into.

FUZZ_SLICE=180  # seconds
FUZZ_BYTES=4096 # an input's length, where the committed corpus has none that is longer

fuzz_usage() {
    cat <<'USAGE'
usage: ./dev fuzz [--seconds N] [--executions N] [--list] [TARGET...]

Builds the libFuzzer targets (clang 14, AddressSanitizer and UBSan) into build-fuzz/ and runs
each, one after the other, or only those named:
  --seconds N      for N seconds (default 60, without --executions)
  --executions N   until the program has done N executions in all its runs: run it again and it
                   goes on; a program that was built anew begins anew. With --seconds too, each
                   ends at whichever comes first
A line every three minutes tells how far it is, and one at its end what it came to. What it learns is kept
under $HOTSTACK_CACHE/fuzz/TARGET; the committed corpus (fuzz/corpus beside the target's source)
is its start. A crash leaves its input in the current directory and ends with status 1.
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

# A fuzzer holds the libraries that it tests: it is run from a copy, and its checksum tells what it tested.
build_fuzzers() {
    dependencies test
    build_tree build-fuzz CC=clang-14 -Dfuzz=true -Dtests=disabled -Dui=disabled -Ddefault_library=static \
        -Db_sanitize=address,undefined -Db_lundef=false || exit 1
}

# Prints the seeds of NAME, whose source is in the directory SOURCES: the committed corpus that is named
# as it is (jfr_fuzz_header: corpus/header, corpus/fuzz_header), else all; and the fixtures of the tests.
fuzz_seeds() {
    local directory base best=''
    for directory in "$2"/corpus/*/; do
        base=$(basename "$directory")
        [[ $1 != *"$base"* || ${#base} -le ${#best} ]] || best=$base
    done
    for directory in "$2/corpus/$best" "$2/../tests/data"; do
        [[ ! -d $directory ]] || echo "$directory"
    done
}

# The number behind WORD in the log of a run: "stat::number_of_executed_units: 71", "cov: 12".
fuzz_figure() { sed -n "s/.*$2:* *(*\([0-9][0-9]*\).*/\1/p" "$1" | tail -n 1; }

# How long a fuzzer's inputs may be, by its committed corpus in DIRECTORY ('' = it has none). Longer fixtures are cut: time grows
# with length, what is reached does not.
fuzz_bytes() {
    local bytes
    [[ -z $1 ]] || bytes=$(find "$1" -type f -printf '%s\n' | sort -n | tail -n 1)
    echo $((${bytes:-0} > FUZZ_BYTES ? bytes : FUZZ_BYTES))
}

# fuzz_slice SECONDS EXECUTIONS PROGRAM LEARNT SEEDS...: one run, its words in LEARNT.log.
fuzz_slice() {
    local seconds=$1 runs=$2 program=$3 learnt=$4
    shift 4
    # Entropic scheduling costs a third of the time where an input reaches thousands of edges. A quarantine
    # that holds what an execution frees is enough, and stays in the CPU's cache, as does memory that is kept.
    # A second run of a faulty input shows where its memory was allocated.
    # An input may take long on a machine that does much else: its clock is the wall's.
    local asan=quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=0
    ASAN_OPTIONS=$asan:allocator_release_to_os_interval_ms=-1 "$program" -max_total_time="$seconds" -runs="$runs" -entropic=0 \
        -max_len="$(fuzz_bytes "${1:-}")" -rss_limit_mb=2048 -timeout=300 -print_final_stats=1 "$learnt" "$@" \
        >"$learnt.log" 2>&1
}

# Prints how many executions PROGRAM (its checksum) has done, as FILE says.
fuzz_count() {
    local known count
    if [[ -f $2 ]] && read -r known count <"$2" && [[ $known == "$1" ]]; then echo "$count"; else echo 0; fi
}

# run_fuzzer SECONDS EXECUTIONS NAME PROGRAM SOURCES; empty: no limit. A long run is made of short
# ones, so that one that is ended from outside has lost little of its count.
run_fuzzer() {
    local seconds=$1 executions=$2 name=$3 learnt=$HOTSTACK_CACHE/fuzz/$3 began=$SECONDS crashes=0
    local seeds identity total=0 left count
    mkdir -p "$learnt"
    mapfile -t seeds < <(fuzz_seeds "$name" "$5")
    cp -f "$4" "$learnt.program" # a build may replace it meanwhile
    identity=$(sha256sum <"$4" | cut -c -64)
    [[ -z $executions ]] || total=$(fuzz_count "$identity" "$learnt.count")
    say_step "fuzzing $name${seconds:+ for $seconds s}${executions:+ up to $executions executions}"
    while ((!crashes)) && ((!executions || total < executions)) && ((!seconds || SECONDS - began < seconds)); do
        left=$((seconds ? seconds - (SECONDS - began) : FUZZ_SLICE))
        fuzz_slice $((left < FUZZ_SLICE ? left : FUZZ_SLICE)) $((executions ? executions - total : -1)) \
            "$learnt.program" "$learnt" "${seeds[@]}" || crashes=1
        count=$(fuzz_figure "$learnt.log" number_of_executed_units)
        total=$((total + ${count:-0}))
        echo "$identity $total" >"$learnt.count"
        say_note "$total executions, $(fuzz_figure "$learnt.log" cov) edges"
    done
    rm -f "$learnt.program"
    echo "$name: $total executions, $(fuzz_figure "$learnt.log" cov) of $(fuzz_figure "$learnt.log" 'PC tables') edges," \
        "corpus of $(find "$learnt" -type f | wc -l) inputs, $crashes crashes"
    ((!crashes)) || { tail -n 60 "$learnt.log" >&2; return 1; }
}

command_fuzz() {
    local seconds='' executions='' wanted=() listed='' name program sources ran=0
    while (($#)); do
        case $1 in
        -h | --help) fuzz_usage; return ;;
        --seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
        --executions) executions=${2:?--executions needs a number}; shift 2 ;;
        --list) listed=1; shift ;;
        -*) die_usage "unknown option '$1'; see ./dev fuzz --help" ;;
        *) wanted+=("$1"); shift ;;
        esac
    done
    [[ -n $seconds || -n $executions ]] || seconds=60
    [[ ${seconds:-1}${executions:-1} =~ ^[0-9]+$ ]] || die_usage "--seconds and --executions take whole numbers"
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
        run_fuzzer "$seconds" "$executions" "$name" "$program" "$sources" || die "$name found a fault; its input is in $PWD"
        ran=$((ran + 1))
    done
    [[ -n $listed ]] || ((ran)) || die "no such fuzzer: ${wanted[*]}; ./dev fuzz --list names them"
}
