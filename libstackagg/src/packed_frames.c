/* SPDX-License-Identifier: Apache-2.0 */
#include "packed_frames_impl.h"

#include <string.h>

#include "trees/sort_impl.h"

/* ---- collecting ---- */

static bool same_name(const sagg_frame *a, const sagg_frame *b)
{
    return a->kind == b->kind && a->class_name.size == b->class_name.size &&
           a->method.size == b->method.size &&
           (a->class_name.size == 0 ||
            memcmp(a->class_name.data, b->class_name.data, a->class_name.size) == 0) &&
           (a->method.size == 0 || memcmp(a->method.data, b->method.data, a->method.size) == 0);
}

static int by_frame(const void *context, uint32_t a, uint32_t b)
{
    const sagg_frame *const *frames = context;
    return sagg__frame_order(frames[a], frames[b]);
}

/* What a name is written under: for Java nothing more than the kind, since the name holds the
 * class. */
static int group_order(const sagg_frame *a, const sagg_frame *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == SAGG_JAVA)
        return 0;
    if (a->class_name.size != b->class_name.size)
        return a->class_name.size < b->class_name.size ? -1 : 1;
    return a->class_name.size == 0
               ? 0
               : memcmp(a->class_name.data, b->class_name.data, a->class_name.size);
}

static int by_group(const void *context, uint32_t a, uint32_t b)
{
    const sagg__packed_frames *frames = context;
    return group_order(frames->frames[frames->names[a]], frames->frames[frames->names[b]]);
}

static void take_frames(sagg__packed_frames *out, const sagg__packed *document, uint32_t *order)
{
    uint32_t at = 0;
    for (size_t p = 0; p < document->count; p++) {
        const sagg_tree_view *view = document->profiles[p].view;
        for (size_t i = 0; i < view->frame_count; i++) {
            out->lines = out->lines || view->frames[i].line > 0;
            order[at] = at;
            out->frames[at++] = &view->frames[i];
        }
    }
}

/* What numbering needs for a while. Sorted frames of one name stand side by side, and equal ones
 * too: both are first numbered in that order, then anew in order of their first use. */
typedef struct numbering {
    uint32_t *order;   /* numbers of `frames`, sorted */
    uint32_t *same;    /* by number of `frames`: which of the different ones it is */
    uint32_t *name;    /* by different frame: which of the different names it has */
    uint32_t *id;      /* by different frame: the document's number + 1, 0 = none yet */
    uint32_t *name_id; /* by different name, likewise */
} numbering;

static void find_same(numbering *n, const sagg__packed_frames *out)
{
    uint32_t different = 0, names = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        const sagg_frame *frame = out->frames[n->order[i]];
        const sagg_frame *last = i > 0 ? out->frames[n->order[i - 1]] : NULL;
        bool again = last != NULL && same_name(last, frame);
        if (last != NULL && !again)
            names++;
        if (last != NULL && !(again && last->line == frame->line))
            different++;
        n->same[n->order[i]] = different;
        n->name[different] = names;
    }
}

static void use(sagg__packed_frames *out, const numbering *n, uint32_t at)
{
    uint32_t same = n->same[at], name = n->name[same];
    if (n->id[same] == 0) {
        if (n->name_id[name] == 0) {
            out->names[out->name_count++] = at;
            n->name_id[name] = out->name_count;
        }
        out->shown[out->id_count] = at;
        out->name_of[out->id_count++] = n->name_id[name] - 1;
        n->id[same] = out->id_count;
    }
    out->ids[at] = n->id[same] - 1;
}

/* In the order in which the trees are written; then those that no tree shows. */
static void number_frames(sagg__packed_frames *out, const numbering *n,
                          const sagg__packed *document)
{
    uint32_t first = 0;
    for (size_t p = 0; p < document->count; p++) {
        const sagg_tree_view *view = document->profiles[p].view;
        for (size_t i = 1; i < view->node_count; i++)
            use(out, n, first + view->frame[i]);
        first += (uint32_t)view->frame_count;
    }
    for (uint32_t i = 0; i < out->count; i++)
        use(out, n, n->order[i]);
}

static void find_groups(sagg__packed_frames *out, uint32_t *order, uint32_t *room)
{
    for (uint32_t i = 0; i < out->name_count; i++)
        order[i] = i;
    sagg__sort(order, room, out->name_count, by_group, out);
    for (uint32_t i = 0; i < out->name_count; i++) {
        if (i == 0 || by_group(out, order[i - 1], order[i]) != 0)
            out->groups[out->group_count++] = out->names[order[i]];
        out->group_of[order[i]] = out->group_count - 1;
    }
}

