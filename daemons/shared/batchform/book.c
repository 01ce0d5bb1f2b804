/* SPDX-License-Identifier: Apache-2.0 */
/* A book as it is read: its tables, what becomes of a page, and stacks for the store. */
#include "read_impl.h"

#include <stackagg/stackagg.h>
#include <stdlib.h>
#include <string.h>

book *book_new(uint64_t number)
{
    book *one = calloc(1, sizeof(*one));
    if (one != NULL)
        one->number = number;
    return one;
}

void book_free(book *one)
{
    if (one == NULL)
        return;
    for (size_t i = 0; i < one->counts.lists; i++)
        free(one->lists[i].keys);
    if (one->sender != NULL)
        hotstack__v1__collector__free_unpacked(one->sender, NULL);
    string_table_clear(&one->strings);
    free(one->newest);
    free(one->string_uses);
    free(one->frames);
    free(one->frame_notes);
    free(one->nodes);
    free(one->stacks);
    free(one->stack_uses);
    free(one->lists);
    free(one->threads);
    free(one->targets);
    free(one->target_uses);
    free(one->used);
    free(one->frame_ids);
    free(one->before.data);
    free(one->under_way.data);
    free(one);
}

uint64_t book_number(const book *one)
{
    return one->number;
}

uint32_t book_pages(const book *one)
{
    return one->pages;
}

uint64_t book_size(const book *one)
{
    return book__size(&one->counts);
}

const Hotstack__V1__Collector *book_sender(const book *one)
{
    return one->sender;
}

void book_keep(book *one, const uint8_t id[BATCH_ID_SIZE], const uint8_t digest[16])
{
    for (size_t i = 0; i < one->counts.lists; i++)
        one->lists[i].kept = one->lists[i].count;
    one->kept = one->counts;
    free(one->before.data);
    book__trim(&one->under_way);
    one->before = one->under_way;
    one->under_way = (book_content){NULL, 0};
    one->sender_is_new = false;
    one->pages++;
    memcpy(one->last_id, id, sizeof(one->last_id));
    memcpy(one->last_digest, digest, sizeof(one->last_digest));
}

static void forget_uses(use *uses, size_t count)
{
    if (count > 0)
        memset(uses, 0, count * sizeof(*uses));
}

void book_drop(book *one)
{
    if (one->under_way.data == NULL)
        return;
    for (size_t i = one->counts.frames; i-- > one->kept.frames;)
        one->newest[one->frames[i].class_name] = one->frame_notes[i].newest_before;
    for (size_t i = one->counts.lists; i-- > one->kept.lists;)
        free(one->lists[i].keys);
    for (size_t i = 0; i < one->kept.lists; i++)
        one->lists[i].count = one->lists[i].kept;
    string_table_cut(&one->strings, one->kept.strings);
    if (one->sender_is_new) {
        hotstack__v1__collector__free_unpacked(one->sender, NULL);
        one->sender = NULL;
        one->sender_is_new = false;
    }
    one->counts = one->kept;
    free(one->under_way.data);
    one->under_way = (book_content){NULL, 0};
    /* Uses of this page must not be found by the next that has its number. */
    forget_uses(one->string_uses, one->string_use_room);
    forget_uses(one->stack_uses, one->stack_use_room);
    forget_uses(one->target_uses, one->target_use_room);
}

bool book_has_just(const book *one, const uint8_t id[BATCH_ID_SIZE], const uint8_t digest[16])
{
    return one->pages > 0 && memcmp(one->last_id, id, sizeof(one->last_id)) == 0 &&
           memcmp(one->last_digest, digest, sizeof(one->last_digest)) == 0;
}

/* ---- stacks for the store ---- */

static int add_stack(const book *one, const read_stack *from, uint32_t *numbers, batch *out)
{
    profile_stack stack = {.normaliser = SAGG_NORMALISE_V1,
                           .flags = from->flags,
                           .depth = one->nodes[from->node].depth};
    uint32_t node = from->node;
    uint32_t index = 0;
    const frame_source source = {&one->strings, one->frames, numbers};
    memcpy(stack.id, from->id, sizeof(stack.id));
    for (uint32_t i = 0; i < stack.depth; i++) {
        numbers[i] = one->nodes[node].node.frame;
        node = one->nodes[node].node.parent;
    }
    return batch_add_stack(out, &source, &stack, &index);
}

enum book_result book_stacks(const book *one, bool all, uint64_t frames, batch *out)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    enum book_result result = BOOK_READ;
    uint32_t deepest = 0;
    uint64_t sum = 0;
    batch_begin(out, no_id, 0);
    for (size_t i = 0; i < one->used_count; i++) {
        uint32_t depth = one->nodes[one->stacks[one->used[i]].node].depth;
        if (all || one->used[i] >= one->kept.stacks)
            sum += depth;
        deepest = depth > deepest ? depth : deepest;
    }
    if (sum > frames)
        return BOOK_TOO_LARGE;
    uint32_t *numbers = calloc((size_t)deepest + 1, sizeof(*numbers));
    if (numbers == NULL)
        result = BOOK_NO_MEMORY;
    for (size_t i = 0; i < one->used_count && result == BOOK_READ; i++) {
        const read_stack *stack = &one->stacks[one->used[i]];
        if ((all || one->used[i] >= one->kept.stacks) && add_stack(one, stack, numbers, out) != 0)
            result = BOOK_NO_MEMORY;
    }
    free(numbers);
    if (result != BOOK_READ)
        batch_clear(out);
    return result;
}
