/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <base/environment.h>
#include <base/near_miss.h>

#include "cli/command.h"
#include "cli/options/options.h"

static void print_names(FILE *to, const command_group *group)
{
    command_name names[COMMAND_NAMES];
    size_t count = command_names(names, group);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(to, "  %-10s %s\n", names[i].name, names[i].summary);
}

static void print_help(FILE *to)
{
    (void)fputs("usage: hotstack COMMAND [ARGUMENTS]\n"
                "       hotstack --help | --version\n"
                "\n"
                "Java profiling: recordings, flame graphs, live JVMs.\n"
                "\n"
                "Commands:\n",
                to);
    print_names(to, NULL);
    (void)fputs("\n"
                "`hotstack COMMAND --help` explains a command; so do the manual pages hotstack(1)\n"
                "and hotstack-COMMAND(1).\n"
                "\n"
                "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but a part of the input is\n"
                "missing, which standard error names; 4 a comparison fails its rule.\n",
                to);
}

static void print_group_help(FILE *to, const command_group *group)
{
    (void)fprintf(to, "usage: hotstack %s SUBCOMMAND [ARGUMENTS]\n\n%s\n\nSubcommands:\n",
                  group->name, group->about);
    print_names(to, group);
    (void)fprintf(to, "\n`hotstack %s SUBCOMMAND --help` explains one; so does hotstack-%s(1).\n",
                  group->name, group->name);
}

/* Prints the help of the program, or of a group. */
static void print_any_help(FILE *to, const command_group *group)
{
    if (group != NULL)
        print_group_help(to, group);
    else
        print_help(to);
}

/* Flushes standard output, so that a full disk or a broken device is reported at the latest
 * here. */
static int finish(int rc)
{
    bool broken = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !broken)
        return rc;
    complain("cannot write the output");
    return EXIT_UNREADABLE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int no_command(const char *name, const command_group *group)
{
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    command_name names[COMMAND_NAMES];
    size_t count = command_names(names, group);
    if (name[0] == '\0') {
        print_any_help(stderr, group);
        return EXIT_USAGE;
    }
    near_miss_begin(&near, name, strlen(name));
    for (size_t i = 0; i < count; i++)
        near_miss_try(&near, names[i].name, strlen(names[i].name));
    complain("there is no %s '%s'%s (`hotstack%s%s --help` lists them)",
             group != NULL ? "subcommand" : "command", name, near_miss_hint(&near, hint),
             group != NULL ? " " : "", group != NULL ? group->name : "");
    return EXIT_USAGE;
}

static int run(const command *c, int argc, char **argv)
{
    cli_options o;
    complain_as(c->name);
    int rc = options_parse(&o, c, argc, argv);
    if (rc < 0)
        rc = c->run(&o);
    filter_free(&o.filter);
    return finish(rc);
}

/* Runs the command that the first one or two words name. */
static int dispatch(int argc, char **argv)
{
    char name[64];
    const command_group *group = command_group_find(argv[0]);
    const char *word = argc > 1 ? argv[1] : "";
    if (group == NULL) {
        const command *c = command_find(argv[0]);
        return c != NULL ? run(c, argc, argv) : no_command(argv[0], NULL);
    }
    complain_as(group->name);
    if (is_help(word)) {
        print_group_help(stdout, group);
        return finish(EXIT_WHOLE);
    }
    (void)snprintf(name, sizeof(name), "%s %s", group->name, word);
    const command *c = command_find(name);
    return c != NULL ? run(c, argc - 1, argv + 1) : no_command(word, group);
}

/* `hotstack help`, `hotstack help jfr print` */
static int help(int argc, char **argv)
{
    char option[] = "--help";
    char *words[] = {argv[0], argc > 1 ? argv[1] : option, option, NULL};
    if (argc > 0)
        return dispatch(argc > 1 ? 3 : 2, words);
    print_help(stdout);
    return finish(EXIT_WHOLE);
}

static void note_typo(const char *typed, const char *meant)
{
    complain("note: nothing reads the variable %s; did you mean %s?", typed, meant);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    environment_find_typos(environ, NULL, 0, note_typo);
    if (is_help(name) || strcmp(name, "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(name, "--version") == 0) {
        (void)puts("hotstack " HOTSTACK_VERSION);
        return finish(EXIT_WHOLE);
    }
    /* For the completion scripts, and for the build, which makes the manual pages. */
    if (strcmp(name, "__complete") == 0) {
        options_complete(argv + 2, argc - 2);
        return finish(EXIT_WHOLE);
    }
    if (strcmp(name, "__manual") == 0)
        return finish(options_print_manual(stdin) ? EXIT_WHOLE : EXIT_USAGE);
    return argc > 1 ? dispatch(argc - 1, argv + 1) : no_command("", NULL);
}
