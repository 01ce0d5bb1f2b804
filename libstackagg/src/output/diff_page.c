/* SPDX-License-Identifier: Apache-2.0 */
/* Writes comparisons in a page. */
#include <stackagg/diff.h>

#include "fail_impl.h"
#include "output/document_impl.h"
#include "trees/tree_impl.h"

/* The most methods that a page lists. */
#define MAX_ROWS 1000u

static void write_signed(sagg__emit *emit, int64_t number)
{
    sagg__emit_text(emit, number < 0 ? ",-" : ",");
    sagg__emit_number(emit, number < 0 ? (uint64_t)-number : (uint64_t)number);
}

/* Returns the first of the view's frames of the method; frame_count when it was cut away. */
static size_t frame_of(const sagg_tree_view *view, const sagg_frame *method)
{
    size_t low = 0;
    size_t high = view->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sagg__frame_order(&view->frames[middle], method) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == view->frame_count)
        return low;
    sagg_frame found = view->frames[low];
    found.line = 0;
    return sagg__frame_order(&found, method) == 0 ? low : view->frame_count;
}

static void write_changes(const void *ctx, sagg__emit *emit, const uint32_t *ids)
{
    const sagg_diff_view *view = sagg_diff_get(ctx);
    size_t rows = 0;
    sagg__emit_text(emit, ",\"changes\":[");
    for (size_t i = 0; i < view->change_count && rows < MAX_ROWS; i++) {
        const sagg_change *change = &view->changes[i];
        size_t frame = frame_of(view->after, &change->method);
        if (frame == view->after->frame_count)
            continue;
        sagg__emit_text(emit, rows++ > 0 ? ",[" : "[");
        sagg__emit_number(emit, ids[frame]);
        write_signed(emit, change->before_share);
        write_signed(emit, change->after_share);
        if (change->has_interval) {
            write_signed(emit, change->low);
            write_signed(emit, change->high);
        }
        sagg__emit_text(emit, "]");
    }
    sagg__emit_text(emit, "]");
}

int sagg_write_diff_html(sagg_str html_template, const sagg_diff *const *diffs, size_t count,
                         sagg_str meta, const sagg_compress *compress, const sagg_sink *sink,
                         sagg_error *err)
{
    sagg__mem mem;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__document_profile *profiles = sagg__alloc_zero(&mem, count + 1, sizeof(*profiles));
    if (profiles == NULL)
        return sagg__no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const sagg_diff_view *view = sagg_diff_get(diffs[i]);
        profiles[i] = (sagg__document_profile){.view = view->after,
                                               .before = view->before_self,
                                               .omitted_before = view->omitted_before,
                                               .more = write_changes,
                                               .ctx = diffs[i]};
    }
    sagg__document document = {.profiles = profiles, .count = count, .meta = meta};
    int rc = sagg__page_write(html_template, &document, compress, sink, err);
    sagg__release(&mem, profiles, (count + 1) * sizeof(*profiles));
    return rc;
}
