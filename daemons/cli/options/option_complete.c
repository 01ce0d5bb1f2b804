/* SPDX-License-Identifier: Apache-2.0 */
/* Completes words for shells, from the table of options. */
#include <stdio.h>
#include <string.h>

#include <attach/attach.h>

#include "cli/options/option.h"

typedef struct completion {
    const char *word; /* the text typed so far; of a list, its last item */
    int before;       /* how many characters of the list precede it */
} completion;

/* Returns the length of the help up to the end of its first clause, which fits on a line. */
static int first_thought(const char *help)
{
    size_t length = 0;
    do
        length += strcspn(help + length + 1, ".;") + 1;
    while (help[length] != '\0' && help[length + 1] != ' ' && help[length + 1] != '\0');
    return (int)length;
}

static void offer(const completion *c, const char *name, const char *help)
{
    if (strncmp(name, c->word, strlen(c->word)) != 0)
        return;
    (void)printf("%.*s%s\t%.*s\n", c->before, c->word - c->before, name,
                 help == NULL || help[0] == '\0' ? 0 : first_thought(help), help);
}

static void offer_files(void)
{
    (void)puts(":files");
}

static void offer_jvms(const completion *c)
{
    attach_jvm_list *jvms = NULL;
    char pid[16];
    if (attach_jvm_list_read(&jvms, NULL, NULL) != ATTACH_OK)
        return;
    for (size_t i = 0; i < attach_jvm_list_count(jvms); i++) {
        const attach_jvm *jvm = attach_jvm_list_at(jvms, i);
        (void)snprintf(pid, sizeof(pid), "%d", jvm->identity.pid);
        offer(c, pid, jvm->main_class);
    }
    attach_jvm_list_free(jvms);
}

static void offer_commands(const completion *c, const command_group *group)
{
    command_name names[COMMAND_NAMES];
    size_t count = command_names(names, group);
    for (size_t i = 0; i < count; i++)
        offer(c, names[i].name, names[i].summary);
}

static void offer_options(const completion *c, const command *of)
{
    char name[64];
    for (size_t i = 0; i < option_count; i++) {
        if ((option_table[i].commands & of->bit) == 0)
            continue;
        (void)snprintf(name, sizeof(name), "--%s", option_table[i].name);
        offer(c, name, option_table[i].help);
    }
}

static void offer_values(completion *c, const option_row *row)
{
    option_word word;
    const char *comma = option_is_list(row) ? strrchr(c->word, ',') : NULL;
    if (comma != NULL) {
        c->before = (int)(comma + 1 - c->word);
        c->word = comma + 1;
    }
    for (size_t i = 0; row->words != NULL && row->words(i, &word); i++)
        offer(c, word.name, word.help);
    if (strcmp(row->value, "FILE") == 0)
        offer_files();
}

static void offer_operands(const completion *c, const command *of)
{
    switch (of->operands) {
    case OPERANDS_FILE:
    case OPERANDS_FILES:
    case OPERANDS_TWO_FILES:
        offer_files();
        break;
    case OPERANDS_JVM:
    case OPERANDS_JVM_OR_NONE:
    case OPERANDS_JVM_COMMAND:
        offer_jvms(c);
        break;
    case OPERANDS_NONE:
        break;
    }
}

/* Returns the option whose value follows that word; NULL = none does. */
static const option_row *awaits_value(const command *of, const char *word)
{
    for (size_t i = 0; i < option_count; i++) {
        const option_row *row = &option_table[i];
        bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, row->name) == 0;
        bool is_short =
            row->letter != 0 && word[0] == '-' && word[1] == row->letter && word[2] == '\0';
        if ((row->commands & of->bit) != 0 && row->value != NULL && (is_long || is_short))
            return row;
    }
    return NULL;
}

void options_complete(char *const *words, int count)
{
    char name[64];
    if (count == 0)
        return;
    completion c = {.word = words[count - 1]};
    const command_group *group = count > 1 ? command_group_find(words[0]) : NULL;
    (void)snprintf(name, sizeof(name), "%s%s%s", words[0], group != NULL && count > 2 ? " " : "",
                   group != NULL && count > 2 ? words[1] : "");
    const command *of = count > 1 ? command_find(name) : NULL;
    const option_row *row = of != NULL ? awaits_value(of, words[count - 2]) : NULL;
    if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        offer_commands(&c, NULL);
        offer(&c, "--help", "explain the program");
        offer(&c, "--version", "print the version");
    } else if (group != NULL && count == 2) {
        offer_commands(&c, group);
    } else if (row != NULL) {
        offer_values(&c, row);
    } else if (of != NULL && c.word[0] == '-') {
        offer_options(&c, of);
    } else if (of != NULL) {
        offer_operands(&c, of);
    }
}
