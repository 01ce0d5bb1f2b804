/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options. Parsing, --help, completion and the manual pages read the rows. A new
 * option needs a row and the field of cli_options that it sets.
 */
#ifndef HOTSTACK_CLI_OPTION_H
#define HOTSTACK_CLI_OPTION_H

#include <stddef.h>

#include "cli/options/options.h"

/* One of the words that an option's value can be. */
typedef struct option_word {
    const char *name;
    const char *help; /* NULL where the name explains itself */
} option_word;

/* Gets the word at `index`; returns false after the last. */
typedef bool option_words(size_t index, option_word *out);

typedef struct option_row option_row;
struct option_row {
    const char *name;
    char letter;       /* 0 = none */
    unsigned commands; /* the commands that have it: bits of enum command_bit */
    const char *value; /* the name of its value in --help; NULL = it takes none */
    /* Sets the field. Returns -1 to go on, or an exit code after it has complained. */
    int (*take)(void *field, const option_row *row, const char *text);
    size_t field;   /* offset in cli_options */
    uint32_t least; /* the least number or milliseconds; for words, the number of the first word */
    uint32_t most;  /* the greatest number or milliseconds; 0 = no such bound */
    option_words *words;  /* NULL = any value */
    const char *noun;     /* the noun for one of the words */
    const char *fallback; /* the value if the option is not given; NULL = zero or nothing */
    unsigned changes;     /* bits of enum format_changes: the formats whose files it changes */
    const char *help;
};

extern const option_row option_table[];
extern const size_t option_count;

/* Whether the option's value is a list separated by commas. */
bool option_is_list(const option_row *row);

#endif
