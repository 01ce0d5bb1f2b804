/* SPDX-License-Identifier: Apache-2.0 */
#include "packed.h"

#include <string.h>

#include "fail.h"
#include "json.h"
#include "packed_frames.h"

/* Slots of the table that foretells the next frame. */
#define SLOT_BITS 16

/* ---- numbers ---- */

/* The 90 printable characters from '#' on, without '<' and '\\'. */
static char digit(uint64_t value)
{
    value += '#';
    value += value >= '<' ? 1 : 0;
    value += value >= '\\' ? 1 : 0;
    return (char)value;
}

/* Below 70 one character, below 1,420 two, below 33,820 three; else 89, a count, as many digits. */
void sagg__emit_digits(sagg__emit *emit, uint64_t number)
{
    char text[16];
    size_t size = 0;
    if (number < 70) {
        text[size++] = digit(number);
    } else if (number < 1420) {
        text[size++] = digit(70 + (number - 70) / 90);
        text[size++] = digit((number - 70) % 90);
    } else if (number < 33820) {
        text[size++] = digit(85 + (number - 1420) / 8100);
        text[size++] = digit((number - 1420) / 90 % 90);
        text[size++] = digit((number - 1420) % 90);
    } else {
        size_t digits = 0;
        for (uint64_t rest = number; rest > 0; rest /= 90)
            digits++;
        text[0] = digit(89);
        text[1] = digit(digits);
        size = 2 + digits;
        for (size_t i = size; i-- > 2; number /= 90)
            text[i] = digit(number % 90);
    }
    sagg__emit_bytes(emit, text, size);
}

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
    uint64_t scale = profile->also;
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

/* What a reader keeps too, in the same way. */
struct walk {
    sagg__emit *emit;
    const sagg__packed_profile *profile;
    const uint32_t *ids; /* of the view's frames */
    uint64_t scale;
    uint32_t *foretold; /* by slot: a frame + 1; 0 = the next that was not seen yet */
    uint32_t *seen;     /* how many frames of the document were, shared by its profiles */
    uint64_t *last;     /* by frame: the last value at an end of it */
    uint32_t *path;     /* by depth: the document's frame; path[0] stands for the root */
};

/* UINT32_MAX stands for the root and for no sibling: + 1 makes it 0. */
static uint32_t slot_of(uint32_t parent, uint32_t behind)
{
    uint32_t hash = (parent + 1) * UINT32_C(0x9E3779B1) + (behind + 1) * UINT32_C(0x85EBCA77);
    return hash >> (32 - SLOT_BITS);
}

static void write_value(struct walk *w, size_t node, uint32_t leaf)
{
    uint64_t value = w->profile->view->self[node] / w->scale;
    if (w->profile->before != NULL) {
        sagg__emit_digits(w->emit, value + 1);
        sagg__emit_digits(w->emit, w->profile->before[node] / w->scale + 1);
        return;
    }
    bool again = leaf != UINT32_MAX && w->last[leaf] == value;
    sagg__emit_digits(w->emit, again ? 0 : value + 1);
    if (leaf != UINT32_MAX)
        w->last[leaf] = value;
}

/* Whether a stack ends at a node: it has a value, or nothing below it was kept. */
static bool is_end(const struct walk *w, size_t node)
{
    const sagg_tree_view *view = w->profile->view;
    return node + 1 == view->node_count || view->depth[node + 1] <= view->depth[node] ||
           view->self[node] > 0 || (w->profile->before != NULL && w->profile->before[node] > 0);
}

/* The new frames of one stack, in turns: how many come as foretold, then one that does not. */
static void write_frames(struct walk *w, size_t from, size_t to, uint32_t behind)
{
    const sagg_tree_view *view = w->profile->view;
    uint64_t hits = 0;
    for (size_t node = from; node <= to; node++) {
        uint32_t depth = view->depth[node];
        uint32_t frame = w->ids[view->frame[node]];
        uint32_t *foretold = &w->foretold[slot_of(w->path[depth - 1], behind)];
        uint32_t code = frame == *w->seen ? 0 : frame + 1;
        if (*foretold == code) {
            hits++;
        } else {
            sagg__emit_digits(w->emit, hits);
            sagg__emit_digits(w->emit, code);
            hits = 0;
        }
        *w->seen += code == 0 ? 1 : 0;
        *foretold = frame + 1;
        w->path[depth] = frame;
        behind = UINT32_MAX;
    }
    if (hits > 0)
        sagg__emit_digits(w->emit, hits);
}

static void write_stacks(struct walk *w)
{
    const sagg_tree_view *view = w->profile->view;
    w->path[0] = UINT32_MAX;
    write_value(w, 0, UINT32_MAX);
    for (size_t node = 1; node < view->node_count;) {
        size_t end = node;
        while (!is_end(w, end))
            end++;
        uint32_t up = view->depth[node - 1] + 1 - view->depth[node];
        uint32_t behind = up == 0 ? UINT32_MAX : w->path[view->depth[node]];
        sagg__emit_digits(w->emit, up);
        sagg__emit_digits(w->emit, end - node + 1);
        write_frames(w, node, end, behind);
        write_value(w, end, w->path[view->depth[end]]);
        node = end + 1;
    }
}

static uint32_t deepest(const sagg_tree_view *view)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < view->node_count; i++)
        depth = view->depth[i] > depth ? view->depth[i] : depth;
    return depth;
}

