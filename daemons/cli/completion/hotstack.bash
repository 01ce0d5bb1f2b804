# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# bash completion for hotstack

_hotstack_jvms() {
    hotstack ps 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The program itself knows its commands.
_hotstack_commands() {
    hotstack --help 2>/dev/null | awk '/^  [a-z]+  / { print $1 }'
}

# And each command its options.
_hotstack_options() {
    hotstack "$@" --help 2>/dev/null | awk '/^ +-/ { while (match($0, /--[a-z-]+/)) { print substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }'
}

_hotstack() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_hotstack_commands) --help --version" -- "$current")
        return
    fi
    case $command:$previous in
    profile:-e | profile:--events) mapfile -t COMPREPLY < <(compgen -W "cpu alloc lock wall live nativemem cpu,alloc,lock" -- "$current") && return ;;
    profile:--engine) mapfile -t COMPREPLY < <(compgen -W "auto async-profiler jfr" -- "$current") && return ;;
    top:--by) mapfile -t COMPREPLY < <(compgen -W "self total" -- "$current") && return ;;
    profile:-f | profile:--file) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
    profile:-d | profile:--duration | threads:-d | threads:--duration | profile:-t | profile:--type) return ;;
    esac
    case $command in
    attach) mapfile -t COMPREPLY < <(compgen -W "status --json --help $(_hotstack_jvms)" -- "$current") ;;
    collector) mapfile -t COMPREPLY < <(compgen -W "status --json --help" -- "$current") ;;
    doctor | jcmd) mapfile -t COMPREPLY < <(compgen -W "--json --help $(_hotstack_jvms)" -- "$current") ;;
    ps) mapfile -t COMPREPLY < <(compgen -W "--json --help" -- "$current") ;;
    profile)
        mapfile -t COMPREPLY < <(compgen -W "--duration --events --file --type --engine --loop --help $(_hotstack_jvms)" -- "$current")
        ;;
    threads)
        mapfile -t COMPREPLY < <(compgen -W "--duration --watch --json --busy --top --stacks --depth --pause --max-threads --full --synchronizers --contention --help $(_hotstack_jvms)" -- "$current")
        ;;
    convert | diff | jfr | top)
        local -a words=("$command")
        if [[ $command == jfr ]] && ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W "$(hotstack jfr --help 2>/dev/null | awk '/^  [a-z]+  / { print $1 }')" -- "$current")
            return
        fi
        [[ $command == jfr ]] && words+=("${COMP_WORDS[2]}")
        [[ $current == -* ]] && mapfile -t COMPREPLY < <(compgen -W "$(_hotstack_options "${words[@]}")" -- "$current")
        [[ $current == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}

complete -F _hotstack hotstack
