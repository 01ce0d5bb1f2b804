/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a picture: merged, sorted, with strings of their own. */
#include <string.h>

#include "output/emit_impl.h"
#include "trees/sort_impl.h"
#include "trees/tree_impl.h"

/* Returns byte `at` of "class.method", or -1 past its end. */
static int byte_at(const sagg_frame *frame, size_t at)
{
    size_t class_size = frame->class_name.size;
    if (at < class_size)
        return (uint8_t)frame->class_name.data[at];
    size_t start = class_size > 0 ? class_size + 1 : 0;
    if (at < start)
        return '.';
    return at - start < frame->method.size ? (uint8_t)frame->method.data[at - start] : -1;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int name_order(const sagg_frame *a, const sagg_frame *b)
{
    size_t common =
        a->class_name.size < b->class_name.size ? a->class_name.size : b->class_name.size;
    int order = common > 0 ? memcmp(a->class_name.data, b->class_name.data, common) : 0;
    for (size_t at = common; order == 0; at++) {
        int x = byte_at(a, at);
        order = x - byte_at(b, at);
        if (x < 0)
            break;
    }
    return order;
}

int sagg__frame_order(const sagg_frame *a, const sagg_frame *b)
{
    int order = name_order(a, b);
    if (order == 0)
        order = compare(a->class_name.size, b->class_name.size);
    if (order == 0)
        order = compare(a->kind, b->kind);
    return order != 0 ? order : compare(a->line, b->line);
}

/* The source of the palette: the aggregate's frames, then its threads. Both have names: the
 * methods', then the threads' own. */
struct source {
    const sagg *agg;
    bool lines;
    uint32_t frames;
    uint32_t threads;
    uint32_t methods;
    sagg_str *labels; /* of threads: borrowed names, or in `label_text` */
    char *label_text;
    size_t label_room;
    uint32_t *ranks; /* of names, in their order; equal names have the same rank */
    uint64_t *keys;  /* of frames and threads: rank, then line */
};

sagg_frame sagg__thread_frame(const sagg *agg, uint32_t index)
{
    sagg_frame frame = {.kind = SAGG_UNKNOWN};
    sagg_thread thread = {0};
    (void)sagg_thread_at(agg, index, &thread);
    frame.method = thread.name.size > 0 ? thread.name : thread.pool;
    if (frame.method.size == 0)
        frame.method = (sagg_str){"[no thread]", strlen("[no thread]")};
    return frame;
}

/* ---- labels of threads ---- */

enum { LABEL_ROOM = sizeof("[ tid=]") + SAGG__DIGITS }; /* besides the name */

static size_t put(char *to, size_t at, const char *bytes, size_t size)
{
    memcpy(to + at, bytes, size);
    return at + size;
}

/* Writes "[name tid=7]". */
static size_t put_label(char *out, const sagg_thread *thread)
{
    size_t used = put(out, 0, "[", 1);
    if (thread->name.size > 0) {
        used = put(out, used, thread->name.data, thread->name.size);
        used = put(out, used, " ", 1);
    }
    used = put(out, used, "tid=", strlen("tid="));
    used += sagg__put_number(out + used, (uint64_t)thread->os_tid);
    return put(out, used, "]", 1);
}

static sagg_thread thread_of(const struct source *source, uint32_t index)
{
    sagg_thread thread = {0};
    (void)sagg_thread_at(source->agg, index, &thread);
    return thread;
}

/* Makes the labels of threads. With `ids`, a thread whose id is unknown keeps its name. Returns
 * false without memory. */
static bool make_labels(struct source *source, sagg__mem *mem, bool ids)
{
    for (uint32_t i = 0; ids && i < source->threads; i++)
        source->label_room += thread_of(source, i).name.size + LABEL_ROOM;
    source->labels = sagg__alloc(mem, source->threads * sizeof(*source->labels));
    source->label_text = sagg__alloc(mem, source->label_room);
    if (source->labels == NULL || source->label_text == NULL)
        return false;
    char *at = source->label_text;
    for (uint32_t i = 0; i < source->threads; i++) {
        const sagg_thread thread = thread_of(source, i);
        source->labels[i] = sagg__thread_frame(source->agg, i).method;
        if (!ids || thread.os_tid <= 0)
            continue;
        source->labels[i] = (sagg_str){at, put_label(at, &thread)};
        at += source->labels[i].size;
    }
    return true;
}

static void free_labels(struct source *source, sagg__mem *mem)
{
    sagg__release(mem, source->labels, source->threads * sizeof(*source->labels));
    sagg__release(mem, source->label_text, source->label_room);
}

/* ---- building ---- */

static sagg_frame name_at(const struct source *source, uint32_t number)
{
    sagg_frame name = {.kind = SAGG_UNKNOWN};
    const sagg__names *names = &source->agg->names;
    if (number < source->methods) {
        const sagg__method *method = SAGG__AT(sagg__method, source->agg->methods.array, number);
        name.class_name = sagg__name_get(names, method->class_name);
        name.method = sagg__name_get(names, method->method);
        name.file = sagg__name_get(names, method->file);
        name.kind = method->kind;
        return name;
    }
    name.method = source->labels[number - source->methods];
    return name;
}

static int by_name(const void *context, uint32_t a, uint32_t b)
{
    sagg_frame left = name_at(context, a);
    sagg_frame right = name_at(context, b);
    return sagg__frame_order(&left, &right);
}

static int by_key(const void *context, uint32_t a, uint32_t b)
{
    const struct source *source = context;
    return compare(source->keys[a], source->keys[b]);
}

static void rank_names(struct source *source, uint32_t *order, uint32_t *room)
{
    uint32_t count = source->methods + source->threads;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    sagg__sort(order, room, count, by_name, source);
    for (uint32_t i = 0; i < count; i++) {
        rank += i > 0 && by_name(source, order[i - 1], order[i]) != 0 ? 1 : 0;
        source->ranks[order[i]] = rank;
    }
}

/* Returns the name of a frame or thread. */
static uint32_t name_of(const struct source *source, uint32_t number)
{
    if (number >= source->frames)
        return source->methods + (number - source->frames);
    return SAGG__AT(sagg__frame, source->agg->frames.array, number)->method;
}

static uint32_t line_of(const struct source *source, uint32_t number)
{
    if (!source->lines || number >= source->frames)
        return 0;
    return SAGG__AT(sagg__frame, source->agg->frames.array, number)->line;
}

static void sort_frames(struct source *source, uint32_t *order, uint32_t *room)
{
    uint32_t count = source->frames + source->threads;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rank = source->ranks[name_of(source, i)];
        source->keys[i] = rank << 32 | line_of(source, i);
        order[i] = i;
    }
    sagg__sort(order, room, count, by_key, source);
}

