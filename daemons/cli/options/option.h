/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options. A row is all that there is to an option: parsing, --help, completion and
 * the manual pages read it. A new option is a row and the field of cli_options that it sets.
 */
#ifndef HOTSTACK_CLI_OPTION_H
#define HOTSTACK_CLI_OPTION_H

#include <stddef.h>

#include "cli/options/options.h"

/* One of the words that an option's value can be. */
typedef struct option_word {
    const char *name;
    const char *help; /* NULL where the name says it */
} option_word;

/* Gets the word at `index`; false behind the last one. */
typedef bool option_words(size_t index, option_word *out);

typedef struct option_row option_row;
struct option_row {
    const char *name;
    char letter;       /* 0 = none */
    unsigned commands; /* that have it: bits of enum command_bit */
    const char *value; /* what --help calls its value; NULL = it takes none */
    /* Sets the field. Returns -1 to go on, or an exit code after it has complained. */
    int (*take)(void *field, const option_row *row, const char *text);
    size_t field;         /* offset in cli_options */
    uint32_t least;       /* of numbers and milliseconds; of words the number of the first one */
    uint32_t most;        /* of numbers and milliseconds; 0 = there is no such bound */
    option_words *words;  /* NULL = its value is free */
    const char *noun;     /* what one of the words is */
    const char *fallback; /* the value where it is not given; NULL = zero or nothing */
    unsigned changes;     /* bits of enum format_changes: the others' files stay the same */
    const char *help;
};

extern const option_row option_table[];
extern const size_t option_count;

/* Whether the option's value is a list with commas. */
bool option_is_list(const option_row *row);

#endif
