/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graph JSON, version 1 (docs/formats/flamegraph-json.md). */
#include "output/json_impl.h"

#include "frames/names_impl.h"

/* ---- strings ---- */

static int add_strings(const sagg__json *json, sagg__names *names)
{
    for (size_t t = 0; t < json->tree_count; t++) {
        const sagg_tree_view *view = sagg_tree_get(json->trees[t]);
        for (size_t i = 0; i < view->frame_count; i++) {
            uint32_t number;
            int rc = sagg__name_add(json->mem, names, view->frames[i].class_name, &number);
            if (rc == 0)
                rc = sagg__name_add(json->mem, names, view->frames[i].method, &number);
            if (rc == 0)
                rc = sagg__name_add(json->mem, names, view->frames[i].file, &number);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static void write_strings(sagg__emit *emit, const sagg__names *names)
{
    sagg__emit_text(emit, "\"strings\":[");
    for (uint32_t i = 0; i < names->count; i++) {
        if (i > 0)
            sagg__emit_text(emit, ",");
        sagg__emit_string(emit, sagg__name_get(names, i));
    }
    sagg__emit_text(emit, "]");
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

static void write_u32(sagg__emit *emit, const char *key, const uint32_t *numbers, size_t count)
{
    begin_array(emit, key);
    for (size_t i = 0; i < count; i++)
        write_number(emit, i, numbers[i]);
    sagg__emit_text(emit, "]");
}

static void write_u64(sagg__emit *emit, const char *key, const uint64_t *numbers, size_t count)
{
    begin_array(emit, key);
    for (size_t i = 0; i < count; i++)
        write_number(emit, i, numbers[i]);
    sagg__emit_text(emit, "]");
}

/* ---- profiles ---- */

enum column { CLASS, METHOD, SOURCE_FILE, LINE, KIND };

static uint32_t frame_column(const sagg__json *json, sagg__names *names, const sagg_frame *frame,
                             enum column column)
{
    if (column == LINE)
        return frame->line;
    if (column == KIND)
        return frame->kind;
    sagg_str text = column == CLASS    ? frame->class_name
                    : column == METHOD ? frame->method
                                       : frame->file;
    uint32_t number = 0;
    /* The string is there: this finds it. */
    (void)sagg__name_add(json->mem, names, text, &number);
    return number;
}

static void write_frames(const sagg__json *json, sagg__emit *emit, sagg__names *names,
                         const sagg_tree_view *view)
{
    static const char *const keys[] = {"class", "method", "file", "line", "kind"};
    sagg__emit_text(emit, "\"frames\":{");
    for (int column = CLASS; column <= KIND; column++) {
        if (column > CLASS)
            sagg__emit_text(emit, ",");
        begin_array(emit, keys[column]);
        for (size_t i = 0; i < view->frame_count; i++)
            write_number(emit, i, frame_column(json, names, &view->frames[i], (enum column)column));
        sagg__emit_text(emit, "]");
    }
    sagg__emit_text(emit, "}");
}

static void write_nodes(sagg__emit *emit, const sagg_tree_view *view)
{
    sagg__emit_text(emit, "\"nodes\":{");
    write_u32(emit, "depth", view->depth, view->node_count);
    sagg__emit_text(emit, ",\"frame\":[-1");
    for (size_t i = 1; i < view->node_count; i++)
        write_number(emit, i, view->frame[i]);
    sagg__emit_text(emit, "],");
    write_u64(emit, "self", view->self, view->node_count);
    sagg__emit_text(emit, ",");
    write_u64(emit, "total", view->total, view->node_count);
    sagg__emit_text(emit, "}");
}

static void write_omitted(sagg__emit *emit, const sagg_tree_view *view)
{
    sagg__emit_text(emit, "\"omitted\":{");
    write_u32(emit, "node", view->omitted_node, view->omitted_count);
    sagg__emit_text(emit, ",");
    write_u64(emit, "total", view->omitted_total, view->omitted_count);
    sagg__emit_text(emit, ",");
    write_u64(emit, "count", view->omitted_nodes, view->omitted_count);
    sagg__emit_text(emit, "}");
}

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
    sagg__emit_text(emit, ",\"total\":");
    sagg__emit_number(emit, view->total[0]);
}

static void write_profiles(const sagg__json *json, sagg__emit *emit, sagg__names *names)
{
    sagg__emit_text(emit, "\"profiles\":[");
    for (size_t i = 0; i < json->tree_count; i++) {
        const sagg_tree_view *view = sagg_tree_get(json->trees[i]);
        sagg__emit_text(emit, i > 0 ? ",{" : "{");
        write_totals(emit, view);
        sagg__emit_text(emit, ",");
        write_frames(json, emit, names, view);
        sagg__emit_text(emit, ",");
        write_nodes(emit, view);
        sagg__emit_text(emit, ",");
        write_omitted(emit, view);
        sagg__emit_text(emit, "}");
    }
    sagg__emit_text(emit, "]");
}

int sagg__json_write(const sagg__json *json, sagg__emit *emit)
{
    sagg__names names;
    int rc = sagg__names_init(json->mem, &names);
    if (rc == 0)
        rc = add_strings(json, &names);
    if (rc == 0) {
        sagg__emit_text(emit, "{\"version\":1,");
        write_strings(emit, &names);
        sagg__emit_text(emit, ",");
        write_profiles(json, emit, &names);
        sagg__emit_text(emit, ",\"meta\":");
        if (json->meta.size > 0)
            sagg__emit_json(emit, json->meta);
        else
            sagg__emit_text(emit, "{}");
        sagg__emit_text(emit, "}");
    }
    sagg__names_free(json->mem, &names);
    return rc;
}
