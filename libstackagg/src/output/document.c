/* SPDX-License-Identifier: Apache-2.0 */
#include "output/document_impl.h"

#include "frames/names_impl.h"
#include "trees/sort_impl.h"
#include "trees/tree_impl.h"

/* The frames of all profiles, each once, in the order of siblings. */
typedef struct frame_table {
    sagg__mem *mem;
    const sagg_frame **frames; /* of all profiles, one after another */
    uint32_t *order;           /* numbers of `frames`, sorted; then one of each different frame */
    uint32_t *room;            /* for sorting */
    uint32_t *ids;             /* by number of `frames`: the document's number */
    uint32_t count;
    uint32_t id_count;
} frame_table;

static int by_frame(const void *context, uint32_t a, uint32_t b)
{
    const sagg_frame *const *frames = context;
    return sagg__frame_order(frames[a], frames[b]);
}

static uint64_t count_frames(const sagg__document *document)
{
    uint64_t count = 0;
    for (size_t p = 0; p < document->count; p++)
        count += document->profiles[p].view->frame_count;
    return count;
}

static void number_frames(frame_table *table)
{
    uint32_t different = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t at = table->order[i];
        if (i > 0 && by_frame(table->frames, table->order[different - 1], at) == 0) {
            table->ids[at] = different - 1;
            continue;
        }
        table->ids[at] = different;
        table->order[different++] = at;
    }
    table->id_count = different;
}

static void free_table(frame_table *table)
{
    const size_t room = (size_t)table->count + 1;
    sagg__release(table->mem, table->frames, room * sizeof(*table->frames));
    sagg__release(table->mem, table->order, room * sizeof(*table->order));
    sagg__release(table->mem, table->room, room * sizeof(*table->room));
    sagg__release(table->mem, table->ids, room * sizeof(*table->ids));
}

/* Free it in any case. */
static int make_table(frame_table *table, const sagg__document *document, sagg__mem *mem)
{
    const uint64_t count = count_frames(document);
    if (count >= UINT32_MAX)
        return SAGG_ERR_LIMIT;
    const size_t room = (size_t)count + 1;
    *table = (frame_table){.mem = mem, .count = (uint32_t)count};
    table->frames = sagg__alloc(mem, room * sizeof(*table->frames));
    table->order = sagg__alloc(mem, room * sizeof(*table->order));
    table->room = sagg__alloc(mem, room * sizeof(*table->room));
    table->ids = sagg__alloc(mem, room * sizeof(*table->ids));
    if (table->frames == NULL || table->order == NULL || table->room == NULL || table->ids == NULL)
        return SAGG_ERR_NOMEM;
    uint32_t at = 0;
    for (size_t p = 0; p < document->count; p++) {
        const sagg_tree_view *view = document->profiles[p].view;
        for (size_t i = 0; i < view->frame_count; i++) {
            table->order[at] = at;
            table->frames[at++] = &view->frames[i];
        }
    }
    sagg__sort(table->order, table->room, table->count, by_frame, table->frames);
    number_frames(table);
    return 0;
}

static const sagg_frame *frame_at(const frame_table *table, uint32_t id)
{
    return table->frames[table->order[id]];
}

/* ---- arrays ---- */

static void begin_array(sagg__emit *emit, const char *key)
{
    sagg__emit_text(emit, "\"");
    sagg__emit_text(emit, key);
    sagg__emit_text(emit, "\":[");
}

static void write_number(sagg__emit *emit, size_t index, uint64_t number)
{
    if (index > 0)
        sagg__emit_text(emit, ",");
    sagg__emit_number(emit, number);
}

void sagg__emit_u32s(sagg__emit *emit, const char *key, const uint32_t *numbers, size_t count)
{
    begin_array(emit, key);
    for (size_t i = 0; i < count; i++)
        write_number(emit, i, numbers[i]);
    sagg__emit_text(emit, "]");
}

void sagg__emit_u64s(sagg__emit *emit, const char *key, const uint64_t *numbers, size_t count)
{
    begin_array(emit, key);
    for (size_t i = 0; i < count; i++)
        write_number(emit, i, numbers[i]);
    sagg__emit_text(emit, "]");
}

/* ---- strings and frames ---- */

enum column { CLASS, METHOD, SOURCE_FILE, LINE, KIND };

static sagg_str text_of(const sagg_frame *frame, enum column column)
{
    return column == CLASS ? frame->class_name : column == METHOD ? frame->method : frame->file;
}

