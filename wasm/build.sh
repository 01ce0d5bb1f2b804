#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a library into one WebAssembly module, a WASI reactor: it has no main, the host calls
# _initialize once and then the functions of the library's version map, malloc and free.
#
# usage: build.sh CC OUT DEPFILE MAP "LEFT_OUT..." FLAG... -- SOURCE...
#   LEFT_OUT   functions of the map that make no sense without files or threads
set -eu
cc=$1 out=$2 depfile=$3 map=$4 left_out=$5
shift 5
flags=
while [ "$1" != -- ]; do
  flags="$flags $1"
  shift
done
shift
exports='-Wl,--export=malloc -Wl,--export=free'
names=$(sed -n '/global:/,/local:/s/^ *\([a-z_0-9]*\);$/\1/p' "$map")
for name in $names; do
  case " $left_out " in
    *" $name "*) ;;
    *) exports="$exports -Wl,--export=$name" ;;
  esac
done
target='--target=wasm32-wasi -std=gnu11 -O2 -D_GNU_SOURCE -fvisibility=hidden -Wall -Wextra -Werror'
# shellcheck disable=SC2086 # lists of words
"$cc" $target $flags -MM -MT "$out" "$@" >"$depfile"
# shellcheck disable=SC2086
exec "$cc" $target $flags "$@" -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all $exports -o "$out"
