/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_stat_impl.h"

#include <string.h>

#include "error_impl.h"

#define FIELDS_BETWEEN_STATE_AND_FLAGS 5  /* fields 4..8 */
#define FIELDS_BETWEEN_FLAGS_AND_START 12 /* fields 10..21 */
/* include/linux/sched.h. The kernel sets this flag before a task closes its files, so before peers
 * see the connection close. The state letter changes only later. */
#define PF_EXITING 0x4u

static void skip_words(attach__span *rest, int n)
{
    attach__span word;
    for (int i = 0; i < n; i++)
        (void)attach__next_word(rest, &word);
}

int attach__stat_parse(attach__stat *out, attach__span text, attach_error *err)
{
    const char *close = text.n == 0 ? NULL : memrchr(text.p, ')', text.n);
    if (close == NULL)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0,
                               "stat has no command name in parentheses");
    attach__span rest = attach__span_skip(text, (size_t)(close - text.p) + 1);
    attach__span word;
    if (!attach__next_word(&rest, &word) || word.n != 1)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, text.n - rest.n, "stat has no state letter");
    out->state = word.p[0];
    skip_words(&rest, FIELDS_BETWEEN_STATE_AND_FLAGS);
    uint64_t flags = 0;
    bool exits = attach__next_word(&rest, &word) && attach__parse_u64(word, 10, &flags) &&
                 (flags & PF_EXITING) != 0;
    if (exits)
        out->state = 'X';
    skip_words(&rest, FIELDS_BETWEEN_FLAGS_AND_START);
    if (!attach__next_word(&rest, &word) || !attach__parse_u64(word, 10, &out->start_ticks))
        return attach__fail_at(err, ATTACH_ERR_FORMAT, text.n - rest.n, "stat has no start time");
    return ATTACH_OK;
}

bool attach__state_is_stopped(char state)
{
    return state == 'T' || state == 't';
}

bool attach__state_is_dead(char state)
{
    return state == 'Z' || state == 'X' || state == 'x';
}
