/* SPDX-License-Identifier: Apache-2.0 */
#include "packed_frames.h"

#include <string.h>

#include "sort.h"

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

/* Kinds stand together; within one those that are used most have the shortest numbers. */
static int by_use(const void *context, uint32_t a, uint32_t b)
{
    const sagg__packed_name *names = context;
    if (names[a].frame->kind != names[b].frame->kind)
        return names[a].frame->kind < names[b].frame->kind ? -1 : 1;
    if (names[a].uses != names[b].uses)
        return names[a].uses > names[b].uses ? -1 : 1;
    return (a > b) - (a < b);
}

static void take_frames(sagg__packed_frames *out, const sagg__packed *document)
{
    uint32_t at = 0;
    for (size_t p = 0; p < document->count; p++) {
        const sagg_tree_view *view = document->profiles[p].view;
        for (size_t i = 0; i < view->frame_count; i++) {
            out->lines = out->lines || view->frames[i].line > 0;
            out->order[at] = at;
            out->frames[at++] = &view->frames[i];
        }
    }
}

static void count_uses(uint64_t *uses, const sagg__packed *document)
{
    size_t first = 0;
    for (size_t p = 0; p < document->count; p++) {
        const sagg_tree_view *view = document->profiles[p].view;
        for (size_t i = 1; i < view->node_count; i++)
            uses[first + view->frame[i]]++;
        first += view->frame_count;
    }
}

/* Sorted frames of one name stand side by side. */
static void find_names(sagg__packed_frames *out, const uint64_t *uses)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const sagg_frame *frame = out->frames[out->order[i]];
        bool known = out->name_count > 0 && same_name(out->names[out->name_count - 1].frame, frame);
        if (!known)
            out->names[out->name_count++] = (sagg__packed_name){.frame = frame, .first = i};
        sagg__packed_name *name = &out->names[out->name_count - 1];
        name->uses += uses[out->order[i]];
        name->count++;
    }
}

static void number_frames(sagg__packed_frames *out)
{
    for (uint32_t n = 0; n < out->name_count; n++) {
        const sagg__packed_name *name = &out->names[out->name_order[n]];
        for (uint32_t i = 0; i < name->count; i++) {
            uint32_t at = out->order[name->first + i];
            bool again = i > 0 && out->frames[at]->line ==
                                      out->frames[out->order[name->first + i - 1]]->line;
            out->ids[at] = again ? out->id_count - 1 : out->id_count++;
        }
    }
}

static int number(sagg__packed_frames *out, const sagg__packed *document, uint32_t *room)
{
    uint64_t *uses = sagg__alloc_zero(out->mem, (size_t)out->count + 1, sizeof(*uses));
    if (uses == NULL)
        return SAGG_E_NOMEM;
    take_frames(out, document);
    count_uses(uses, document);
    sagg__sort(out->order, room, out->count, by_frame, (const void *)out->frames);
    find_names(out, uses);
    sagg__release(out->mem, uses, ((size_t)out->count + 1) * sizeof(*uses));
    for (uint32_t i = 0; i < out->name_count; i++)
        out->name_order[i] = i;
    sagg__sort(out->name_order, room, out->name_count, by_use, out->names);
    number_frames(out);
    return 0;
}

int sagg__packed_frames_new(sagg__packed_frames *out, sagg__mem *mem, const sagg__packed *document)
{
    *out = (sagg__packed_frames){.mem = mem};
    for (size_t p = 0; p < document->count; p++)
        out->count += (uint32_t)document->profiles[p].view->frame_count;
    size_t slots = (size_t)out->count + 1;
    out->frames = sagg__alloc_zero(mem, slots, sizeof(*out->frames));
    out->ids = sagg__alloc_zero(mem, slots, sizeof(*out->ids));
    out->order = sagg__alloc_zero(mem, slots, sizeof(*out->order));
    out->names = sagg__alloc_zero(mem, slots, sizeof(*out->names));
    out->name_order = sagg__alloc_zero(mem, slots, sizeof(*out->name_order));
    uint32_t *room = sagg__alloc_zero(mem, slots, sizeof(*room));
    int rc = SAGG_E_NOMEM;
    if (out->frames != NULL && out->ids != NULL && out->order != NULL && out->names != NULL &&
        out->name_order != NULL && room != NULL)
        rc = number(out, document, room);
    sagg__release(mem, room, slots * sizeof(*room));
    return rc;
}

