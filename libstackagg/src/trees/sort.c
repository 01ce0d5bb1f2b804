/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/sort_impl.h"

#include <string.h>

/* Merges two sorted neighbours from..middle..end of `in` into `out`. */
static void merge(uint32_t *out, const uint32_t *in, uint32_t from, uint32_t middle, uint32_t end,
                  sagg__order *order, const void *context)
{
    uint32_t left = from;
    uint32_t right = middle;
    for (uint32_t at = from; at < end; at++) {
        bool take_left =
            left < middle && (right >= end || order(context, in[left], in[right]) <= 0);
        out[at] = take_left ? in[left++] : in[right++];
    }
}

void sagg__sort(uint32_t *numbers, uint32_t *room, uint32_t count, sagg__order *order,
                const void *context)
{
    uint32_t *in = numbers;
    uint32_t *out = room;
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * width) {
            uint64_t middle = from + width < count ? from + width : count;
            uint64_t end = middle + width < count ? middle + width : count;
            merge(out, in, (uint32_t)from, (uint32_t)middle, (uint32_t)end, order, context);
        }
        uint32_t *swap = in;
        in = out;
        out = swap;
    }
    if (in != numbers)
        memcpy(numbers, in, count * sizeof(*numbers));
}
