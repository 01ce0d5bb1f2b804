# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev install

install_usage() {
    cat <<'USAGE'
usage: ./dev install [--prefix P] [--destdir D]

Builds an optimised tree into build-install/ and installs programs, libraries, headers,
pkg-config files, manual pages and the UI's files.
  --prefix P    where it will live (default /usr/local)
  --destdir D   copy below D instead of /, for packaging
USAGE
}

command_install() {
    local prefix=/usr/local destdir='' options
    while (($#)); do
        case $1 in
        -h | --help) install_usage; return ;;
        --prefix) prefix=${2:?--prefix needs a directory}; shift 2 ;;
        --prefix=*) prefix=${1#*=}; shift ;;
        --destdir) destdir=${2:?--destdir needs a directory}; shift 2 ;;
        --destdir=*) destdir=${1#*=}; shift ;;
        *) die_usage "unknown argument '$1'; see ./dev install --help" ;;
        esac
    done
    [[ $prefix == /* ]] || prefix=$PWD/$prefix
    [[ -z $destdir || $destdir == /* ]] || destdir=$PWD/$destdir
    dependencies build
    mapfile -t options < <(release_options)
    build_tree build-install --prefix "$prefix" "${options[@]}" || exit 1
    local target=${destdir%/}$prefix
    if ! mkdir -p "$target" 2>/dev/null || [[ ! -w $target ]]; then
        die "cannot write to $target: give another --prefix or --destdir, or run as root"
    fi
    say_step "installing into $target"
    logged "$HOTSTACK_ROOT/build-install/install.log" \
        env DESTDIR="$destdir" meson install --no-rebuild -C "$HOTSTACK_ROOT/build-install" ||
        { show_log "$HOTSTACK_ROOT/build-install/install.log" "installing failed"; exit 1; }
    say_good "installed; list: $HOTSTACK_ROOT/build-install/meson-logs/install-log.txt"
}
