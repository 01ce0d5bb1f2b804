/* SPDX-License-Identifier: Apache-2.0 */
#include "packed_impl.h"

#include <string.h>

#include "fail_impl.h"
#include "output/meta_impl.h"
#include "packed_frames_impl.h"

/* Slots of the table that foretells the next frame. */
#define SLOT_BITS 16
/* Above, a number of JavaScript is not exact. */
#define EXACT (UINT64_C(1) << 53)

/* Places of single bits: two each for whether a frame is the foretold one and whether a stack ends,
 * one for whether another frame is new. */
enum { FORETOLD = SAGG__BITS * SAGG__PLACES, ENDED = FORETOLD + 2, NEW = ENDED + 2 };

/* What a reader keeps too, in the same way, for all profiles of a document. */
struct walk {
    sagg__mem *mem;
    sagg__coder coder;
    const sagg__packed_profile *profile;
    const uint32_t *ids; /* of the view's frames */
    uint64_t scale;
    size_t slots;
    size_t frames;
    size_t depths;
    uint32_t *foretold; /* by slot: a frame + 1; 0 = the next that was not seen yet */
    uint32_t seen;      /* how many frames of the document were */
    bool *ended;        /* by frame: a stack ended there when it was last met */
    uint32_t *path;     /* by depth: the document's frame; path[0] stands for the root */
};

/* ---- values ---- */

uint64_t sagg__divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t scale_of(const sagg__packed_profile *profile)
{
    const sagg_tree_view *view = profile->view;
    uint64_t scale = 0;
    for (size_t i = 0; i < view->node_count && scale != 1; i++) {
        scale = sagg__divisor(scale, view->self[i]);
        if (profile->before != NULL)
            scale = sagg__divisor(scale, profile->before[i]);
    }
    for (size_t i = 0; i < view->omitted_count && scale != 1; i++) {
        scale = sagg__divisor(scale, view->omitted_total[i]);
        if (profile->omitted_before != NULL)
            scale = sagg__divisor(scale, profile->omitted_before[i]);
    }
    return scale > 0 ? scale : 1;
}

/* ---- the tree ---- */

/* UINT32_MAX stands for the root and for no sibling: + 1 makes it 0. */
static uint32_t slot_of(uint32_t parent, uint32_t behind)
{
    uint32_t hash = (parent + 1) * UINT32_C(0x9E3779B1) + (behind + 1) * UINT32_C(0x85EBCA77);
    return hash >> (32 - SLOT_BITS);
}

static void code_value(struct walk *w, size_t node)
{
    sagg__coder_number(&w->coder, SAGG__VALUE, w->profile->view->self[node] / w->scale);
    if (w->profile->before != NULL)
        sagg__coder_number(&w->coder, SAGG__BEFORE, w->profile->before[node] / w->scale);
}

/* Whether a stack ends at a node: it has a value, or nothing below it was kept. */
static bool is_end(const struct walk *w, size_t node)
{
    const sagg_tree_view *view = w->profile->view;
    return node + 1 == view->node_count || view->depth[node + 1] <= view->depth[node] ||
           view->self[node] > 0 || (w->profile->before != NULL && w->profile->before[node] > 0);
}

/* Whether the frame comes as foretold; if not, whether it is new; if not, which one it is. */
static void code_frame(struct walk *w, uint32_t parent, uint32_t behind, uint32_t frame)
{
    uint32_t *foretold = &w->foretold[slot_of(parent, behind)];
    bool is_new = frame == w->seen;
    bool is_other = *foretold != (is_new ? 0 : frame + 1);
    sagg__coder_bit(&w->coder, FORETOLD + (*foretold > 0 ? 1 : 0), is_other);
    if (is_other)
        sagg__coder_bit(&w->coder, NEW, is_new);
    if (is_other && !is_new)
        sagg__coder_below(&w->coder, frame, w->seen);
    w->seen += is_new ? 1 : 0;
    *foretold = frame + 1;
}

/* The new frames of one stack. Returns the node behind them. */
static size_t code_stack(struct walk *w, size_t node, uint32_t behind)
{
    const sagg_tree_view *view = w->profile->view;
    for (bool end = false; !end; node++) {
        uint32_t depth = view->depth[node];
        uint32_t frame = w->ids[view->frame[node]];
        code_frame(w, w->path[depth - 1], behind, frame);
        end = is_end(w, node);
        sagg__coder_bit(&w->coder, ENDED + (w->ended[frame] ? 1 : 0), end);
        w->ended[frame] = end;
        w->path[depth] = frame;
        behind = UINT32_MAX;
    }
    return node;
}

