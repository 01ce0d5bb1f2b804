/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_SHAPE_H
#define STACKAGG_SHAPE_H

#include <stackagg/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The other trees that can be made of the same stacks. */
enum sagg_shape {
    SAGG_SHAPE_REVERSED = 1, /**< leaves first; values that were cut from the given tree, whose
                                leaves are unknown, are omitted values under the root */
    SAGG_SHAPE_FOLDED = 2,   /**< recursion is folded: the callees of a frame that is already on its
                                path are added to the first one */
    SAGG_SHAPE_CALLEES = 3,  /**< begins at the outermost calls of a method and shows its callees */
    SAGG_SHAPE_CALLERS = 4, /**< begins at the same calls and shows their callers: the other half of
                               a sandwich; both totals are equal */
    SAGG_SHAPE_WITHOUT = 5, /**< leaves out the stacks through a method, from it to their leaves */
};

/** Options of sagg_tree_shape; 0 means the default. */
typedef struct sagg_shape_options {
    size_t size;        /**< sizeof(sagg_shape_options); an unknown tail must be zero */
    int shape;          /**< enum sagg_shape; required */
    uint32_t max_nodes; /**< keep the heaviest nodes, the root counted; 0 = all */
    uint64_t min_total; /**< keep nodes whose total is at least this; 0 = all */
    sagg_frame method;  /**< for callees, callers and without: its kind, class_name and method are
                         * compared, its line is not
                         */
} sagg_shape_options;

#ifdef __cplusplus
#define SAGG_SHAPE_OPTIONS_INIT                                                                    \
    [] {                                                                                           \
        sagg_shape_options init_ = sagg_shape_options();                                           \
        init_.size = sizeof(sagg_shape_options);                                                   \
        return init_;                                                                              \
    }()
#else
#define SAGG_SHAPE_OPTIONS_INIT                                                                    \
    {                                                                                              \
        .size = sizeof(sagg_shape_options)                                                         \
    }
#endif

/**
 * Makes another tree of a tree's stacks. Each value of the given tree is in the new one exactly
 * once, unless the shape leaves out its stack; sums are integers. Pass a whole tree (without
 * max_nodes and min_total) for exact results: in a cut tree, omitted values stay with their node.
 * @param out  receives the tree; the caller frees it with sagg_tree_free. It borrows nothing.
 * Siblings are ordered as in any tree. Its totals.value is its root's total, raw_value and samples
 * are the given tree's
 * @return 0; SAGG_ERR_USAGE (bad options); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_tree_shape(sagg_tree **out, const sagg_tree *tree,
                                              const sagg_shape_options *options, sagg_error *err);

#ifdef __cplusplus
}
#endif

#endif
