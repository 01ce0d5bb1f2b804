/* SPDX-License-Identifier: Apache-2.0 */
#include "pools/memo_methods_impl.h"

#include "error_impl.h"
#include "random_impl.h"
#include "read/text_impl.h"

#include <string.h>

/* ---- a number for what a method is called ---- */

/* Names that are being read into one number. */
struct naming {
    const jfr_chunk *chunk;
    uint64_t factor;
    uint64_t number;
    bool failed; /* a name is damaged, or long */
};

static void mix(struct naming *n, uint64_t word)
{
    uint64_t mixed = (n->number ^ word) * n->factor;
    n->number = mixed ^ mixed >> 32;
}

static void mix_bytes(struct naming *n, const uint8_t *p, size_t count)
{
    uint8_t last[8] = {0};
    mix(n, count);
    for (; count >= sizeof(last); p += sizeof(last), count -= sizeof(last))
        mix(n, jfr__load_64(p));
    memcpy(last, p, count);
    mix(n, jfr__load_64(last));
}

/* A name that is longer, in bytes, is not looked at: thousands of methods may share it. */
enum { LONGEST_NAME = 512 };

static jfr__cursor name_at(const jfr_chunk *chunk, uint64_t offset)
{
    const uint64_t left = chunk->end - offset;
    return jfr__chunk_cursor(chunk, offset, offset + (left < LONGEST_NAME ? left : LONGEST_NAME));
}

/* As it is written: what is the same name in another encoding counts as another. */
static void mix_string(struct naming *n, uint64_t offset)
{
    const jfr__pool *strings = &n->chunk->pools[JFR__POOL_STRING];
    jfr__cursor c = name_at(n->chunk, offset);
    if (jfr__cursor_left(&c) > 0 && *c.pos == JFR__POOL) {
        (void)jfr__read_u8(&c);
        const uint32_t index = jfr__idmap_find(&strings->index, jfr__read_long(&c));
        n->failed |= c.failed || index == JFR_NONE;
        if (n->failed)
            return;
        c = name_at(n->chunk, strings->offsets[index]);
    }
    const uint8_t *begin = c.pos;
    jfr__skip_string(&c);
    n->failed |= c.failed || *begin == JFR__POOL;
    if (!n->failed)
        mix_bytes(n, begin, (size_t)(c.pos - begin));
}

/* The index of a pool's entry; JFR_NONE: it has none of that id, which tells something, too. */
static uint32_t find(struct naming *n, jfr__pool_role role, uint64_t id)
{
    const uint32_t index = jfr__idmap_find(&n->chunk->pools[role].index, id);
    if (index == JFR_NONE)
        mix(n, 0);
    return index;
}

static void mix_symbol(struct naming *n, uint64_t id)
{
    const uint32_t index = find(n, JFR__POOL_SYMBOL, id);
    uint64_t offset;
    if (index == JFR_NONE)
        return;
    n->failed |= jfr__pool_text_offset(n->chunk, JFR__POOL_SYMBOL, index, &offset, NULL) < 0;
    if (!n->failed && offset != 0)
        mix_string(n, offset);
    else
        mix(n, 1);
}

static void mix_class(struct naming *n, uint64_t id)
{
    const uint32_t index = find(n, JFR__POOL_CLASS, id);
    uint64_t slots[JFR__POOL_SLOTS];
    if (index == JFR_NONE)
        return;
    n->failed |= jfr__pool_entry(n->chunk, JFR__POOL_CLASS, index, slots, NULL) < 0;
    if (!n->failed)
        mix_symbol(n, slots[JFR__SLOT_NAME]);
}

/* Equal where the names of class and method are; 0 = one is damaged, or long. */
static uint64_t number_names(const jfr_chunk *chunk, uint32_t method, uint64_t factor)
{
    struct naming n = {.chunk = chunk, .factor = factor};
    uint64_t slots[JFR__POOL_SLOTS];
    if (jfr__pool_entry(chunk, JFR__POOL_METHOD, method, slots, NULL) < 0)
        return 0;
    mix_symbol(&n, slots[JFR__SLOT_NAME]);
    mix_class(&n, slots[JFR__SLOT_TYPE]);
    return n.failed ? 0 : n.number;
}

/* ---- methods ---- */

