# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev fmt

fmt_usage() {
    cat <<'USAGE'
usage: ./dev fmt [--check]

Formats all C sources and headers with clang-format 14 and the tree's .clang-format.
  --check   change nothing; name the files that differ and exit 1
USAGE
}

command_fmt() {
    local mode=(-i)
    case ${1:-} in
    -h | --help) fmt_usage; return ;;
    --check) mode=(--dry-run --Werror) ;;
    '') ;;
    *) die_usage "unknown argument '$1'; see ./dev fmt --help" ;;
    esac
    command -v clang-format-14 >/dev/null || dependencies test
    git -C "$HOTSTACK_ROOT" ls-files -z '*.c' '*.h' | (cd "$HOTSTACK_ROOT" && xargs -0 -r clang-format-14 "${mode[@]}")
}
