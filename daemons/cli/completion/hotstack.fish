# SPDX-License-Identifier: Apache-2.0
# fish completion for hotstack: the program itself knows what may follow.

function __hotstack_complete
    set -l current (commandline -ct)
    set -l found (hotstack __complete (commandline -opc)[2..] "$current" 2>/dev/null)
    if test "$found" = :files
        __fish_complete_path "$current"
    else
        printf '%s\n' $found
    end
end

complete -c hotstack -f -a '(__hotstack_complete)'
