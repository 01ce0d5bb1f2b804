/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <base/near_miss.h>

#include "cli/command.h"

static const command commands[] = {
    {"attach", "Say whose profiling session runs in which JVM (attach status)", attach_run},
    {"collector", "Say what the collector of this host does (collector status)", collector_run},
    {"convert", "Make flame graphs from recordings", convert_run},
    {"diff", "Compare two recordings, for people or for a build", diff_run},
    {"doctor", "Say whether and how a JVM can be profiled, and what to do if not", doctor_run},
    {"jcmd", "Run a diagnostic command in a running JVM", jcmd_run},
    {"jfr", "Look into a recording: events, summary, metadata, totals", jfr_run},
    {"profile", "Profile a running JVM and write its flame graph", profile_run},
    {"ps", "List the JVMs of this machine, and whether they can be profiled", ps_run},
    {"threads", "Say what the threads of a JVM do: busy, blocked by whom, deadlocked", threads_run},
    {"top", "Print the hottest methods of a recording", top_run},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *to)
{
    (void)fputs("usage: hotstack COMMAND [ARGUMENTS]\n"
                "       hotstack --help | --version\n"
                "\n"
                "Java profiling: recordings, flame graphs, live JVMs.\n"
                "\n"
                "Commands:\n",
                to);
    for (size_t i = 0; i < COMMANDS; i++)
        (void)fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    (void)fputs("\n"
                "`hotstack COMMAND --help` explains a command; so do the manual pages hotstack(1)\n"
                "and hotstack-COMMAND(1).\n"
                "\n"
                "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but a part of the input is\n"
                "missing, which standard error names; 4 a comparison fails its rule.\n",
                to);
}

/* A full disk or a broken device behind standard output is noticed at the end at the latest. */
static int finish(int rc)
{
    bool broken = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !broken)
        return rc;
    complain("cannot write the output");
    return EXIT_UNREADABLE;
}

static const command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int run(const command *c, int argc, char **argv)
{
    return finish(run_as(c->name, c, argc, argv));
}

static int no_command(const char *name)
{
    if (name[0] == '\0') {
        print_help(stderr);
        return EXIT_USAGE;
    }
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    near_miss_begin(&near, name, strlen(name));
    for (size_t i = 0; i < COMMANDS; i++)
        near_miss_try(&near, commands[i].name, strlen(commands[i].name));
    complain("there is no command '%s'%s (`hotstack --help` lists them)", name,
             near_miss_hint(&near, hint));
    return EXIT_USAGE;
}

static int help(const char *name)
{
    char option[] = "--help";
    char *words[] = {NULL, option, NULL};
    const command *c = find(name);
    if (c != NULL)
        return run(c, 2, words);
    if (name[0] != '\0')
        return no_command(name);
    print_help(stdout);
    return finish(EXIT_WHOLE);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc > 2 ? argv[2] : "");
    if (strcmp(name, "--version") == 0) {
        (void)puts("hotstack " HOTSTACK_VERSION);
        return finish(EXIT_WHOLE);
    }
    const command *c = find(name);
    return c != NULL ? run(c, argc - 1, argv + 1) : no_command(name);
}
