/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks: a line per node of the whole tree that has a value of its own. */
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "fail.h"
#include "tree.h"
#include "utf8.h"

/* The line being written: the names on the path, and where each depth ends. */
struct line {
    sagg__mem mem;
    sagg__array text; /* char */
    sagg__array ends; /* size_t, by depth */
    bool lines;
};

static int append(struct line *line, size_t *size, const char *bytes, size_t count)
{
    int rc = sagg__grow(&line->mem, &line->text, *size + count, 1);
    if (rc != 0)
        return rc;
    memcpy((char *)line->text.items + *size, bytes, count);
    *size += count;
    return 0;
}

/* What a name may not hold in this format is replaced; the rest is kept. */
static int append_name(struct line *line, size_t *size, sagg_str name)
{
    const uint8_t *bytes = (const uint8_t *)name.data;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < name.size;) {
        uint32_t code_point = 0xFFFD;
        int step = sagg__utf8_step(bytes + at, name.size - at, &code_point);
        size_t width = (size_t)(step > 0 ? step : -step);
        bool at_edge = at == 0 || at + width == name.size;
        if (code_point == ';' || code_point == '\n' || code_point == '\r' ||
            (code_point == ' ' && at_edge))
            rc = append(line, size, "_", 1);
        else if (step < 0 || sagg__hostile(code_point))
            rc = append(line, size, "?", 1);
        else
            rc = append(line, size, name.data + at, width);
        at += width;
    }
    return rc;
}

static int append_frame(struct line *line, size_t *size, const sagg_frame *frame)
{
    int rc = 0;
    if (frame->class_name.size > 0) {
        rc = append_name(line, size, frame->class_name);
        if (rc == 0)
            rc = append(line, size, ".", 1);
    }
    if (rc == 0)
        rc = append_name(line, size, frame->method);
    if (rc == 0 && line->lines && frame->line > 0) {
        char number[16];
        int digits = snprintf(number, sizeof(number), ":%u", frame->line);
        rc = append(line, size, number, (size_t)digits);
    }
    return rc;
}

/* Puts the frame of a node at its depth into the line; what was deeper is forgotten. */
static int enter(struct line *line, const sagg_tree_view *view, size_t node)
{
    uint32_t depth = view->depth[node];
    int rc = sagg__grow(&line->mem, &line->ends, (size_t)depth + 1, sizeof(size_t));
    if (rc != 0)
        return rc;
    size_t size = depth > 0 ? *SAGG__AT(size_t, line->ends, depth - 1) : 0;
    if (depth > 1)
        rc = append(line, &size, ";", 1);
    if (rc == 0 && depth > 0)
        rc = append_frame(line, &size, &view->frames[view->frame[node]]);
    *SAGG__AT(size_t, line->ends, depth) = size;
    return rc;
}

static void leave_line(const struct line *line, sagg__emit *emit, size_t size, uint64_t value)
{
    if (size == 0)
        sagg__emit_text(emit, "[no stack]");
    else
        sagg__emit_bytes(emit, line->text.items, size);
    sagg__emit_text(emit, " ");
    sagg__emit_number(emit, value);
    sagg__emit_text(emit, "\n");
}

static int write_tree(const sagg_tree_view *view, bool lines, const sagg_sink *sink)
{
    struct line line = {.lines = lines};
    sagg__emit emit;
    sagg__mem_init(&line.mem, NULL, UINT64_MAX);
    sagg__emit_begin(&emit, sink, &line.mem);
    int rc = 0;
    for (size_t i = 0; rc == 0 && emit.rc == 0 && i < view->node_count; i++) {
        rc = enter(&line, view, i);
        if (rc == 0 && view->self[i] > 0)
            leave_line(&line, &emit, *SAGG__AT(size_t, line.ends, view->depth[i]), view->self[i]);
    }
    sagg__array_free(&line.mem, &line.text, 1);
    sagg__array_free(&line.mem, &line.ends, sizeof(size_t));
    int end = sagg__emit_end(&emit, &line.mem);
    return rc != 0 ? rc : end;
}

static int read_options(sagg_collapsed_options *out, const sagg_collapsed_options *given,
                        sagg_error *err)
{
    *out = (sagg_collapsed_options)SAGG_COLLAPSED_OPTIONS_INIT;
    if (given == NULL)
        return 0;
    memcpy(out, given, given->size < sizeof(*out) ? given->size : sizeof(*out));
    for (size_t i = sizeof(*out); i < given->size; i++)
        if (((const uint8_t *)given)[i] != 0)
            return sagg__fail(err, SAGG_E_USAGE, 0,
                              "The options have fields set that this library does not know.");
    return 0;
}

int sagg_write_collapsed(const sagg *agg, uint32_t type, const sagg_collapsed_options *options,
                         const sagg_sink *sink, sagg_error *err)
{
    sagg_collapsed_options o;
    sagg_tree_options tree_options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree;
    int rc = read_options(&o, options, err);
    if (rc != 0)
        return rc;
    tree_options.type = type;
    tree_options.lines = o.lines;
    tree_options.threads = o.threads;
    rc = sagg_tree_new(&tree, agg, &tree_options, err);
    if (rc != 0)
        return rc;
    rc = write_tree(sagg_tree_get(tree), o.lines, sink);
    sagg_tree_free(tree);
    if (rc == SAGG_E_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
