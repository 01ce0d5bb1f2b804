# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# bash completion for hotstack: the program itself knows what may follow.

_hotstack() {
    mapfile -t COMPREPLY < <(hotstack __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
    [[ ${COMPREPLY[*]} == :files ]] || return 0
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
}

complete -F _hotstack hotstack
