/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands. */
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"

static const command *const command_table[] = {
    &attach_status_command,
    &collector_status_command,
    &convert_command,
    &diff_command,
    &doctor_command,
    &jcmd_command,
    &jfr_events_command,
    &jfr_metadata_command,
    &jfr_print_command,
    &jfr_summary_command,
    &jfr_totals_command,
    &profile_command,
    &ps_command,
    &threads_command,
    &top_command,
};
enum { COMMANDS = sizeof(command_table) / sizeof(command_table[0]) };

static const command_group command_groups[] = {
    {"attach", "Say whose profiling session runs in which JVM (attach status)",
     "Looks at the profilers that are in the JVMs of this machine."},
    {"collector", "Say what the collector of this host does (collector status)",
     "Asks the collector of this host."},
    {"jfr", "Look into a recording: events, summary, metadata, totals",
     "Looks into a recording of async-profiler or the JDK's Flight Recorder."},
};
enum { GROUPS = sizeof(command_groups) / sizeof(command_groups[0]) };
_Static_assert((int)COMMANDS <= (int)COMMAND_NAMES, "command_names has room");

const command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, command_table[i]->name) == 0)
            return command_table[i];
    return NULL;
}

const command_group *command_group_find(const char *name)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (strcmp(name, command_groups[i].name) == 0)
            return &command_groups[i];
    return NULL;
}

/* Returns the part of a command's name after the group's; NULL if the command is not in the
 * group. */
static const char *name_in_group(const command *c, const command_group *group)
{
    size_t length = strlen(group->name);
    bool is_in = strncmp(c->name, group->name, length) == 0 && c->name[length] == ' ';
    return is_in ? c->name + length + 1 : NULL;
}

static const command_group *group_of(const command *c)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (name_in_group(c, &command_groups[i]) != NULL)
            return &command_groups[i];
    return NULL;
}

size_t command_names(command_name out[COMMAND_NAMES], const command_group *group)
{
    size_t count = 0;
    const command_group *last = NULL;
    for (size_t i = 0; i < COMMANDS; i++) {
        const command *c = command_table[i];
        const command_group *of = group_of(c);
        if (group != NULL && of == group)
            out[count++] = (command_name){name_in_group(c, group), c->summary};
        else if (group == NULL && of == NULL)
            out[count++] = (command_name){c->name, c->summary};
        else if (group == NULL && of != last) /* a group's commands are adjacent */
            out[count++] = (command_name){of->name, of->summary};
        last = of;
    }
    return count;
}