/* Returns the smaller file of two merged frames. */
static sagg_str merge_file(sagg_str a, sagg_str b)
{
    if (a.size == 0 || b.size == 0)
        return a.size > 0 ? a : b;
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order < 0 || (order == 0 && a.size <= b.size) ? a : b;
}

/* Fills frames and maps from the sorted numbers. */
static void fill(sagg__palette *palette, const struct source *source, const uint32_t *order,
                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sagg_frame frame = name_at(source, name_of(source, order[i]));
        frame.line = line_of(source, order[i]);
        sagg_frame *last = palette->count > 0 ? &palette->frames[palette->count - 1] : NULL;
        if (last != NULL && source->keys[order[i]] == source->keys[order[i - 1]])
            last->file = merge_file(last->file, frame.file);
        else
            palette->frames[palette->count++] = frame;
        uint32_t *map = order[i] < source->frames ? &palette->of_frame[order[i]]
                                                  : &palette->of_thread[order[i] - source->frames];
        *map = palette->count - 1;
    }
}

static size_t text_bytes(const sagg__palette *palette)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < palette->count; i++)
        bytes += palette->frames[i].class_name.size + palette->frames[i].method.size +
                 palette->frames[i].file.size;
    return bytes;
}

static void own(sagg_str *text, char *room, size_t *used)
{
    if (text->size > 0)
        memcpy(room + *used, text->data, text->size);
    text->data = room + *used;
    *used += text->size;
}

