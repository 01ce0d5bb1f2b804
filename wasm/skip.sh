#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Skips a test of WebAssembly where its tools are missing.
echo "1..0 # SKIP clang-14, wasm-ld-14, wasi-libc or node is missing: run deploy/dependencies/install test"