static int number(sagg__packed_frames *out, const sagg__packed *document)
{
    size_t slots = (size_t)out->count + 1;
    uint32_t *room = sagg__alloc_zero(out->mem, slots, 6 * sizeof(*room));
    if (room == NULL)
        return SAGG_ERR_NOMEM;
    numbering n = {.order = room + slots,
                   .same = room + 2 * slots,
                   .name = room + 3 * slots,
                   .id = room + 4 * slots,
                   .name_id = room + 5 * slots};
    take_frames(out, document, n.order);
    sagg__sort(n.order, room, out->count, by_frame, (const void *)out->frames);
    find_same(&n, out);
    number_frames(out, &n, document);
    find_groups(out, n.order, room);
    sagg__packed_find_hosts(out);
    sagg__release(out->mem, room, slots * 6 * sizeof(*room));
    return 0;
}

/* Each array of the table that has a place per frame at most. */
#define TABLES 8

static void tables_of(uint32_t **tables[TABLES], sagg__packed_frames *frames)
{
    uint32_t **all[TABLES] = {&frames->ids,   &frames->shown,    &frames->name_of,
                              &frames->names, &frames->group_of, &frames->groups,
                              &frames->host,  &frames->offset};
    memcpy(tables, all, sizeof(all));
}

int sagg__packed_frames_new(sagg__packed_frames *out, sagg__mem *mem, const sagg__packed *document)
{
    uint32_t **tables[TABLES];
    *out = (sagg__packed_frames){.mem = mem};
    for (size_t p = 0; p < document->count; p++)
        out->count += (uint32_t)document->profiles[p].view->frame_count;
    size_t slots = (size_t)out->count + 1;
    out->frames = sagg__alloc_zero(mem, slots, sizeof(*out->frames));
    bool whole = out->frames != NULL;
    tables_of(tables, out);
    for (size_t i = 0; i < TABLES; i++) {
        *tables[i] = sagg__alloc_zero(mem, slots, sizeof(**tables[i]));
        whole = whole && *tables[i] != NULL;
    }
    return whole ? number(out, document) : SAGG_ERR_NOMEM;
}

void sagg__packed_frames_free(sagg__packed_frames *frames)
{
    uint32_t **tables[TABLES];
    size_t slots = (size_t)frames->count + 1;
    sagg__release(frames->mem, (void *)frames->frames, slots * sizeof(*frames->frames));
    tables_of(tables, frames);
    for (size_t i = 0; i < TABLES; i++)
        sagg__release(frames->mem, *tables[i], slots * sizeof(**tables[i]));
}

/* ---- writing ---- */

static bool holds(sagg_str text, char c)
{
    return text.size > 0 && memchr(text.data, c, text.size) != NULL;
}

/* Whether a reader finds by itself where the class ends: at the last '.' of Java. */
static bool splits_by_rule(const sagg_frame *frame)
{
    return frame->kind != SAGG_JAVA || !holds(frame->method, '.');
}

/* A list of name numbers with a text each, left out when there are none. */
static void write_texts(const sagg__packed_frames *frames, sagg__emit *emit, bool files)
{
    bool open = false;
    for (uint32_t i = 0; i < frames->name_count; i++) {
        const sagg_frame *frame = sagg__packed_name(frames, i);
        if (files ? frame->file.size == 0 : splits_by_rule(frame))
            continue;
        sagg__emit_text(emit, open ? "," : files ? ",\"files\":[" : ",\"classes\":[");
        open = true;
        sagg__emit_number(emit, i);
        sagg__emit_text(emit, ",");
        sagg__emit_string(emit, files ? frame->file : frame->class_name);
    }
    if (open)
        sagg__emit_text(emit, "]");
}

/* With lines, frames are names with a line each. */
static void write_lines(const sagg__packed_frames *frames, sagg__emit *emit)
{
    sagg__emit_text(emit, ",\"frames\":[");
    for (uint32_t id = 0; id < frames->id_count; id++) {
        sagg__emit_text(emit, id > 0 ? "," : "");
        sagg__emit_number(emit, frames->name_of[id]);
        sagg__emit_text(emit, ",");
        sagg__emit_number(emit, frames->frames[frames->shown[id]]->line);
    }
    sagg__emit_text(emit, "]");
}

void sagg__packed_frames_write(const sagg__packed_frames *frames, sagg__emit *emit)
{
    write_texts(frames, emit, false);
    write_texts(frames, emit, true);
    if (frames->lines)
        write_lines(frames, emit);
}
