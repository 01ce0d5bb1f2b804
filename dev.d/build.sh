# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev build

build_usage() {
    cat <<'USAGE'
usage: ./dev build [MESON OPTION...]

Installs what a build needs, then builds libraries, daemons, the hotstack program and the web
UI into build/. Options go to meson, for example -Dui=disabled or -Dbuildtype=release.
HOTSTACK_JOBS=N bounds the parallel compilers (default: all cores).
USAGE
}

command_build() {
    case ${1:-} in -h | --help) build_usage; return ;; esac
    dependencies build
    build_tree build "$@" || exit 1
    say_good "built: $HOTSTACK_ROOT/build"
}
