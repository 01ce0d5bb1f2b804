#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs async-profiler for the host's CPU: install-profiler.sh FOLDER CPU LIBDIR, called by meson install.
set -eu
case $2 in
x86_64) library=$1/linux-x64/libasyncProfiler.so ;;
aarch64) library=$1/linux-arm64/libasyncProfiler.so ;;
*) library= ;;
esac
if [ ! -f "$library" ]; then
    echo "libasyncProfiler.so is not installed: there is none for $2 in $1. deploy/dependencies/install profiler fetches it." >&2
    exit 0
fi
mkdir -p "$MESON_INSTALL_DESTDIR_PREFIX/$3"
install -m 755 "$library" "$MESON_INSTALL_DESTDIR_PREFIX/$3/libasyncProfiler.so"
