# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The messages of ./dev and the dependency script: one progress line per step, colour only on a terminal.
# Sourced; needs bash only. Everything here goes to stderr, so that a command's own output stays clean.

SAY_SINCE=${SAY_SINCE:-$SECONDS}

if [[ -t 2 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
    SAY_BOLD=$'\e[1m' SAY_RED=$'\e[31m' SAY_YELLOW=$'\e[33m' SAY_GREEN=$'\e[32m' SAY_OFF=$'\e[0m'
else
    SAY_BOLD='' SAY_RED='' SAY_YELLOW='' SAY_GREEN='' SAY_OFF=''
fi

say_clock() {
    local t=$((SECONDS - SAY_SINCE))
    printf '%d:%02d' $((t / 60)) $((t % 60))
}

say_step() { printf '%s==> [%s] %s%s\n' "$SAY_BOLD" "$(say_clock)" "$*" "$SAY_OFF" >&2; }
say_note() { printf '    %s\n' "$*" >&2; }
say_good() { printf '    %s%s%s\n' "$SAY_GREEN" "$*" "$SAY_OFF" >&2; }
say_warn() { printf '%swarning: %s%s\n' "$SAY_YELLOW" "$*" "$SAY_OFF" >&2; }

die() {
    printf '%serror: %s%s\n' "$SAY_RED" "$*" "$SAY_OFF" >&2
    exit 1
}

# One line on a terminal's help for a wrong command line.
die_usage() {
    printf '%serror: %s%s\n' "$SAY_RED" "$*" "$SAY_OFF" >&2
    exit 2
}
