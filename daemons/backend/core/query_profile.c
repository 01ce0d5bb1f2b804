/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of a selection into one aggregate, and what is shown of it. */
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>
#include <xxhash.h>

#include "query.h"

enum { FRAMES_MAX = 4096 };

/* Reads rows into the aggregate. */
typedef struct profile_reader {
    profile *profile;
    query_meta *meta;
    unsigned type;
    uint32_t frames[FRAMES_MAX];
} profile_reader;

static sagg_str to_sagg(text value)
{
    return (sagg_str){value.data, value.length};
}

static bool is_dropped(const stack_row *row)
{
    return row->depth == 1 && row->frames[0].class_name.length == 0 &&
           row->frames[0].kind == SAGG_UNKNOWN &&
           text_equal(row->frames[0].method, text_of("[dropped]"));
}

/* The same samples give the same number in whatever order the store hands them out. */
static uint64_t fingerprint_of(const stack_row *row)
{
    unsigned char key[STACK_ID_BYTES + 3 * sizeof(uint64_t)];
    const uint64_t sums[3] = {row->raw_value, row->value, row->samples};

    memcpy(key, row->stack_id, STACK_ID_BYTES);
    memcpy(key + STACK_ID_BYTES, sums, sizeof(sums));
    return XXH3_64bits(key, sizeof(key));
}

static int add_frame(sagg *stacks, uint32_t *index, const stack_frame *frame)
{
    sagg_frame in = {.class_name = to_sagg(frame->class_name),
                     .method = to_sagg(frame->method),
                     .file = to_sagg(frame->file),
                     .line = frame->line,
                     .kind = frame->kind <= SAGG_UNKNOWN ? frame->kind : (uint8_t)SAGG_UNKNOWN};

    return sagg_add_frame(stacks, index, &in, NULL);
}

/* Interns the row's stack; one without frames in the store becomes the single frame that says so.
 */
static int add_stack(profile_reader *r, const stack_row *row, uint32_t *stack)
{
    static const stack_frame lost = {.method = {"[stack not in the store]", 24},
                                     .kind = SAGG_UNKNOWN};
    const stack_frame *frames = row->known ? row->frames : &lost;
    size_t depth = row->known ? row->depth : 1;
    sagg *stacks = r->profile->stacks;

    if (depth > FRAMES_MAX)
        depth = FRAMES_MAX;
    *stack = SAGG_DROPPED;
    for (size_t i = 0; i < depth; i++) {
        int rc = add_frame(stacks, &r->frames[i], &frames[i]);
        if (rc == SAGG_ERR_LIMIT)
            return 0;
        if (rc != 0)
            return -1;
    }
    return sagg_add_stack(stacks, stack, r->frames, depth, NULL) == 0 ? 0 : -1;
}

static void account(query_meta *meta, const stack_row *row)
{
    meta->rows_scanned += row->rows;
    meta->seen += row->value;
    if ((row->flags & 1) != 0)
        meta->cut += row->value;
    if (is_dropped(row))
        meta->dropped += row->value;
    if (!row->known)
        meta->missing_stacks = true;
}

static int on_stack(void *context, const stack_row *row)
{
    profile_reader *r = context;
    sagg_sample sample = {
        .type = r->type, .raw_value = row->raw_value, .value = row->value, .samples = row->samples};

    account(r->meta, row);
    r->profile->fingerprint += fingerprint_of(row);
    if (sagg_full(r->profile->stacks) && sagg_compact(r->profile->stacks, NULL) != 0)
        return -1;
    if (add_stack(r, row, &sample.stack) != 0)
        return -1;
    return sagg_add(r->profile->stacks, &sample, NULL) == 0 ? 0 : -1;
}

query_code query_profile(const query *q, const store_filter *filter, profile *out, query_meta *meta,
                         store_error *err)
{
    const profile_type_info *info = profile_type_get(filter->type);
    const sagg_type type = {filter->type, info->name, info->unit};
    sagg_options options = SAGG_OPTIONS_INIT;
    profile_reader *r = malloc(sizeof(*r));
    query_code code = QUERY_UNAVAILABLE;

    memset(out, 0, sizeof(*out));
    options.types = &type;
    options.type_count = 1;
    options.group = SAGG_BY_NONE;
    /* Names are stored as the collector normalised them. */
    options.normaliser = SAGG_NORMALISE_NONE;
    if (r != NULL && sagg_new(&out->stacks, &options, NULL) == 0) {
        r->profile = out;
        r->meta = meta;
        r->type = filter->type;
        code = query_fresh(q, filter, meta, err);
        if (code == QUERY_OK)
            code = query_code_of(
                q->store.profiles->read_stacks(q->store.self, filter, on_stack, r, err));
    }
    free(r);
    if (code == QUERY_OK && sagg_losses(out->stacks).samples_dropped > 0)
        meta->truncated = true;
    return code;
}

void profile_free(profile *p)
{
    sagg_free(p->stacks);
    p->stacks = NULL;
}

sagg_tree *profile_tree(const profile *p, unsigned type, bool lines, uint32_t nodes,
                        query_meta *meta)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;

    options.type = type;
    options.lines = lines;
    options.max_nodes = nodes;
    if (sagg_tree_new(&tree, p->stacks, &options, NULL) != 0)
        return NULL;
    const sagg_tree_view *view = sagg_tree_get(tree);
    for (size_t i = 0; i < view->omitted_count; i++) {
        meta->omitted += view->omitted_total[i];
        meta->nodes_omitted += view->omitted_nodes[i];
    }
    return tree;
}
