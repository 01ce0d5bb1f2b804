/* SPDX-License-Identifier: Apache-2.0 */
/* Whole documents: JSON and HTML. */
#include <string.h>

#include "fail_impl.h"
#include "output/emit_impl.h"
#include "output/json_impl.h"
#include "output/meta_impl.h"
#include "packed_impl.h"

int sagg_write_json(const sagg_tree *const *trees, size_t count, sagg_str meta,
                    const sagg_sink *sink, sagg_error *err)
{
    sagg__mem mem;
    sagg__emit emit;
    sagg__json json = {.mem = &mem, .trees = trees, .tree_count = count, .meta = meta};
    sagg__meta facts;
    int rc = sagg__meta_read(&facts, meta, err);
    if (rc != 0)
        return rc;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__emit_begin(&emit, sink, &mem);
    rc = sagg__json_write(&json, &emit);
    int end = sagg__emit_end(&emit, &mem);
    rc = rc != 0 ? rc : end;
    if (rc == SAGG_ERR_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_write_html(sagg_str html_template, const sagg_tree *const *trees, size_t count,
                    sagg_str meta, const sagg_sink *sink, sagg_error *err)
{
    sagg__mem mem;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__packed_profile *profiles = sagg__alloc_zero(&mem, count + 1, sizeof(*profiles));
    if (profiles == NULL)
        return sagg__no_memory(err);
    for (size_t i = 0; i < count; i++)
        profiles[i].view = sagg_tree_get(trees[i]);
    sagg__packed document = {.profiles = profiles, .count = count, .meta = meta};
    int rc = sagg__packed_page(html_template, &document, sink, err);
    sagg__release(&mem, profiles, (count + 1) * sizeof(*profiles));
    return rc;
}