static void code_tree(struct walk *w)
{
    const sagg_tree_view *view = w->profile->view;
    w->path[0] = UINT32_MAX;
    sagg__coder_number(&w->coder, SAGG__PLAIN, view->node_count);
    sagg__coder_number(&w->coder, SAGG__PLAIN, w->scale);
    code_value(w, 0);
    for (size_t node = 1; node < view->node_count;) {
        uint32_t up = view->depth[node - 1] + 1 - view->depth[node];
        sagg__coder_number(&w->coder, SAGG__UP, up);
        node = code_stack(w, node, up == 0 ? UINT32_MAX : w->path[view->depth[node]]);
        code_value(w, node - 1);
    }
}

static void code_omitted(struct walk *w)
{
    const sagg_tree_view *view = w->profile->view;
    sagg__coder_number(&w->coder, SAGG__PLAIN, view->omitted_count);
    for (size_t i = 0; i < view->omitted_count; i++) {
        uint32_t before = i > 0 ? view->omitted_node[i - 1] : UINT32_MAX;
        sagg__coder_number(&w->coder, SAGG__GAP, (uint32_t)(view->omitted_node[i] - before));
        sagg__coder_number(&w->coder, SAGG__CUT_VALUE, view->omitted_total[i] / w->scale);
        if (w->profile->omitted_before != NULL)
            sagg__coder_number(&w->coder, SAGG__CUT_BEFORE,
                               w->profile->omitted_before[i] / w->scale);
        uint64_t nodes = view->omitted_nodes[i];
        sagg__coder_number(&w->coder, SAGG__CUT_NODES, nodes < INT32_MAX ? nodes : INT32_MAX);
    }
}

static size_t deepest(const sagg__packed *document)
{
    uint32_t depth = 0;
    for (size_t p = 0; p < document->count; p++) {
        const sagg_tree_view *view = document->profiles[p].view;
        for (size_t i = 0; i < view->node_count; i++)
            depth = view->depth[i] > depth ? view->depth[i] : depth;
    }
    return depth;
}

static void end_walk(struct walk *w)
{
    sagg__coder_end(&w->coder);
    sagg__release(w->mem, w->foretold, w->slots * sizeof(*w->foretold));
    sagg__release(w->mem, w->ended, w->frames * sizeof(*w->ended));
    sagg__release(w->mem, w->path, w->depths * sizeof(*w->path));
}

/* End it in any case. */
static int begin_walk(struct walk *w, const sagg__packed *document,
                      const sagg__packed_frames *frames, sagg__emit *emit)
{
    *w = (struct walk){.mem = frames->mem,
                       .slots = (size_t)1 << SLOT_BITS,
                       .frames = (size_t)frames->id_count + 1,
                       .depths = deepest(document) + 1};
    w->foretold = sagg__alloc_zero(w->mem, w->slots, sizeof(*w->foretold));
    w->ended = sagg__alloc_zero(w->mem, w->frames, sizeof(*w->ended));
    w->path = sagg__alloc_zero(w->mem, w->depths, sizeof(*w->path));
    int rc = sagg__coder_begin(&w->coder, emit, w->mem, SAGG__CONTEXTS);
    return w->foretold != NULL && w->ended != NULL && w->path != NULL ? rc : SAGG_ERR_NOMEM;
}

/* The frames' groups and all trees: one code. */
static int write_data(const sagg__packed *document, const sagg__packed_frames *frames,
                      sagg__emit *emit)
{
    struct walk w;
    size_t first = 0;
    int rc = begin_walk(&w, document, frames, emit);
    sagg__emit_text(emit, ",\"data\":\"");
    if (rc == 0)
        sagg__packed_names_code(frames, &w.coder);
    for (size_t i = 0; rc == 0 && i < document->count; i++) {
        w.profile = &document->profiles[i];
        w.ids = frames->ids + first;
        w.scale = scale_of(w.profile);
        code_tree(&w);
        code_omitted(&w);
        first += w.profile->view->frame_count;
    }
    end_walk(&w);
    sagg__emit_text(emit, "\"");
    return rc;
}

/* ---- profiles ---- */

static void write_decimal(sagg__emit *emit, const char *member, uint64_t number)
{
    sagg__emit_text(emit, member);
    sagg__emit_number(emit, number);
    sagg__emit_text(emit, "\"");
}

