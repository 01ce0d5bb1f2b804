/* SPDX-License-Identifier: Apache-2.0 */
/* The options and operands of a command line. option_table.c says which command takes which. */
#ifndef HOTSTACK_CLI_OPTIONS_H
#define HOTSTACK_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <catalogue/event.h>

#include "cli/command.h"
#include "cli/commands/convert_filter.h"
#include "cli/diff/diff_rules.h"
#include "cli/options/time_option.h"

struct cli_options {
    char **operands; /* the arguments that are not options; "-" = standard input */
    int operand_count;
    uint64_t given; /* bits 1 << row of the table */
    bool json;

    /* Options that say which samples are read, and how. */
    uint32_t types; /* bits 1 << PROFILE_TYPE_*; 0 = all */
    convert_filter filter;
    bool raw_names;
    uint32_t max_stacks; /* the most stacks of the aggregate */
    uint32_t max_mib;    /* the most memory of the aggregate */
    uint32_t jobs;       /* number of threads that read; 0 = as reading_threads says */

    /* Options of the output. */
    const char *output; /* "-" = standard output; NULL = not given */
    unsigned format; /* number of one of the command's formats, from 1; 0 = by the output's name */
    bool threads;
    bool lines;
    bool states; /* wall: shows running and waiting samples separately */
    bool inverted;
    uint32_t max_nodes; /* 0 = all */
    uint32_t min_width; /* parts per billion of the type's total */
    uint32_t max_cells; /* of each type's heatmap; 0 = the library's default */
    uint32_t rows;      /* of each table; 0 = all */
    unsigned sort_by;   /* enum sort_column */
    diff_rules fail_on;

    /* Options of hotstack jfr. */
    const char *events; /* filters of jfr_type_matches; NULL = all */
    const char *categories;
    uint32_t stack_depth;

    const char *socket; /* of hotstack collector status */

    /* Options for a running JVM. */
    uint32_t duration_ms;
    event_intervals record;
    unsigned recorder; /* an attach_ap_recorder */
    bool loop;
    uint32_t rate_limit; /* events of one kind per second */
    bool watch;
    double busy; /* the percentage of a core from which a thread counts as busy */
    uint32_t top;
    uint32_t stacks;
    uint32_t depth;
    uint32_t pause_ms;
    uint32_t max_threads;
    bool full;
    bool synchronizers;
    bool contention;
};

enum sort_column { SORT_BY_SELF, SORT_BY_TOTAL };

/*
 * Reads argv; argv[0] is the command's last word. Returns -1 to go on, or an exit code: after
 * --help, or after a complaint. The texts in `out` are borrowed from argv; free its filter with
 * filter_free in any case.
 */
int options_parse(cli_options *out, const command *c, int argc, char **argv);

/* Prints a command's --help. */
void options_print_help(const command *c);

/*
 * Copies a manual page to standard output. A line `.\" OPTIONS convert` becomes the description of
 * that command's options. Returns false when there is no such command.
 */
bool options_print_manual(FILE *page);

/*
 * Prints the words that the last of these words may become, one per line, with a description after
 * a tab; ":files" stands for file names. The completion scripts of the shells call it.
 */
void options_complete(char *const *words, int count);

#endif
