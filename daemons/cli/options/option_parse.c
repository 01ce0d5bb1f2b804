/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <base/near_miss.h>

#include "cli/commands/reading.h"
#include "cli/options/option.h"

/* The number of a long option for getopt: its row, above the numbers of all letters. */
enum { ROW_BASE = 256, ROWS_MAX = 64 };

/* The command's options in the form that getopt takes. */
typedef struct getopt_table {
    struct option longs[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
} getopt_table;

static void fill_table(getopt_table *out, const command *c)
{
    size_t count = 0;
    char *letter = out->letters;
    if (c->operands == OPERANDS_JVM_COMMAND)
        *letter++ = '+';
    *letter++ = ':'; /* getopt then reports a missing value and an unknown option differently */
    for (size_t i = 0; i < option_count; i++) {
        const option_row *row = &option_table[i];
        if ((row->commands & c->bit) == 0)
            continue;
        out->longs[count++] =
            (struct option){row->name, row->value != NULL ? required_argument : no_argument, NULL,
                            ROW_BASE + (int)i};
        if (row->letter != 0)
            *letter++ = row->letter;
        if (row->letter != 0 && row->value != NULL)
            *letter++ = ':';
    }
    out->longs[count] = (struct option){0};
    *letter = '\0';
}

/* Returns the row of the number that getopt returned or left in optopt; NULL = none. */
static const option_row *find_row(const command *c, int found)
{
    if (found >= ROW_BASE)
        return &option_table[found - ROW_BASE];
    for (size_t i = 0; found != 0 && i < option_count; i++)
        if (option_table[i].letter == found && (option_table[i].commands & c->bit) != 0)
            return &option_table[i];
    return NULL;
}

/* Complains about a long option that the command does not have, or that abbreviates several. */
static void refuse_name(const getopt_table *table, const char *word)
{
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    char dashed[NEAR_MISS_LENGTH];
    size_t length = strcspn(word, "=");
    near_miss_begin(&near, word, length);
    for (const struct option *row = table->longs; row->name != NULL; row++) {
        int size = snprintf(dashed, sizeof(dashed), "--%s", row->name);
        near_miss_try(&near, dashed, (size_t)size);
    }
    complain("unrecognized option '%.*s'%s", (int)length, word, near_miss_hint(&near, hint));
}

/* Complains about a mistake. `found`: the number that getopt returned, '?' or ':'. */
static int refuse(const command *c, const getopt_table *table, int found, char *const *argv)
{
    const option_row *row = find_row(c, optopt);
    if (row != NULL && found == ':')
        complain("--%s needs a value: %s", row->name, row->value);
    else if (row != NULL)
        complain("--%s takes no value", row->name);
    else if (optopt != 0)
        complain("unrecognized option '-%c'", optopt);
    else
        refuse_name(table, argv[optind - 1]);
    (void)fprintf(stderr, "`hotstack %s --help` lists the options.\n", c->name);
    return EXIT_USAGE;
}

static int take(cli_options *out, const option_row *row, const char *text)
{
    return row->take((char *)out + row->field, row, text);
}

static int take_fallbacks(cli_options *out, const command *c)
{
    int rc = -1;
    for (size_t i = 0; i < option_count && rc < 0; i++)
        if ((option_table[i].commands & c->bit) != 0 && option_table[i].fallback != NULL)
            rc = take(out, &option_table[i], option_table[i].fallback);
    return rc;
}

static int take_given(cli_options *out, const command *c, int argc, char **argv)
{
    getopt_table table;
    int found;
    fill_table(&table, c);
    /* 0 makes glibc's getopt start anew and read the first character of the letters again. */
    optind = 0;
    opterr = 0;
    while ((found = getopt_long(argc, argv, table.letters, table.longs, NULL)) != -1) {
        const option_row *row = found == '?' || found == ':' ? NULL : find_row(c, found);
        if (row == NULL)
            return refuse(c, &table, found, argv);
        if (row->take == NULL) {
            options_print_help(c);
            return EXIT_WHOLE;
        }
        int rc = take(out, row, optarg);
        if (rc >= 0)
            return rc;
        out->given |= UINT64_C(1) << (row - option_table);
    }
    return -1;
}

/* Returns the mistake in the operands; NULL = there is none. */
static const char *operands_fault(const cli_options *o, const command *c)
{
    int count = o->operand_count;
    switch (c->operands) {
    case OPERANDS_NONE:
        return count > 0 ? "the command takes no arguments" : NULL;
    case OPERANDS_FILE:
        return count > 1    ? "name one recording only"
               : count == 0 ? "name a recording to read, or - for standard input"
                            : NULL;
    case OPERANDS_FILES:
        return count == 0 ? "name a recording to read, or - for standard input" : NULL;
    case OPERANDS_TWO_FILES:
        return count != 2 ? "name two recordings: the older one, then the newer one" : NULL;
    case OPERANDS_JVM_OR_NONE:
        return count > 1 ? "name one JVM at most; `hotstack ps` lists them" : NULL;
    case OPERANDS_JVM_COMMAND:
        return count == 0 ? "name a JVM by its process id or main class; `hotstack ps` lists them"
                          : NULL;
    case OPERANDS_JVM:
        break;
    }
    return count != 1 || o->operands[0][0] == '\0'
               ? "name one JVM by its process id or main class; `hotstack ps` lists them"
               : NULL;
}

static bool takes_files(const command *c)
{
    return c->operands == OPERANDS_FILES || c->operands == OPERANDS_TWO_FILES;
}

int options_parse(cli_options *out, const command *c, int argc, char **argv)
{
    *out = (cli_options){0};
    int rc = take_fallbacks(out, c);
    if (rc < 0)
        rc = take_given(out, c, argc, argv);
    if (rc >= 0)
        return rc;
    out->operands = argv + optind;
    out->operand_count = argc - optind;
    const char *fault = operands_fault(out, c);
    if (fault != NULL)
        complain("%s", fault);
    bool is_right = fault == NULL &&
                    (!takes_files(c) || reading_stdin_once(out->operands, out->operand_count)) &&
                    time_option_in_order(&out->filter.from, &out->filter.to);
    return is_right ? -1 : EXIT_USAGE;
}
