#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the page's template into a source distribution, whose users have no Node to build it: dist_template.sh TEMPLATE
set -e
cp "$1" "$MESON_DIST_ROOT/bindings/python/hotstack/flamegraph.html"
