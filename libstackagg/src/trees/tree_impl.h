/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_TREE_INTERNAL_H
#define STACKAGG_TREE_INTERNAL_H

#include <stackagg/tree.h>

#include "aggregate/aggregate_impl.h"

/* The distinct frames of a picture: sorted, each once, with their own strings. */
typedef struct sagg__palette {
    sagg_frame *frames;
    uint32_t count;
    char *text;
    size_t text_size;
    /* The places of the aggregate's frames and threads in `frames`; UINT32_MAX = unused. */
    uint32_t *of_frame;
    uint32_t *of_thread;
    uint32_t frame_slots, thread_slots;
} sagg__palette;

/* Frames for threads: their names, or "[name tid=7]", which distinguishes threads with the same
 * name. */
enum sagg__thread_frames { SAGG__NO_THREADS, SAGG__THREAD_NAMES, SAGG__THREAD_IDS };

/* Makes the palette of all frames of the aggregate (its methods, unless `lines`) and of its
 * threads. Returns 0 or SAGG_ERR_NOMEM. `mem` has no cap. */
int sagg__palette_new(sagg__palette *palette, sagg__mem *mem, const sagg *agg, bool lines,
                      enum sagg__thread_frames threads);
/* Frees the maps, which only building needs. */
void sagg__palette_drop_maps(sagg__palette *palette, sagg__mem *mem);
void sagg__palette_free(sagg__palette *palette, sagg__mem *mem);

/* Returns the frame of a thread; its name is borrowed as with sagg_thread_at. */
sagg_frame sagg__thread_frame(const sagg *agg, uint32_t index);

/* Compares siblings: "class.method" bytewise, then where the class ends, kind, line. */
int sagg__frame_order(const sagg_frame *a, const sagg_frame *b);

/* A growing tree, or a cut one. */
typedef struct sagg__nodes {
    sagg__array depth; /* uint32_t */
    sagg__array frame; /* uint32_t */
    sagg__array self;  /* uint64_t */
    sagg__array total; /* uint64_t */
    size_t count;
} sagg__nodes;

struct sagg_tree {
    sagg__mem mem;
    sagg__palette palette;
    sagg__nodes nodes;
    sagg__array omitted_node;  /* uint32_t */
    sagg__array omitted_total; /* uint64_t */
    sagg__array omitted_nodes; /* uint64_t */
    size_t omitted_count;
    char *type_text; /* name, then unit */
    size_t type_text_size;
    sagg_tree_view view;
};

void sagg__nodes_free(sagg__nodes *nodes, sagg__mem *mem);

/* Keeps the `max_nodes` heaviest nodes of a whole tree. Returns 0 or SAGG_ERR_NOMEM. */
int sagg__tree_cut(sagg_tree *tree, size_t max_nodes);

/* Makes an empty tree of the type of `like`, with its frames and those of `also` (NULL = none),
 * numbered in their order. Returns 0 or SAGG_ERR_NOMEM; free *out in both cases. */
int sagg__tree_like(sagg_tree **out, const sagg_tree *like, const sagg_tree *also);

/*
 * Returns the number of a frame of the tree, or for another frame the number at which it would be.
 */
uint32_t sagg__frame_find(const sagg_tree *tree, const sagg_frame *frame);

/* Drops the frames that no node has. Returns 0 or SAGG_ERR_NOMEM. */
int sagg__tree_drop_frames(sagg_tree *tree);

/* Points the view's arrays to the tree's; the caller sets totals and threads. */
void sagg__tree_view_fill(sagg_tree *tree);

/* Cuts to the limits (0 = none), drops frames and fills the view. Returns 0 or SAGG_ERR_NOMEM. */
int sagg__tree_finish(sagg_tree *tree, uint32_t max_nodes, uint64_t min_total);

#endif
