# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev install

install_usage() {
    cat <<'USAGE'
usage: ./dev install [--prefix P] [--destdir D] [--with-store]

Builds an optimised tree into build-install/ and installs the whole product: programs,
async-profiler, the thread agent, page templates and the UI, libraries with headers and
pkg-config files, manual pages, licences. It works where it lies, without LD_LIBRARY_PATH.
  --prefix P    where it will live (default /usr/local)
  --destdir D   copy below D instead of /, for packaging
  --with-store  also the embedded store, libchdb.so (566 MB, x86-64): what hotstack-backend
                uses without a ClickHouse server
USAGE
}

command_install() {
    local prefix=/usr/local destdir='' with_store='' options
    while (($#)); do
        case $1 in
        -h | --help) install_usage; return ;;
        --prefix) prefix=${2:?--prefix needs a directory}; shift 2 ;;
        --prefix=*) prefix=${1#*=}; shift ;;
        --destdir) destdir=${2:?--destdir needs a directory}; shift 2 ;;
        --destdir=*) destdir=${1#*=}; shift ;;
        --with-store) with_store=1; shift ;;
        *) die_usage "unknown argument '$1'; see ./dev install --help" ;;
        esac
    done
    [[ $prefix == /* ]] || prefix=$PWD/$prefix
    [[ -z $destdir || $destdir == /* ]] || destdir=$PWD/$destdir
    dependencies profiler ${with_store:+store}
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
    if [[ -n $with_store ]]; then install_store "$target"; fi
    say_good "installed; list: $HOTSTACK_ROOT/build-install/meson-logs/install-log.txt"
}

# install_store TARGET: the embedded store beside the other libraries of the installed tree.
install_store() {
    local library=$HOTSTACK_CACHE/chdb/libchdb.so worker
    [[ -f $library ]] || die "there is no $library: the embedded store exists for x86-64 only"
    worker=$(find "$1" -path '*/hotstack/libasyncProfiler.so' | head -n 1)
    [[ -n $worker ]] || die "libasyncProfiler.so was not installed: see deploy/dependencies/install"
    cp "$library" "${worker%/*}/"
}
