#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests the UI outside the source tree.
#
#   build.sh build OUT    flamegraph.html and ui/ (the app's assets) into OUT
#   build.sh template OUT flamegraph.html alone, without the app
#   build.sh unit OUT     unit tests of what was built into OUT
#   build.sh smoke OUT    the built pages in headless Chromium; exit 77 without one
#   build.sh golden OUT   their pictures beside those in app/tests/golden; exit 77 without Chromium or the font
#   build.sh packages     npm packages into the cache; prints the directory that holds their node_modules
#
# npm packages are installed once per lock file into $HOTSTACK_CACHE (default ~/.cache/hotstack). NODE names the node to use.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
command=${1:?usage: build.sh build|template|unit|smoke|golden OUT}
node=${NODE:-node}
case $node in */*) PATH=$(dirname "$node"):$PATH ;; esac
cache=${HOTSTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hotstack}

# Prints the directory that holds node_modules for this lock file, after filling it if need be. Two builds may race: the first rename wins.
packages() {
  local key dir fresh
  key=$(cat "$here/package.json" "$here/package-lock.json" | sha256sum | cut -c1-16)-$(node -p 'process.platform + "-" + process.arch')
  dir=$cache/npm/$key
  if [ ! -d "$dir/node_modules" ]; then
    mkdir -p "$cache/npm"
    fresh=$(mktemp -d "$cache/npm/.fresh.XXXXXX")
    cp "$here/package.json" "$here/package-lock.json" "$fresh/"
    echo "ui: installing npm packages (about 140 MB) into $dir" >&2
    if ! (cd "$fresh" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2); then
      rm -rf "$fresh"
      echo "ui: npm ci failed. Without network, configure with -Dui=disabled: all but the web UI and HTML export is then built." >&2
      exit 1
    fi
    mv -T "$fresh" "$dir" 2>/dev/null || rm -rf "$fresh"
  fi
  echo "$dir"
}

# A copy of the sources beside the packages: tools resolve modules from where the sources stand, and the source tree stays clean.
stage_sources() {
  local packages
  packages=$(packages)
  rm -rf "$stage"
  mkdir -p "$stage"
  for entry in flamegraph app tests package.json tsconfig.json vitest.config.ts vitest.smoke.config.ts vitest.golden.config.ts; do
    cp -r "$here/$entry" "$stage/"
  done
  ln -s "$packages/node_modules" "$stage/node_modules"
}

build() {
  stage_sources
  cd "$stage"
  node node_modules/typescript/bin/tsc --noEmit
  HOTSTACK_UI_OUT=$stage/dist node flamegraph/build.mjs
  HOTSTACK_UI_OUT=$stage/dist node node_modules/vite/bin/vite.js build --config app/vite.config.ts --logLevel warn
  rm -rf "$out/ui"
  cp dist/flamegraph/flamegraph.html dist/flamegraph/heatmap.html "$out/"
  cp -r dist/app "$out/ui"
}

template() {
  stage_sources
  cd "$stage"
  HOTSTACK_UI_OUT=$stage/dist node flamegraph/build.mjs
  cp dist/flamegraph/flamegraph.html "$out/"
}

if [ "$command" = packages ]; then
  packages
  exit 0
fi
out=$(cd "${2:?OUT is missing}" && pwd)
stage=$out/stage

case $command in
  build) build ;;
  template) template ;;
  unit) cd "$stage" && exec node node_modules/vitest/vitest.mjs run ;;
  smoke | golden)
    export HOTSTACK_CHROMIUM=${HOTSTACK_CHROMIUM:-/usr/bin/chromium}
    if [ ! -x "$HOTSTACK_CHROMIUM" ]; then
      echo "SKIP: no Chromium at $HOTSTACK_CHROMIUM; apt-get install chromium, or set HOTSTACK_CHROMIUM"
      exit 77
    fi
    if [ "$command" = golden ] && ! fc-list | grep -q DejaVuSans.ttf; then
      echo "SKIP: no font DejaVu Sans; apt-get install fonts-dejavu-core"
      exit 77
    fi
    export HOTSTACK_GOLDEN_KEPT=$here/app/tests/golden HOTSTACK_GOLDEN_FAILED=$out/golden-failed
    cd "$stage" && exec node node_modules/vitest/vitest.mjs run --config "vitest.$command.config.ts"
    ;;
  *)
    echo "build.sh: unknown command $command" >&2
    exit 2
    ;;
esac