void jfr__memo_methods_init(jfr__memo_methods *m, const jfr_allocator *alloc)
{
    *m = (jfr__memo_methods){.alloc = alloc, .factor = jfr__random() | 1};
    jfr__idmap_init(&m->index, alloc);
}

void jfr__memo_methods_free(jfr__memo_methods *m)
{
    if (m->list != NULL)
        m->alloc->free(m->alloc->ctx, m->list);
    jfr__idmap_free(&m->index);
}

void jfr__memo_methods_clear(jfr__memo_methods *m)
{
    m->known = false;
    jfr__idmap_clear(&m->index);
}

/* The id of the frame's method, where it lies among the first eight bytes. */
static bool method_id(const jfr_chunk *chunk, jfr__frame_bytes frame, uint64_t *id)
{
    const jfr__frame_layout *form = &chunk->frames_by.layouts[jfr__continuing_8(frame.first)];
    const jfr__field_place *place = &form->method;
    *id = jfr__gather_at(frame.first, place);
    return place->mask != 0;
}

static jfr__memo_method *put(jfr__memo_methods *m, uint64_t id)
{
    void *list = m->list;
    const uint32_t before = m->index.count;
    const uint32_t at = jfr__idmap_put(&m->index, id);
    if (at == JFR_NONE || at >= JFR__MEMO_METHODS ||
        jfr__grow(m->alloc, &list, &m->cap, (size_t)at + 1, sizeof(*m->list)) < 0)
        return NULL;
    m->list = list;
    if (at == before)
        m->list[at] = (jfr__memo_method){id, 0};
    return &m->list[at];
}

void jfr__memo_methods_note(jfr__memo_methods *m, const jfr_chunk *chunk, jfr__frame_bytes frame,
                            uint32_t method)
{
    uint64_t id;
    if (!m->known || method == JFR_NONE || !method_id(chunk, frame, &id))
        return;
    jfr__memo_method *noted = put(m, id);
    if (noted == NULL)
        jfr__memo_methods_clear(m);
    else if (noted->names == 0)
        noted->names = number_names(chunk, method, m->factor);
}

/* ---- the next chunk ---- */

static bool same_writing(const jfr__memo_methods *m, const jfr_chunk *chunk)
{
    const jfr__frame_layout *layout = &chunk->frames_by.layouts[0];
    return m->known && chunk->frames_by.by_pattern &&
           memcmp(&m->layout, layout, sizeof(*layout)) == 0 &&
           memcmp(m->types, chunk->frame_types, sizeof(m->types)) == 0;
}

/* Of another recording hardly one is what it was: that shows soon. */
enum { OTHERS_FEW = 64 };

static bool compare(jfr__memo_methods *m, const jfr_chunk *chunk)
{
    uint32_t same = 0;
    uint32_t others = 0;
    for (uint32_t i = 0; i < m->index.count && others <= same + OTHERS_FEW; i++) {
        jfr__memo_method *noted = &m->list[i];
        const uint32_t index = jfr__idmap_find(chunk->frames_by.methods, noted->id);
        const uint64_t names = index != JFR_NONE ? number_names(chunk, index, m->factor) : 0;
        const bool is_same = names == noted->names && names != 0;
        same += is_same;
        others += !is_same;
        noted->names = is_same ? names : 0;
    }
    return same > 0 && others <= same + OTHERS_FEW;
}

/* Whether there is more of the recording than the chunk and what stands before it. */
static bool is_followed(const jfr_chunk *chunk)
{
    const jfr_file *file = chunk->file->whole != NULL ? chunk->file->whole : chunk->file;
    return chunk->end < file->len;
}

bool jfr__memo_methods_next(jfr__memo_methods *m, const jfr_chunk *chunk)
{
    const bool same = same_writing(m, chunk) && compare(m, chunk);
    if (!same)
        jfr__memo_methods_clear(m);
    m->known = chunk->frames_by.by_pattern && is_followed(chunk);
    m->layout = chunk->frames_by.layouts[0];
    memcpy(m->types, chunk->frame_types, sizeof(m->types));
    return same;
}

bool jfr__memo_methods_same(const jfr__memo_methods *m, const jfr_chunk *chunk,
                            jfr__frame_bytes frame)
{
    uint64_t id;
    if (!method_id(chunk, frame, &id))
        return false;
    const uint32_t at = jfr__idmap_find(&m->index, id);
    return at != JFR_NONE && m->list[at].names != 0;
}
