/* SPDX-License-Identifier: Apache-2.0 */
/* Whole documents: JSON and HTML. */
#include <string.h>

#include "emit.h"
#include "fail.h"
#include "json.h"

static const char element[] =
    "<script type=\"application/json\" id=\"hotstack-data\">" SAGG_HTML_MARKER "</script>";

/* Where `what` first occurs in `text` from `from` on, or text.size. */
static size_t find(sagg_str text, size_t from, const char *what)
{
    size_t size = strlen(what);
    for (size_t at = from; size <= text.size && at <= text.size - size; at++)
        if (text.data[at] == what[0] && memcmp(text.data + at, what, size) == 0)
            return at;
    return text.size;
}

/* Finds where the JSON goes, in place of the marker's bytes. */
static int find_marker(sagg_str text, size_t *marker, sagg_error *err)
{
    *marker = find(text, 0, SAGG_HTML_MARKER);
    if (*marker == text.size)
        return sagg__fail(err, SAGG_E_FORMAT, 0,
                          "The HTML template has no %s: build it from ui/flamegraph.",
                          SAGG_HTML_MARKER);
    size_t second = find(text, *marker + 1, SAGG_HTML_MARKER);
    if (second != text.size)
        return sagg__fail(err, SAGG_E_FORMAT, second,
                          "The HTML template has %s twice, again at byte %zu: it must stand once.",
                          SAGG_HTML_MARKER, second);
    size_t before = strlen("<script type=\"application/json\" id=\"hotstack-data\">");
    if (*marker < before || find(text, *marker - before, element) != *marker - before)
        return sagg__fail(err, SAGG_E_FORMAT, *marker,
                          "The HTML template's %s at byte %zu does not fill a <script "
                          "type=\"application/json\" id=\"hotstack-data\"> element.",
                          SAGG_HTML_MARKER, *marker);
    return 0;
}

static int finish(int rc, sagg_error *err)
{
    if (rc == SAGG_E_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

/* Writes `before`, the document, `after`. */
static int write_around(sagg__json json, sagg_str before, sagg_str after, const sagg_sink *sink,
                        sagg_error *err)
{
    sagg__mem mem;
    sagg__emit emit;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    json.mem = &mem;
    sagg__emit_begin(&emit, sink, &mem);
    sagg__emit_bytes(&emit, before.data, before.size);
    int rc = sagg__json_write(&json, &emit);
    sagg__emit_bytes(&emit, after.data, after.size);
    int end = sagg__emit_end(&emit, &mem);
    return finish(rc != 0 ? rc : end, err);
}

int sagg_write_json(const sagg_tree *const *trees, size_t count, sagg_str meta,
                    const sagg_sink *sink, sagg_error *err)
{
    sagg__json json = {.trees = trees, .tree_count = count, .meta = meta};
    int rc = sagg__json_check(&json, err);
    if (rc != 0)
        return rc;
    sagg_str nothing = {"", 0};
    return write_around(json, nothing, nothing, sink, err);
}

int sagg_write_html(sagg_str html_template, const sagg_tree *const *trees, size_t count,
                    sagg_str meta, const sagg_sink *sink, sagg_error *err)
{
    sagg__json json = {.trees = trees, .tree_count = count, .meta = meta};
    size_t marker = 0;
    int rc = sagg__json_check(&json, err);
    if (rc == 0)
        rc = find_marker(html_template, &marker, err);
    if (rc != 0)
        return rc;
    size_t behind = marker + strlen(SAGG_HTML_MARKER);
    sagg_str before = {html_template.data, marker};
    sagg_str after = {html_template.data + behind, html_template.size - behind};
    return write_around(json, before, after, sink, err);
}