static int collect_strings(const frame_table *table, sagg__names *names)
{
    for (uint32_t i = 0; i < table->id_count; i++) {
        for (int column = CLASS; column <= SOURCE_FILE; column++) {
            uint32_t number;
            sagg_str text = text_of(frame_at(table, i), (enum column)column);
            int rc = sagg__name_add(table->mem, names, text, &number);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static void write_strings(sagg__emit *emit, const sagg__names *names)
{
    begin_array(emit, "strings");
    for (uint32_t i = 0; i < names->count; i++) {
        if (i > 0)
            sagg__emit_text(emit, ",");
        sagg__emit_string(emit, sagg__name_get(names, i));
    }
    sagg__emit_text(emit, "]");
}

static uint32_t column_of(const frame_table *table, sagg__names *names, const sagg_frame *frame,
                          enum column column)
{
    if (column == LINE)
        return frame->line;
    if (column == KIND)
        return frame->kind;
    uint32_t number = 0;
    /* The string exists, so this only finds it. */
    (void)sagg__name_add(table->mem, names, text_of(frame, column), &number);
    return number;
}

static void write_frames(sagg__emit *emit, const frame_table *table, sagg__names *names)
{
    static const char *const keys[] = {"class", "method", "file", "line", "kind"};
    sagg__emit_text(emit, ",\"frames\":{");
    for (int column = CLASS; column <= KIND; column++) {
        if (column > CLASS)
            sagg__emit_text(emit, ",");
        begin_array(emit, keys[column]);
        for (uint32_t i = 0; i < table->id_count; i++)
            write_number(emit, i, column_of(table, names, frame_at(table, i), (enum column)column));
        sagg__emit_text(emit, "]");
    }
    sagg__emit_text(emit, "}");
}

/* ---- profiles ---- */

static void write_totals(sagg__emit *emit, const sagg_tree_view *view)
{
    sagg__emit_text(emit, "\"type\":");
    sagg__emit_string(emit, view->type);
    sagg__emit_text(emit, ",\"unit\":");
    sagg__emit_string(emit, view->unit);
    sagg__emit_text(emit, ",\"raw_total\":\"");
    sagg__emit_number(emit, view->totals.raw_value);
    sagg__emit_text(emit, "\",\"value_total\":\"");
    sagg__emit_number(emit, view->totals.value);
    sagg__emit_text(emit, "\",\"samples\":");
    sagg__emit_number(emit, view->totals.samples);
}

static void write_nodes(sagg__emit *emit, const sagg__document_profile *profile,
                        const uint32_t *ids)
{
    const sagg_tree_view *view = profile->view;
    sagg__emit_text(emit, ",\"nodes\":{");
    sagg__emit_u32s(emit, "depth", view->depth, view->node_count);
    sagg__emit_text(emit, ",\"frame\":[-1");
    for (size_t i = 1; i < view->node_count; i++)
        write_number(emit, i, ids[view->frame[i]]);
    sagg__emit_text(emit, "],");
    sagg__emit_u64s(emit, "self", view->self, view->node_count);
    if (profile->before != NULL) {
        sagg__emit_text(emit, ",");
        sagg__emit_u64s(emit, "before", profile->before, view->node_count);
    }
    sagg__emit_text(emit, "}");
}

static void write_omitted(sagg__emit *emit, const sagg__document_profile *profile)
{
    const sagg_tree_view *view = profile->view;
    sagg__emit_text(emit, ",\"omitted\":{");
    sagg__emit_u32s(emit, "node", view->omitted_node, view->omitted_count);
    sagg__emit_text(emit, ",");
    sagg__emit_u64s(emit, "total", view->omitted_total, view->omitted_count);
    if (profile->before != NULL) { /* there may be no array when there are no blocks */
        sagg__emit_text(emit, ",");
        sagg__emit_u64s(emit, "before", profile->omitted_before, view->omitted_count);
    }
    sagg__emit_text(emit, ",");
    sagg__emit_u64s(emit, "count", view->omitted_nodes, view->omitted_count);
    sagg__emit_text(emit, "}");
}

static void write_profiles(sagg__emit *emit, const sagg__document *document,
                           const frame_table *table)
{
    size_t first = 0;
    sagg__emit_text(emit, ",\"profiles\":[");
    for (size_t i = 0; i < document->count; i++) {
        const sagg__document_profile *profile = &document->profiles[i];
        const uint32_t *ids = table->ids + first;
        sagg__emit_text(emit, i > 0 ? ",{" : "{");
        write_totals(emit, profile->view);
        write_nodes(emit, profile, ids);
        write_omitted(emit, profile);
        if (profile->more != NULL)
            profile->more(profile->ctx, emit, ids);
        sagg__emit_text(emit, "}");
        first += profile->view->frame_count;
    }
    sagg__emit_text(emit, "]");
}

static void write_members(sagg__emit *emit, const sagg__document *document,
                          const frame_table *table, sagg__names *names)
{
    sagg__emit_text(emit, "{\"version\":2,");
    write_strings(emit, names);
    write_frames(emit, table, names);
    if (document->count > 0 && document->profiles[0].view->threads)
        sagg__emit_text(emit, ",\"threads\":true");
    write_profiles(emit, document, table);
    sagg__emit_text(emit, ",\"meta\":");
    if (document->meta.size > 0)
        sagg__emit_json(emit, document->meta);
    else
        sagg__emit_text(emit, "{}");
    sagg__emit_text(emit, "}");
}

int sagg__document_write(const sagg__document *document, sagg__emit *emit, sagg__mem *mem)
{
    frame_table table = {.mem = mem};
    sagg__names names;
    int rc = sagg__names_init(mem, &names);
    if (rc == 0)
        rc = make_table(&table, document, mem);
    if (rc == 0)
        rc = collect_strings(&table, &names);
    if (rc == 0)
        write_members(emit, document, &table, &names);
    free_table(&table);
    sagg__names_free(mem, &names);
    return rc;
}
