/* SPDX-License-Identifier: Apache-2.0 */
/* Whole documents: JSON and HTML. */
#include "fail_impl.h"
#include "output/document_impl.h"
#include "output/meta_impl.h"

/*
 * Makes profiles of trees without further members, `count` + 1 of them; the caller releases them.
 */
static sagg__document_profile *profiles_of(const sagg_tree *const *trees, size_t count,
                                           sagg__mem *mem)
{
    sagg__document_profile *profiles = sagg__alloc_zero(mem, count + 1, sizeof(*profiles));
    for (size_t i = 0; profiles != NULL && i < count; i++)
        profiles[i].view = sagg_tree_get(trees[i]);
    return profiles;
}

int sagg_write_json(const sagg_tree *const *trees, size_t count, sagg_str meta,
                    const sagg_sink *sink, sagg_error *err)
{
    sagg__mem mem;
    sagg__emit emit;
    int rc = sagg__meta_check(meta, err);
    if (rc != 0)
        return rc;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__document_profile *profiles = profiles_of(trees, count, &mem);
    if (profiles == NULL)
        return sagg__no_memory(err);
    sagg__document document = {.profiles = profiles, .count = count, .meta = meta};
    sagg__emit_begin(&emit, sink, &mem);
    rc = sagg__document_write(&document, &emit, &mem);
    int end = sagg__emit_end(&emit, &mem);
    sagg__release(&mem, profiles, (count + 1) * sizeof(*profiles));
    rc = rc != 0 ? rc : end;
    if (rc == SAGG_ERR_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_write_html(sagg_str html_template, const sagg_tree *const *trees, size_t count,
                    sagg_str meta, const sagg_compress *compress, const sagg_sink *sink,
                    sagg_error *err)
{
    sagg__mem mem;
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__document_profile *profiles = profiles_of(trees, count, &mem);
    if (profiles == NULL)
        return sagg__no_memory(err);
    sagg__document document = {.profiles = profiles, .count = count, .meta = meta};
    int rc = sagg__page_write(html_template, &document, compress, sink, err);
    sagg__release(&mem, profiles, (count + 1) * sizeof(*profiles));
    return rc;
}