static int write_tree(struct walk *w, sagg__mem *mem, size_t frames)
{
    size_t slots = (size_t)1 << SLOT_BITS;
    size_t depths = (size_t)deepest(w->profile->view) + 1;
    int rc = SAGG_E_NOMEM;
    w->foretold = sagg__alloc_zero(mem, slots, sizeof(*w->foretold));
    w->last = sagg__alloc_zero(mem, frames + 1, sizeof(*w->last));
    w->path = sagg__alloc_zero(mem, depths, sizeof(*w->path));
    if (w->foretold != NULL && w->last != NULL && w->path != NULL) {
        write_stacks(w);
        rc = 0;
    }
    sagg__release(mem, w->foretold, slots * sizeof(*w->foretold));
    sagg__release(mem, w->last, (frames + 1) * sizeof(*w->last));
    sagg__release(mem, w->path, depths * sizeof(*w->path));
    return rc;
}

/* ---- profiles ---- */

static void write_omitted(const struct walk *w)
{
    const sagg_tree_view *view = w->profile->view;
    if (view->omitted_count == 0)
        return;
    sagg__emit_text(w->emit, ",\"omitted_nodes\":");
    sagg__emit_number(w->emit, view->omitted_count);
    sagg__emit_text(w->emit, ",\"omitted\":\"");
    for (size_t i = 0; i < view->omitted_count; i++) {
        uint32_t before = i > 0 ? view->omitted_node[i - 1] : UINT32_MAX;
        sagg__emit_digits(w->emit, (uint32_t)(view->omitted_node[i] - before));
        sagg__emit_digits(w->emit, view->omitted_total[i] / w->scale);
        if (w->profile->omitted_before != NULL)
            sagg__emit_digits(w->emit, w->profile->omitted_before[i] / w->scale);
        uint64_t nodes = view->omitted_nodes[i];
        sagg__emit_digits(w->emit, nodes < INT32_MAX ? nodes : INT32_MAX);
    }
    sagg__emit_text(w->emit, "\"");
}

static int write_profile(struct walk *w, sagg__mem *mem, size_t frames)
{
    sagg__emit_text(w->emit, "{");
    sagg__emit_totals(w->emit, w->profile->view);
    sagg__emit_text(w->emit, ",\"nodes\":");
    sagg__emit_number(w->emit, w->profile->view->node_count);
    if (w->profile->before != NULL)
        sagg__emit_text(w->emit, ",\"compares\":true");
    sagg__emit_text(w->emit, ",\"scale\":");
    sagg__emit_number(w->emit, w->scale);
    sagg__emit_text(w->emit, ",\"tree\":\"");
    int rc = write_tree(w, mem, frames);
    sagg__emit_text(w->emit, "\"");
    write_omitted(w);
    if (w->profile->more != NULL)
        w->profile->more(w->profile->ctx, w->emit, w->ids, w->scale);
    sagg__emit_text(w->emit, "}");
    return rc;
}

static int write_profiles(const sagg__packed *document, const sagg__packed_frames *frames,
                          sagg__emit *emit)
{
    size_t first = 0;
    uint32_t seen = 0;
    int rc = 0;
    sagg__emit_text(emit, ",\"profiles\":[");
    for (size_t i = 0; rc == 0 && i < document->count; i++) {
        const sagg__packed_profile *profile = &document->profiles[i];
        struct walk w = {.emit = emit,
                         .profile = profile,
                         .ids = frames->ids + first,
                         .seen = &seen,
                         .scale = scale_of(profile)};
        sagg__emit_text(emit, i > 0 ? "," : "");
        rc = write_profile(&w, frames->mem, frames->id_count);
        first += profile->view->frame_count;
    }
    sagg__emit_text(emit, "]");
    return rc;
}

static int write_document(const sagg__packed *document, sagg__emit *emit, sagg__mem *mem)
{
    sagg__packed_frames frames;
    int rc = sagg__packed_frames_new(&frames, mem, document);
    if (rc == 0) {
        sagg__emit_text(emit, "{\"version\":3,");
        sagg__packed_frames_write(&frames, emit);
    }
    if (rc == 0 && document->count > 0 && document->profiles[0].view->threads)
        sagg__emit_text(emit, ",\"threads\":true");
    if (rc == 0)
        rc = write_profiles(document, &frames, emit);
    sagg__emit_text(emit, ",\"meta\":");
    if (document->meta.size > 0)
        sagg__emit_json(emit, document->meta);
    else
        sagg__emit_text(emit, "{}");
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

int sagg__packed_page(sagg_str html_template, const sagg__packed *document, const sagg_sink *sink,
                      sagg_error *err)
{
    sagg__json meta = {.meta = document->meta};
    sagg__mem mem;
    sagg__emit emit;
    size_t marker = 0;
    int rc = sagg__json_check(&meta, err);
    if (rc == 0)
        rc = find_marker(html_template, &marker, err);
    if (rc != 0)
        return rc;
    size_t behind = marker + strlen(SAGG_HTML_MARKER);
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__emit_begin(&emit, sink, &mem);
    sagg__emit_bytes(&emit, html_template.data, marker);
    rc = write_document(document, &emit, &mem);
    sagg__emit_bytes(&emit, html_template.data + behind, html_template.size - behind);
    int end = sagg__emit_end(&emit, &mem);
    rc = rc != 0 ? rc : end;
    if (rc == SAGG_E_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
