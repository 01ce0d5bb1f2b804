# SPDX-License-Identifier: Apache-2.0
# fish completion for hotstack

function __hotstack_jvms
    hotstack ps 2>/dev/null | awk 'NR > 1 { print $1 "\t" $4 }'
end

function __hotstack_commands
    hotstack --help 2>/dev/null | awk '/^  [a-z]+  / { name = $1; sub(/^ *[a-z]+ +/, ""); print name "\t" $0 }'
end

# Each command knows its options; those of `hotstack jfr` are its subcommands'.
function __hotstack_options
    set -l asked (commandline -opc)[2]
    test $asked = jfr; and set asked (commandline -opc)[2..3]
    hotstack $asked --help 2>/dev/null | awk '/^ +-/ { while (match($0, /--[a-z-]+/)) { print substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }'
end

complete -c hotstack -f -n "__fish_use_subcommand" -a "(__hotstack_commands)"
complete -c hotstack -f -n "__fish_seen_subcommand_from attach" -a status
complete -c hotstack -f -n "__fish_seen_subcommand_from collector" -a status
complete -c hotstack -f -n "__fish_seen_subcommand_from attach doctor jcmd profile threads" -a "(__hotstack_jvms)"
complete -c hotstack -n "__fish_seen_subcommand_from attach collector doctor jcmd ps threads" -l json -d 'print JSON'
complete -c hotstack -x -n "__fish_seen_subcommand_from profile" -s d -l duration -d 'how long'
complete -c hotstack -x -n "__fish_seen_subcommand_from profile" -s e -l events -a "cpu alloc lock wall live nativemem cpu,alloc,lock" -d 'what to record'
complete -c hotstack -r -F -n "__fish_seen_subcommand_from profile" -s f -l file -d 'where to write'
complete -c hotstack -x -n "__fish_seen_subcommand_from profile" -s t -l type -d 'profile type'
complete -c hotstack -x -n "__fish_seen_subcommand_from profile" -l engine -a "auto async-profiler jfr" -d recorder
complete -c hotstack -n "__fish_seen_subcommand_from profile" -l loop -d 'file after file'
complete -c hotstack -x -n "__fish_seen_subcommand_from profile" -l rate-limit -d 'events a second'
complete -c hotstack -x -n "__fish_seen_subcommand_from threads" -s d -l duration -d 'window'
complete -c hotstack -n "__fish_seen_subcommand_from threads" -s w -l watch -d 'again and again'
complete -c hotstack -n "__fish_seen_subcommand_from threads" -l full -d 'all stacks'
complete -c hotstack -n "__fish_seen_subcommand_from threads" -l synchronizers -d 'owned locks'
complete -c hotstack -n "__fish_seen_subcommand_from threads" -l contention -d 'time blocked and waited'
for number in busy top stacks depth pause max-threads
    complete -c hotstack -x -n "__fish_seen_subcommand_from threads" -l $number
end
complete -c hotstack -r -F -n "__fish_seen_subcommand_from convert diff jfr top"
complete -c hotstack -n "__fish_seen_subcommand_from convert diff jfr top" -a "(__hotstack_options)"
complete -c hotstack -f -n "__fish_seen_subcommand_from jfr; and test (count (commandline -opc)) -eq 2" -a "(hotstack jfr --help 2>/dev/null | awk '/^  [a-z]+  / { print \$1 }')"
