/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr`: looking into a recording, a subcommand a question. */
#include "cli/jfr/jfr.h"

#include <stdio.h>
#include <string.h>

#include <base/near_miss.h>

#include "cli/command.h"

typedef struct subcommand {
    command command;
    const char *full_name; /* for run_as */
} subcommand;

static const subcommand subcommands[] = {
    {{"events", "Events as JSON, one a line, in the file's order", jfr_events_run}, "jfr events"},
    {{"metadata", "The types of events and values, with their fields", jfr_metadata_run},
     "jfr metadata"},
    {{"print", "Events as the JDK's tool prints them, text or JSON", jfr_print_run}, "jfr print"},
    {{"summary", "Which events there are, and how many", jfr_summary_run}, "jfr summary"},
    {{"totals", "Events, values and distinct stacks of each profile type", jfr_totals_run},
     "jfr totals"},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static void print_help(FILE *to)
{
    (void)fputs("usage: hotstack jfr SUBCOMMAND [ARGUMENTS]\n"
                "\n"
                "Looks into a recording of async-profiler or the JDK's Flight Recorder.\n"
                "\n"
                "Subcommands:\n",
                to);
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        (void)fprintf(to, "  %-10s %s\n", subcommands[i].command.name,
                      subcommands[i].command.summary);
    (void)fputs("\n`hotstack jfr SUBCOMMAND --help` explains one; so does hotstack-jfr(1).\n", to);
}

static int no_subcommand(const char *name)
{
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    if (name[0] == '\0') {
        print_help(stderr);
        return EXIT_USAGE;
    }
    near_miss_begin(&near, name, strlen(name));
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        near_miss_try(&near, subcommands[i].command.name, strlen(subcommands[i].command.name));
    complain("there is no subcommand '%s'%s (`hotstack jfr --help` lists them)", name,
             near_miss_hint(&near, hint));
    return EXIT_USAGE;
}

int jfr_run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help(stdout);
        return EXIT_WHOLE;
    }
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(name, subcommands[i].command.name) == 0)
            return run_as(subcommands[i].full_name, &subcommands[i].command, argc - 1, argv + 1);
    return no_subcommand(name);
}
