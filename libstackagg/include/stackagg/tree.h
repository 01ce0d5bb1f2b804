/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_TREE_H
#define STACKAGG_TREE_H

#include <stackagg/aggregate.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A flame tree of one profile type: flat arrays in preorder. It borrows nothing: the aggregate may
 * be freed first. */
typedef struct sagg_tree sagg_tree;

/** Options of sagg_tree_new; 0 means the default. */
typedef struct sagg_tree_options {
    size_t size;   /**< sizeof(sagg_tree_options); an unknown tail must be zero */
    uint32_t type; /**< profile type id; required */
    bool lines;    /**< keep the lines of a method separate; default: frames merge by method */
    bool threads;  /**< put a frame named after the thread (kind unknown) above the root frame of
                      each stack */
    uint32_t max_nodes; /**< keep the heaviest nodes, the root counted; 0 = all */
    uint64_t min_total; /**< keep nodes whose total is at least this; 0 = all */
} sagg_tree_options;

#ifdef __cplusplus
#define SAGG_TREE_OPTIONS_INIT                                                                     \
    [] {                                                                                           \
        sagg_tree_options init_ = sagg_tree_options();                                             \
        init_.size = sizeof(sagg_tree_options);                                                    \
        return init_;                                                                              \
    }()
#else
#define SAGG_TREE_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(sagg_tree_options)                                                          \
    }
#endif

/** The frame of the root node. */
#define SAGG_ROOT_FRAME UINT32_MAX

/** The arrays of a tree, borrowed for its life. */
typedef struct sagg_tree_view {
    sagg_str type; /**< name of the profile type */
    sagg_str unit;
    sagg_totals totals; /**< of the type; totals.value is the root's total */
    size_t frame_count;
    const sagg_frame
        *frames; /**< file and, without `lines`, line 0 as merged: file is the smallest name seen */
    size_t node_count;     /**< >= 1: node 0 is the root, depth 0, frame SAGG_ROOT_FRAME */
    const uint32_t *depth; /**< preorder: a node's subtree follows it with greater depths */
    const uint32_t *frame; /**< index into frames */
    const uint64_t *self;
    const uint64_t *total; /**< = self + totals of the children + values omitted below the node; at
                              most 2^64 - 1 */
    size_t omitted_count;  /**< nodes below which nodes were cut away */
    const uint32_t *omitted_node;  /**< ascending */
    const uint64_t *omitted_total; /**< value of the children cut away */
    const uint64_t *omitted_nodes; /**< how many nodes were cut away, at all depths */
    bool threads;                  /**< nodes of depth 1 are threads */
} sagg_tree_view;

/**
 * Builds the tree of one type from all entries. Children are sorted by "class.method" bytewise,
 * then kind, then line, so that the picture does not depend on the order of adding.
 * @param out  receives the tree; the caller frees it with sagg_tree_free
 * @return 0; SAGG_ERR_USAGE (unknown type, bad options); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_tree_new(sagg_tree **out, const sagg *agg,
                                            const sagg_tree_options *options, sagg_error *err);
/** Frees a tree; NULL is allowed. */
SAGG_EXPORT void sagg_tree_free(sagg_tree *tree);
/** Returns the tree's arrays. A tree does not change: any number of threads may read it. */
SAGG_EXPORT const sagg_tree_view *sagg_tree_get(const sagg_tree *tree);

/** One method of a top table. */
typedef struct sagg_top_row {
    sagg_frame frame; /**< line 0 */
    uint64_t self;    /**< value of stacks whose leaf it is */
    uint64_t total;   /**< value of stacks that contain it, recursion counted once */
} sagg_top_row;

/** A top table, computed from all entries (not from a cut tree). */
typedef struct sagg_top sagg_top;

/**
 * Makes a top table.
 * @param out    receives the table; the caller frees it with sagg_top_free. It borrows nothing
 * @param limit  rows to keep, 0 = all. Rows are sorted by self, then total, both descending, then
 * name
 * @return 0; SAGG_ERR_USAGE (unknown type); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_top_new(sagg_top **out, const sagg *agg, uint32_t type,
                                           size_t limit, sagg_error *err);
/** Frees a table; NULL is allowed. */
SAGG_EXPORT void sagg_top_free(sagg_top *top);
/** Returns the rows, borrowed for the table's life; `*omitted` (may be NULL) receives how many rows
 * the limit left out. */
SAGG_EXPORT const sagg_top_row *sagg_top_rows(const sagg_top *top, size_t *count, size_t *omitted);

#ifdef __cplusplus
}
#endif

#endif
