/* SPDX-License-Identifier: Apache-2.0 */
/* Makes trees from trees: their frames, and their last steps. */
#include <string.h>

#include "trees/tree_impl.h"

static size_t own_bytes(const sagg_frame *frame)
{
    return frame->class_name.size + frame->method.size + frame->file.size;
}

static void own(sagg_str *text, char *room, size_t *used)
{
    if (text->size > 0)
        memcpy(room + *used, text->data, text->size);
    text->data = room + *used;
    *used += text->size;
}

/* Merges two sorted lists of frames. */
static void merge(sagg__palette *to, const sagg_tree_view *a, const sagg_tree_view *b)
{
    size_t i = 0;
    size_t j = 0;
    size_t b_count = b != NULL ? b->frame_count : 0;
    while (i < a->frame_count || j < b_count) {
        int order = i == a->frame_count ? 1
                    : j == b_count      ? -1
                                        : sagg__frame_order(&a->frames[i], &b->frames[j]);
        to->frames[to->count++] = order <= 0 ? a->frames[i] : b->frames[j];
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
}

static int copy_frames(sagg__palette *to, sagg__mem *mem, const sagg_tree_view *a,
                       const sagg_tree_view *b)
{
    size_t most = a->frame_count + (b != NULL ? b->frame_count : 0);
    size_t used = 0;
    to->frame_slots = (uint32_t)most;
    to->frames = sagg__alloc_zero(mem, most, sizeof(*to->frames));
    if (to->frames == NULL)
        return SAGG_ERR_NOMEM;
    merge(to, a, b);
    for (uint32_t i = 0; i < to->count; i++)
        to->text_size += own_bytes(&to->frames[i]);
    to->text = sagg__alloc(mem, to->text_size);
    if (to->text == NULL)
        return SAGG_ERR_NOMEM;
    for (uint32_t i = 0; i < to->count; i++) {
        own(&to->frames[i].class_name, to->text, &used);
        own(&to->frames[i].method, to->text, &used);
        own(&to->frames[i].file, to->text, &used);
    }
    return 0;
}

static int copy_type(sagg_tree *to, const sagg_tree *from)
{
    to->type_text_size = from->type_text_size;
    to->type_text = sagg__alloc(&to->mem, to->type_text_size);
    if (to->type_text == NULL)
        return SAGG_ERR_NOMEM;
    memcpy(to->type_text, from->type_text, from->type_text_size);
    to->view.type = (sagg_str){to->type_text, from->view.type.size};
    to->view.unit = (sagg_str){to->type_text + from->view.type.size, from->view.unit.size};
    return 0;
}

int sagg__tree_like(sagg_tree **out, const sagg_tree *like, const sagg_tree *also)
{
    sagg__mem mem;
    sagg__mem_init(&mem, &like->mem.allocator, UINT64_MAX);
    *out = sagg__alloc_zero(&mem, 1, sizeof(**out));
    if (*out == NULL)
        return SAGG_ERR_NOMEM;
    (*out)->mem = mem;
    int rc =
        copy_frames(&(*out)->palette, &(*out)->mem, &like->view, also != NULL ? &also->view : NULL);
    return rc == 0 ? copy_type(*out, like) : rc;
}

uint32_t sagg__frame_find(const sagg_tree *tree, const sagg_frame *frame)
{
    uint32_t low = 0;
    uint32_t high = tree->palette.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sagg__frame_order(&tree->palette.frames[middle], frame) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