static int own_text(sagg__palette *palette, sagg__mem *mem)
{
    palette->text_size = text_bytes(palette);
    palette->text = sagg__alloc(mem, palette->text_size);
    if (palette->text == NULL)
        return SAGG_ERR_NOMEM;
    size_t used = 0;
    for (uint32_t i = 0; i < palette->count; i++) {
        own(&palette->frames[i].class_name, palette->text, &used);
        own(&palette->frames[i].method, palette->text, &used);
        own(&palette->frames[i].file, palette->text, &used);
    }
    return 0;
}

/* Sorts and fills. All memory is allocated; `order` and `room` have space for the larger of the
 * counts of names and frames. */
static void build(sagg__palette *palette, struct source *source, uint32_t *order, uint32_t *room)
{
    rank_names(source, order, room);
    sort_frames(source, order, room);
    fill(palette, source, order, source->frames + source->threads);
}

int sagg__palette_new(sagg__palette *palette, sagg__mem *mem, const sagg *agg, bool lines,
                      enum sagg__thread_frames threads)
{
    struct source source = {.agg = agg,
                            .lines = lines,
                            .frames = agg->frames.count,
                            .threads = threads != SAGG__NO_THREADS ? agg->threads.count : 0,
                            .methods = agg->methods.count};
    uint32_t count = source.frames + source.threads;
    uint32_t names = source.methods + source.threads;
    uint32_t most = count > names ? count : names;
    *palette = (sagg__palette){.frame_slots = source.frames, .thread_slots = source.threads};
    palette->frames = sagg__alloc_zero(mem, count, sizeof(sagg_frame));
    palette->of_frame = sagg__alloc_zero(mem, source.frames, sizeof(uint32_t));
    palette->of_thread = sagg__alloc_zero(mem, source.threads, sizeof(uint32_t));
    source.ranks = sagg__alloc(mem, names * sizeof(*source.ranks));
    source.keys = sagg__alloc(mem, count * sizeof(*source.keys));
    uint32_t *order = sagg__alloc(mem, most * sizeof(*order));
    uint32_t *room = sagg__alloc(mem, most * sizeof(*room));
    bool labelled = make_labels(&source, mem, threads == SAGG__THREAD_IDS);
    int rc = SAGG_ERR_NOMEM;
    if (palette->frames != NULL && palette->of_frame != NULL && palette->of_thread != NULL &&
        source.ranks != NULL && source.keys != NULL && order != NULL && room != NULL && labelled) {
        build(palette, &source, order, room);
        rc = own_text(palette, mem);
    }
    sagg__release(mem, source.ranks, names * sizeof(*source.ranks));
    sagg__release(mem, source.keys, count * sizeof(*source.keys));
    sagg__release(mem, order, most * sizeof(*order));
    sagg__release(mem, room, most * sizeof(*room));
    free_labels(&source, mem);
    return rc;
}

void sagg__palette_drop_maps(sagg__palette *palette, sagg__mem *mem)
{
    sagg__release(mem, palette->of_frame, palette->frame_slots * sizeof(uint32_t));
    sagg__release(mem, palette->of_thread, palette->thread_slots * sizeof(uint32_t));
    palette->of_frame = NULL;
    palette->of_thread = NULL;
}

void sagg__palette_free(sagg__palette *palette, sagg__mem *mem)
{
    size_t slots = (size_t)palette->frame_slots + palette->thread_slots;
    sagg__release(mem, palette->frames, slots * sizeof(sagg_frame));
    sagg__release(mem, palette->text, palette->text_size);
    sagg__palette_drop_maps(palette, mem);
}
