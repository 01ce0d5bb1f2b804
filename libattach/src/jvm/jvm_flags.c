/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_flags_impl.h"

#include <string.h>

#define WORD_MAX 64 /* longer than any flag in `known` */

void attach__flags_note(attach__flags *flags, attach__span argument)
{
    const struct {
        const char *name;
        bool *slot;
        bool on_means;
    } known[] = {
        {"DisableAttachMechanism", &flags->attach_disabled, true},
        {"EnableDynamicAgentLoading", &flags->agent_loading_disabled, false},
        {"PerfDisableSharedMem", &flags->perf_data_off, true},
        {"UsePerfData", &flags->perf_data_off, false},
    };
    if (!attach__span_starts(argument, "-XX:") || argument.n < 6)
        return;
    char sign = argument.p[4];
    if (sign != '+' && sign != '-')
        return;
    attach__span name = attach__span_skip(argument, 5);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (attach__span_is(name, known[i].name))
            *known[i].slot = (sign == '+') == known[i].on_means;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes the next word into out[WORD_MAX] without its quotes. A longer word is cut; it is no known
 * flag. */
static bool next_word(attach__span *rest, char out[WORD_MAX], size_t *n)
{
    size_t at = 0;
    char quote = '\0';
    *n = 0;
    while (at < rest->n && is_space(rest->p[at]))
        at++;
    bool any = at < rest->n;
    for (; at < rest->n && (quote != '\0' || !is_space(rest->p[at])); at++) {
        char c = rest->p[at];
        if (quote == '\0' && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = '\0';
        else if (*n < WORD_MAX)
            out[(*n)++] = c;
    }
    *rest = attach__span_skip(*rest, at);
    return any;
}

void attach__flags_note_words(attach__flags *flags, attach__span text)
{
    char word[WORD_MAX];
    size_t n = 0;
    while (next_word(&text, word, &n))
        attach__flags_note(flags, attach__span_of(word, n));
}

void attach__flags_note_variable(attach__flags *flags, attach__span environment, const char *name)
{
    attach__span entry, key;
    while (attach__next_field(&environment, '\0', &entry))
        if (attach__next_field(&entry, '=', &key) && attach__span_is(key, name))
            attach__flags_note_words(flags, entry);
}
