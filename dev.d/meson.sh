# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Build directories: set up once, rebuilt in place. Sourced by ./dev.

dependencies() { "$HOTSTACK_ROOT/deploy/dependencies/install" "$@"; }

# build_tree DIR [CC=...] [MESON OPTION...]: configures DIR when it is new or when its options
# changed, then compiles it. Output of a good build is one line; of a bad one, all of it.
build_tree() {
    local dir=$HOTSTACK_ROOT/$1 name=$1 compiler=() want log
    shift
    if [[ ${1:-} == CC=* ]]; then
        compiler=("$1")
        shift
    fi
    want="${compiler[*]} $*"
    log=$dir.log
    say_step "building $name${compiler[*]:+ (${compiler[*]#CC=})}"
    configure_tree "$dir" "$want" "$log" "${compiler[@]}" -- "$@" ||
        { show_log "$log" "meson setup of $name failed"; return 1; }
    logged "$log" ninja -j "$(jobs_count)" -C "$dir" || { show_log "$log" "the build of $name failed"; return 1; }
    rm -f "$log"
}

# Prints the options of an optimised tree, one a line. Warnings are no errors there: they differ from one compiler
# and optimisation to the next. Clang's link-time optimisation wants a linker of its own.
release_options() {
    printf '%s\n' -Dbuildtype=release -Dtests=disabled -Dwerror=false
    [[ $(${CC:-cc} --version) == *clang* ]] || echo -Db_lto=true
}

# A build directory that somebody set up by hand is taken as it is.
configure_tree() {
    local dir=$1 want=$2 log=$3 compiler=()
    shift 3
    while [[ $1 != -- ]]; do compiler+=("$1"); shift; done
    shift
    if [[ -f $dir/build.ninja ]]; then
        [[ -f $dir/.dev-options && $(<"$dir/.dev-options") != "$want" ]] || return 0
        rm -rf "$dir" # meson's own --wipe would keep the old options
    fi
    logged "$log" env "${compiler[@]}" meson setup -Dasync_profiler="$HOTSTACK_CACHE/async-profiler" "$@" "$dir" "$HOTSTACK_ROOT" || return 1
    printf '%s' "$want" >"$dir/.dev-options"
}

logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1
}

show_log() {
    grep -v '^\[[0-9]*/[0-9]*\] \(Compiling\|Linking\|Generating\)' "$1" | tail -n 80 >&2
    say_warn "$2 (all of it: $1)"
}

jobs_count() { printf '%s' "${HOTSTACK_JOBS:-$(nproc)}"; }