/* What the tree does not tell by itself: its total, and samples that are all of one weight. */
static void write_totals(const sagg__packed_profile *profile, sagg__emit *emit)
{
    const sagg_tree_view *view = profile->view;
    uint64_t total = view->total[0];
    if (view->totals.value != total || total > EXACT)
        write_decimal(emit, ",\"value_total\":\"", view->totals.value);
    if (view->totals.raw_value != view->totals.value)
        write_decimal(emit, ",\"raw_total\":\"", view->totals.raw_value);
    if (total > EXACT || view->totals.samples != total / scale_of(profile)) {
        sagg__emit_text(emit, ",\"samples\":");
        sagg__emit_number(emit, view->totals.samples);
    }
}

/* Nothing for "ns". */
static void write_unit(sagg_str unit, sagg__emit *emit)
{
    if (unit.size == 2 && memcmp(unit.data, "ns", 2) == 0)
        return;
    sagg__emit_text(emit, ",\"unit\":");
    sagg__emit_string(emit, unit);
}

static int write_profiles(const sagg__packed *document, const sagg__packed_frames *frames,
                          sagg__emit *emit)
{
    size_t first = 0;
    int rc = 0;
    sagg__emit_text(emit, ",\"profiles\":[");
    for (size_t i = 0; rc == 0 && i < document->count; i++) {
        const sagg__packed_profile *profile = &document->profiles[i];
        sagg__emit_text(emit, i > 0 ? ",{\"type\":" : "{\"type\":");
        sagg__emit_string(emit, profile->view->type);
        write_unit(profile->view->unit, emit);
        write_totals(profile, emit);
        if (profile->before != NULL)
            sagg__emit_text(emit, ",\"compares\":true");
        if (profile->more != NULL)
            rc = profile->more(profile->ctx, emit, frames->mem, frames->ids + first);
        sagg__emit_text(emit, "}");
        first += profile->view->frame_count;
    }
    sagg__emit_text(emit, "]");
    return rc;
}

static int write_document(const sagg__packed *document, const sagg__meta *meta, sagg__emit *emit,
                          sagg__mem *mem)
{
    sagg__packed_frames frames;
    int rc = sagg__packed_frames_new(&frames, mem, document);
    sagg__emit_text(emit, "{\"version\":4");
    if (rc == 0)
        sagg__packed_frames_write(&frames, emit);
    if (rc == 0 && document->count > 0 && document->profiles[0].view->threads)
        sagg__emit_text(emit, ",\"threads\":true");
    if (rc == 0)
        rc = write_profiles(document, &frames, emit);
    if (rc == 0)
        rc = write_data(document, &frames, emit);
    sagg__meta_write(meta, emit);
    sagg__emit_text(emit, "}");
    if (rc == 0)
        sagg__packed_names_write(&frames, emit);
    sagg__packed_frames_free(&frames);
    return rc;
}

/* ---- the page ---- */

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

/* Finds where the data goes, in place of the marker's bytes. */
static int find_marker(sagg_str text, size_t *marker, sagg_error *err)
{
    *marker = find(text, 0, SAGG_HTML_MARKER);
    if (*marker == text.size)
        return sagg__fail(err, SAGG_ERR_FORMAT, 0,
                          "The HTML template has no %s: build it from ui/flamegraph.",
                          SAGG_HTML_MARKER);
    size_t second = find(text, *marker + 1, SAGG_HTML_MARKER);
    if (second != text.size)
        return sagg__fail(err, SAGG_ERR_FORMAT, second,
                          "The HTML template has %s twice, again at byte %zu: it must stand once.",
                          SAGG_HTML_MARKER, second);
    size_t before = strlen("<script type=\"application/json\" id=\"hotstack-data\">");
    if (*marker < before || find(text, *marker - before, element) != *marker - before)
        return sagg__fail(err, SAGG_ERR_FORMAT, *marker,
                          "The HTML template's %s at byte %zu does not fill a <script "
                          "type=\"application/json\" id=\"hotstack-data\"> element.",
                          SAGG_HTML_MARKER, *marker);
    return 0;
}

int sagg__packed_page(sagg_str html_template, const sagg__packed *document, const sagg_sink *sink,
                      sagg_error *err)
{
    sagg__meta meta;
    sagg__mem mem;
    sagg__emit emit;
    size_t marker = 0;
    int rc = sagg__meta_read(&meta, document->meta, err);
    if (rc == 0)
        rc = find_marker(html_template, &marker, err);
    if (rc != 0)
        return rc;
    size_t behind = marker + strlen(SAGG_HTML_MARKER);
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__emit_begin(&emit, sink, &mem);
    sagg__emit_bytes(&emit, html_template.data, marker);
    rc = write_document(document, &meta, &emit, &mem);
    sagg__emit_bytes(&emit, html_template.data + behind, html_template.size - behind);
    int end = sagg__emit_end(&emit, &mem);
    rc = rc != 0 ? rc : end;
    if (rc == SAGG_ERR_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
