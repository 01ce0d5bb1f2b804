/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of options as --help and as a section of a manual page. */
#include <stdio.h>
#include <string.h>

#include "cli/options/option.h"

enum { WIDTH = 79, HELP_COLUMN = 23, TEXT_MAX = 1024 };

/* ---- --help */

/* Prints text and breaks it into lines; `indent` is the first column, where the cursor is. */
static void put_wrapped(const char *text, size_t indent)
{
    size_t column = indent;
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            (void)printf("\n%*s", (int)indent, "");
            column = indent;
        }
        column += (size_t)printf("%s%.*s", column > indent ? " " : "", (int)length, text);
        text += length;
        for (; *text == '\n'; text++, column = indent)
            (void)printf("\n%*s", text[1] == '\n' ? 0 : (int)indent, "");
        text += *text == ' ';
    }
    (void)putchar('\n');
}

/* Prints text from a column on; if the name is too long, on the line below it. */
static void put_entry(const char *name, const char *text, size_t column)
{
    size_t used = (size_t)printf("%s", name);
    if (used + 1 > column)
        (void)printf("\n%*s", (int)column, "");
    else
        (void)printf("%*s", (int)(column - used), "");
    put_wrapped(text, column);
}

/* Whether the words of the option are explained one by one. Gets the length of the longest word. */
static bool explains_words(const option_row *row, size_t *longest)
{
    option_word word;
    bool any = false;
    *longest = 0;
    for (size_t i = 0; row->words != NULL && row->words(i, &word); i++) {
        any = any || word.help != NULL;
        *longest = strlen(word.name) > *longest ? strlen(word.name) : *longest;
    }
    return any;
}

/* Returns the help with the default inserted before the colon that introduces the words. */
static const char *full_help(char out[TEXT_MAX], const option_row *row)
{
    size_t size = strlen(row->help);
    bool announces = row->help[size - 1] == ':';
    bool has_default = row->fallback != NULL;
    (void)snprintf(out, TEXT_MAX, "%.*s%s%s%s%s", (int)size - announces, row->help,
                   has_default ? " (default " : "", has_default ? row->fallback : "",
                   has_default ? ")" : "", announces ? ":" : "");
    return out;
}

static void put_option(const option_row *row)
{
    char name[80], letter[] = {'-', row->letter, ',', '\0'}, help[TEXT_MAX];
    option_word word;
    size_t longest;
    bool explains = explains_words(row, &longest);
    (void)snprintf(name, sizeof(name), "  %-3s --%s%s%s", row->letter != 0 ? letter : "", row->name,
                   row->value != NULL ? " " : "", row->value != NULL ? row->value : "");
    put_entry(name, full_help(help, row), HELP_COLUMN);
    for (size_t i = 0; explains && row->words(i, &word); i++) {
        (void)snprintf(name, sizeof(name), "%*s  %s", HELP_COLUMN, "", word.name);
        put_entry(name, word.help != NULL ? word.help : "", HELP_COLUMN + longest + 4);
    }
}

void options_print_help(const command *c)
{
    (void)printf("usage: hotstack %s%s%s\n\n", c->name, c->usage[0] != '\0' ? " " : "", c->usage);
    put_wrapped(c->about, 0);
    (void)putchar('\n');
    for (size_t i = 0; i < option_count; i++)
        if ((option_table[i].commands & c->bit) != 0)
            put_option(&option_table[i]);
    (void)putchar('\n');
    put_wrapped(c->ending, 0);
}

/* ---- manual pages: man(7) */

/* Writes text for roff, with text in backticks in bold. */
static void put_roff(const char *text)
{
    bool is_bold = false;
    for (; *text != '\0'; text++) {
        if (*text == '`')
            is_bold = !is_bold;
        if (*text == '`')
            (void)fputs(is_bold ? "\\fB" : "\\fR", stdout);
        else if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-' || *text == '\'')
            (void)fputs(*text == '-' ? "\\-" : "\\(aq", stdout);
        else
            (void)putchar(*text);
    }
    (void)putchar('\n');
}

static void put_manual_words(const option_row *row)
{
    option_word word;
    (void)fputs(".RS\n", stdout);
    for (size_t i = 0; row->words(i, &word); i++) {
        (void)fputs(".TP\n.B ", stdout);
        put_roff(word.name);
        /* Roff would take a line that begins with a dot for a request. */
        (void)fputs("\\&", stdout);
        put_roff(word.help != NULL ? word.help : "");
    }
    (void)fputs(".RE\n", stdout);
}

static void put_manual_option(const option_row *row)
{
    char help[TEXT_MAX];
    size_t longest;
    (void)fputs(".TP\n", stdout);
    if (row->letter != 0)
        (void)printf("\\fB\\-%c\\fR, ", row->letter);
    (void)fputs("\\fB\\-\\-", stdout);
    for (const char *at = row->name; *at != '\0'; at++)
        (void)printf("%s%c", *at == '-' ? "\\" : "", *at);
    (void)printf("\\fR%s%s%s\n\\&", row->value != NULL ? " \\fI" : "",
                 row->value != NULL ? row->value : "", row->value != NULL ? "\\fR" : "");
    put_roff(full_help(help, row));
    if (explains_words(row, &longest))
        put_manual_words(row);
}

bool options_print_manual(FILE *page)
{
    static const char mark[] = ".\\\" OPTIONS ";
    char line[4096];
    while (fgets(line, sizeof(line), page) != NULL) {
        if (strncmp(line, mark, sizeof(mark) - 1) != 0) {
            (void)fputs(line, stdout);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        const command *c = command_find(line + sizeof(mark) - 1);
        if (c == NULL)
            return false;
        for (size_t i = 0; i < option_count; i++)
            if ((option_table[i].commands & c->bit) != 0)
                put_manual_option(&option_table[i]);
    }
    return true;
}
