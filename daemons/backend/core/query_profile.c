/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the stacks of a selection to one aggregate, from which answers are made. */
#include <stdlib.h>
#include <string.h>

#include <base/index_set.h>
#include <base/seeded_hash.h>
#include <catalogue/profile_type.h>
#include <contract/intern.h>

#include "query.h"

enum { FRAMES_MAX = 4096, SUMS_MAX = 1000000 };

/* The sums of a selection, and for which of them frames were found. */
typedef struct profile_reader {
    profile *profile;
    query_meta *meta;
    unsigned type;
    stack_sum *sums;
    size_t count, room;
    index_set by_id;
    stack_sum wanted; /* the sum of index `count`, which serves lookups only */
    bool *found;      /* one for each sum */
    uint32_t frames[FRAMES_MAX];
} profile_reader;

/* ---- sums ---- */

static int add_sample(profile_reader *r, const stack_sum *sum, uint32_t stack)
{
    const sagg_sample sample = {.type = r->type,
                                .stack = stack,
                                .raw_value = sum->raw_value,
                                .value = sum->value,
                                .samples = sum->samples};

    return sagg_add(r->profile->stacks, &sample, NULL) == 0 ? 0 : -1;
}

/* Takes a sum. Over the limit a stack only counts in the total. */
static int on_sum(void *context, const stack_sum *sum)
{
    profile_reader *r = context;

    r->meta->rows_scanned += sum->rows;
    r->meta->seen += sum->value;
    if (r->count == SUMS_MAX) {
        r->meta->truncated = true;
        return add_sample(r, sum, SAGG_DROPPED);
    }
    if (array_reserve((void **)&r->sums, &r->room, r->count, sizeof(*r->sums)) != 0)
        return -1;
    r->sums[r->count++] = *sum;
    return 0;
}

static const uint8_t *id_at(const profile_reader *r, uint32_t index)
{
    return index < r->count ? r->sums[index].stack_id : r->wanted.stack_id;
}

static bool equal_ids(const void *context, uint32_t a, uint32_t b)
{
    return memcmp(id_at(context, a), id_at(context, b), STACK_ID_BYTES) == 0;
}

static uint64_t hash_id(const uint8_t *id)
{
    return seeded_hash(id, STACK_ID_BYTES);
}

/* ---- frames ---- */

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

static int add_frame(sagg *stacks, uint32_t *index, const stack_frame *frame)
{
    sagg_frame in = {.class_name = to_sagg(frame->class_name),
                     .method = to_sagg(frame->method),
                     .file = to_sagg(frame->file),
                     .line = frame->line,
                     .kind = frame->kind <= SAGG_UNKNOWN ? frame->kind : (uint8_t)SAGG_UNKNOWN};

    return sagg_add_frame(stacks, index, &in, NULL);
}

/* Adds a stack to the aggregate: SAGG_DROPPED where that is full. */
static int intern_stack(profile_reader *r, const stack_row *row, uint32_t *stack)
{
    size_t depth = row->depth < FRAMES_MAX ? row->depth : FRAMES_MAX;
    sagg *stacks = r->profile->stacks;

    *stack = SAGG_DROPPED;
    for (size_t i = 0; i < depth; i++) {
        int rc = add_frame(stacks, &r->frames[i], &row->frames[i]);
        if (rc == SAGG_ERR_LIMIT)
            return 0;
        if (rc != 0)
            return -1;
    }
    return sagg_add_stack(stacks, stack, r->frames, depth, NULL) == 0 ? 0 : -1;
}

static int add_stack(profile_reader *r, const stack_sum *sum, const stack_row *row)
{
    uint32_t stack;

    if (sagg_full(r->profile->stacks) && sagg_compact(r->profile->stacks, NULL) != 0)
        return -1;
    return intern_stack(r, row, &stack) == 0 ? add_sample(r, sum, stack) : -1;
}

static int on_frames(void *context, const stack_row *row)
{
    profile_reader *r = context;

    memcpy(r->wanted.stack_id, row->stack_id, STACK_ID_BYTES);
    uint32_t index = index_set_find(&r->by_id, hash_id(row->stack_id), (uint32_t)r->count);
    if (index == INDEX_SET_NONE || r->found[index])
        return 0;
    r->found[index] = true;
    const stack_sum *sum = &r->sums[index];
    if ((row->flags & 1) != 0)
        r->meta->cut += sum->value;
    if (is_dropped(row))
        r->meta->dropped += sum->value;
    return add_stack(r, sum, row);
}

/* Adds the stacks whose frames the store does not have, as a single frame that says so. */
static int add_lost(profile_reader *r)
{
    static const stack_frame frame = {.method = {"[stack not in the store]", 24},
                                      .kind = SAGG_UNKNOWN};
    const stack_row lost = {.frames = &frame, .depth = 1};
    int rc = 0;

    for (size_t i = 0; i < r->count && rc == 0; i++) {
        if (r->found[i])
            continue;
        r->meta->missing_stacks = true;
        rc = add_stack(r, &r->sums[i], &lost);
    }
    return rc;
}

static query_code read_all_frames(const query *q, const store_filter *filter, profile_reader *r,
                                  store_error *err)
{
    const uint8_t **ids = malloc((r->count + 1) * sizeof(*ids));

    r->found = calloc(r->count + 1, sizeof(*r->found));
    if (ids == NULL || r->found == NULL || index_set_init(&r->by_id, r->count, equal_ids, r) != 0) {
        free(ids);
        return QUERY_UNAVAILABLE;
    }
    for (size_t i = 0; i < r->count; i++) {
        ids[i] = r->sums[i].stack_id;
        (void)index_set_add(&r->by_id, hash_id(ids[i]), (uint32_t)i);
    }
    int rc = query_frames(q, filter, ids, r->count, on_frames, r, err);
    free(ids);
    if (rc == 0 && add_lost(r) != 0)
        return QUERY_UNAVAILABLE;
    return query_code_of(rc);
}

static query_code read_all(const query *q, const store_filter *filter, profile_reader *r,
                           store_error *err)
{
    query_code code =
        query_code_of(q->store.profiles->read_sums(q->store.self, filter, on_sum, r, err));

    if (code == QUERY_OK)
        code = read_all_frames(q, filter, r, err);
    if (code == QUERY_OK && sagg_losses(r->profile->stacks).samples_dropped > 0)
        r->meta->truncated = true;
    return code;
}

query_code query_profile(const query *q, const store_filter *filter, profile *out, query_meta *meta,
                         store_error *err)
{
    const profile_type_info *info = profile_type_get(filter->type);
    const sagg_type type = {filter->type, info->name, info->unit};
    sagg_options options = SAGG_OPTIONS_INIT;
    profile_reader *r = calloc(1, sizeof(*r));
    query_code code = QUERY_UNAVAILABLE;

    memset(out, 0, sizeof(*out));
    if (r == NULL)
        return code;
    options.types = &type;
    options.type_count = 1;
    options.group = SAGG_BY_NONE;
    /* The collector has normalised the names already. */
    options.normaliser = SAGG_NORMALISE_NONE;
    r->profile = out;
    r->meta = meta;
    r->type = filter->type;
    if (sagg_new(&out->stacks, &options, NULL) == 0)
        code = read_all(q, filter, r, err);
    index_set_free(&r->by_id);
    free(r->found);
    free(r->sums);
    free(r);
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
