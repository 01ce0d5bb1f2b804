#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles C for WebAssembly: the sources of one library into one object, with the include folders of that library
# alone, or the module itself.
#
# usage: build.sh CC OUT DEPFILE FLAG... -- SOURCE...
set -eu
cc=$1 out=$2 depfile=$3
shift 3
flags=
while [ "$1" != -- ]; do
  flags="$flags $1"
  shift
done
shift
target='--target=wasm32-wasi -std=gnu11 -Os -D_GNU_SOURCE -fvisibility=hidden -Wall -Wextra -Werror -Wno-unused-command-line-argument'
# shellcheck disable=SC2086 # lists of words
"$cc" $target $flags -MM -MT "$out" "$@" >"$depfile"
# shellcheck disable=SC2086
exec "$cc" $target $flags "$@" -o "$out"
