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

_hotstack() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_hotstack_commands) --help --version" -- "$current")
        return
    fi
    case $command:$previous in
    profile:-e | profile:--events) mapfile -t COMPREPLY < <(compgen -W "cpu alloc lock cpu,alloc,lock" -- "$current") && return ;;
    profile:--engine) mapfile -t COMPREPLY < <(compgen -W "auto async-profiler jfr" -- "$current") && return ;;
    top:--by) mapfile -t COMPREPLY < <(compgen -W "self total" -- "$current") && return ;;
    profile:-f | profile:--file) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
    profile:-d | profile:--duration | threads:-d | threads:--duration | profile:-t | profile:--type) return ;;
    esac
    case $command in
    attach) mapfile -t COMPREPLY < <(compgen -W "status --json --help $(_hotstack_jvms)" -- "$current") ;;
    doctor | jcmd) mapfile -t COMPREPLY < <(compgen -W "--json --help $(_hotstack_jvms)" -- "$current") ;;
    ps) mapfile -t COMPREPLY < <(compgen -W "--json --help" -- "$current") ;;
    profile)
        mapfile -t COMPREPLY < <(compgen -W "--duration --events --file --type --engine --loop --help $(_hotstack_jvms)" -- "$current")
        ;;
    threads)
        mapfile -t COMPREPLY < <(compgen -W "--duration --watch --json --top --stacks --depth --pause --max-threads --full --synchronizers --contention --help $(_hotstack_jvms)" -- "$current")
        ;;
    top)
        mapfile -t COMPREPLY < <(compgen -W "--type --rows --by --json --thread --from --to --state --raw-names --max-stacks --max-memory --help" -- "$current")
        [[ $current == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}

complete -F _hotstack hotstack
