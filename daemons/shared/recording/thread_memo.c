/* SPDX-License-Identifier: Apache-2.0 */
#include <recording/thread_memo.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_ASKED, NO, YES };

static bool make_room(thread_memo *memo, uint32_t index)
{
    if (index < memo->count)
        return true;
    size_t count = ((size_t)index + 1) * 2;
    unsigned char *known = realloc(memo->known, count);
    if (known == NULL)
        return false;
    memset(known + memo->count, NOT_ASKED, count - memo->count);
    memo->known = known;
    memo->count = count;
    return true;
}

bool thread_memo_ask(thread_memo *memo, thread_question *question, void *ctx, const sagg *agg,
                     uint32_t index)
{
    if (!make_room(memo, index))
        return question(ctx, agg, index);
    if (memo->known[index] == NOT_ASKED)
        memo->known[index] = question(ctx, agg, index) ? YES : NO;
    return memo->known[index] == YES;
}

void thread_memo_free(thread_memo *memo)
{
    free(memo->known);
    *memo = (thread_memo){0};
}