void sagg__packed_frames_free(sagg__packed_frames *frames)
{
    size_t slots = (size_t)frames->count + 1;
    sagg__release(frames->mem, (void *)frames->frames, slots * sizeof(*frames->frames));
    sagg__release(frames->mem, frames->ids, slots * sizeof(*frames->ids));
    sagg__release(frames->mem, frames->order, slots * sizeof(*frames->order));
    sagg__release(frames->mem, frames->names, slots * sizeof(*frames->names));
    sagg__release(frames->mem, frames->name_order, slots * sizeof(*frames->name_order));
}

/* ---- writing ---- */

static const sagg_frame *name_at(const sagg__packed_frames *frames, uint32_t number)
{
    return frames->names[frames->name_order[number]].frame;
}

static void append(char *to, size_t *used, sagg_str text)
{
    if (text.size > 0)
        memcpy(to + *used, text.data, text.size);
    *used += text.size;
}

static size_t name_size(const sagg_frame *frame)
{
    return frame->class_name.size + frame->method.size + 1;
}

/* "class.method", or "library!symbol" for kinds other than Java. */
static sagg_str write_name(char *room, const sagg_frame *frame)
{
    size_t used = 0;
    append(room, &used, frame->class_name);
    if (frame->class_name.size > 0)
        room[used++] = frame->kind == SAGG_JAVA ? '.' : '!';
    append(room, &used, frame->method);
    return (sagg_str){room, used};
}

/* One name a line: a search in the file then shows the name and not the whole document. */
static int write_names(const sagg__packed_frames *frames, sagg__emit *emit)
{
    size_t most = 1;
    for (uint32_t i = 0; i < frames->name_count; i++)
        most = name_size(frames->names[i].frame) > most ? name_size(frames->names[i].frame) : most;
    char *room = sagg__alloc(frames->mem, most);
    if (room == NULL)
        return SAGG_E_NOMEM;
    sagg__emit_text(emit, "\"names\":[");
    for (uint32_t i = 0; i < frames->name_count; i++) {
        sagg__emit_text(emit, i > 0 ? ",\n" : "\n");
        sagg__emit_string(emit, write_name(room, name_at(frames, i)));
    }
    sagg__emit_text(emit, "]");
    sagg__release(frames->mem, room, most);
    return 0;
}

static void write_kinds(const sagg__packed_frames *frames, sagg__emit *emit)
{
    uint32_t counts[SAGG_UNKNOWN + 1] = {0};
    for (uint32_t i = 0; i < frames->name_count; i++)
        counts[name_at(frames, i)->kind]++;
    sagg__emit_text(emit, ",\"kinds\":[");
    for (int kind = 0; kind <= SAGG_UNKNOWN; kind++) {
        if (kind > 0)
            sagg__emit_text(emit, ",");
        sagg__emit_number(emit, counts[kind]);
    }
    sagg__emit_text(emit, "]");
}

static bool holds(sagg_str text, char c)
{
    return text.size > 0 && memchr(text.data, c, text.size) != NULL;
}

/* Whether a reader finds by itself where the class ends: at the last '.' of Java, the first '!' of
 * others. */
static bool splits_by_rule(const sagg_frame *frame)
{
    if (frame->kind == SAGG_JAVA)
        return !holds(frame->method, '.');
    return !holds(frame->class_name, '!') &&
           (frame->class_name.size > 0 || !holds(frame->method, '!'));
}

/* A list of name numbers with a text each, left out when there are none. */
static void write_texts(const sagg__packed_frames *frames, sagg__emit *emit, bool files)
{
    bool open = false;
    for (uint32_t i = 0; i < frames->name_count; i++) {
        const sagg_frame *frame = name_at(frames, i);
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
    uint32_t written = 0;
    sagg__emit_text(emit, ",\"frames\":[");
    for (uint32_t n = 0; n < frames->name_count; n++) {
        const sagg__packed_name *name = &frames->names[frames->name_order[n]];
        for (uint32_t i = 0; i < name->count; i++) {
            uint32_t at = frames->order[name->first + i];
            if (frames->ids[at] < written)
                continue;
            sagg__emit_text(emit, written++ > 0 ? "," : "");
            sagg__emit_number(emit, n);
            sagg__emit_text(emit, ",");
            sagg__emit_number(emit, frames->frames[at]->line);
        }
    }
    sagg__emit_text(emit, "]");
}

int sagg__packed_frames_write(const sagg__packed_frames *frames, sagg__emit *emit)
{
    int rc = write_names(frames, emit);
    write_kinds(frames, emit);
    write_texts(frames, emit, false);
    write_texts(frames, emit, true);
    if (frames->lines)
        write_lines(frames, emit);
    return rc;
}
