/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_DIFF_H
#define STACKAGG_DIFF_H

#include <stackagg/output.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The values of methods, window by window. A comparison needs them to tell a change from chance.
 * Values are counted for the leaf of each stack, and belong to one profile type of one side.
 */
typedef struct sagg_windows sagg_windows;

/**
 * Makes an empty series of windows.
 * @param out        receives it; the caller frees it with sagg_windows_free
 * @param window_ns  length of a window, above 0; windows are aligned to multiples of it
 * @return 0; SAGG_ERR_USAGE; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_windows_new(sagg_windows **out, uint64_t window_ns,
                                               sagg_error *err);
/** Frees it; NULL is allowed. */
SAGG_EXPORT void sagg_windows_free(sagg_windows *windows);
/**
 * Adds a value that the method of `leaf` used at a time.
 * @param leaf  as an aggregate returns it (normalised); NULL for a stack without frames
 * @return 0; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_windows_add(sagg_windows *windows, const sagg_frame *leaf,
                                               int64_t time_ns, uint64_t value, sagg_error *err);
/**
 * Adds a sample's time, value and leaf, as sagg_windows_add does, in a fraction of the time.
 * @param agg     the aggregate that the sample was added to; borrowed during the call
 * @param sample  the sample; its type is ignored
 * @return 0; SAGG_ERR_USAGE (a stack that does not exist); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_windows_add_sample(sagg_windows *windows, const sagg *agg,
                                                      const sagg_sample *sample, sagg_error *err);

/** Options of sagg_diff_new; NULL = defaults. */
typedef struct sagg_diff_options {
    size_t size;        /**< sizeof(sagg_diff_options); an unknown tail must be zero */
    uint32_t max_nodes; /**< keep the heaviest nodes of both sides together; 0 = all */
    uint32_t rounds;    /**< of the bootstrap; default 2,000, at most 100,000 */
    uint64_t min_share; /**< keep nodes whose mean share is at least this, parts per billion */
    uint64_t seed;      /**< of the bootstrap's random numbers; equal inputs and seeds give equal
                           results */
    const sagg_windows *before; /**< both or none: without them changes have no interval */
    const sagg_windows *after;
} sagg_diff_options;

#ifdef __cplusplus
#define SAGG_DIFF_OPTIONS_INIT                                                                     \
    [] {                                                                                           \
        sagg_diff_options init_ = sagg_diff_options();                                             \
        init_.size = sizeof(sagg_diff_options);                                                    \
        return init_;                                                                              \
    }()
#else
#define SAGG_DIFF_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(sagg_diff_options)                                                          \
    }
#endif

/** A method's own share of its type on both sides. Shares are parts per billion. */
typedef struct sagg_change {
    sagg_frame method; /**< line 0; borrowed for the comparison's life */
    uint64_t before_self;
    uint64_t after_self;
    int64_t before_share;
    int64_t after_share;
    bool has_interval; /**< there were at least 5 windows with values on each side */
    int64_t low;       /**< the change of the share lies between these with 99 % probability */
    int64_t high;
} sagg_change;

/** A comparison of two trees of one type: any two recordings, services, versions. */
typedef struct sagg_diff sagg_diff;

/** The arrays of a comparison, borrowed for its life. */
typedef struct sagg_diff_view {
    const sagg_tree_view
        *after; /**< the tree of both sides' stacks, with the newer side's values */
    sagg_totals before_totals;
    const uint64_t *before_self; /**< by node of that tree */
    const uint64_t *before_total;
    const uint64_t *omitted_before; /**< by omitted block of that tree */
    const int64_t *change;          /**< by node: share after less share before, of the totals */
    size_t change_count;
    const sagg_change
        *changes; /**< methods by size of change, greatest first; equal ones by name */
} sagg_diff_view;

/**
 * Compares two trees. Values are sums of integers, one per side; only shares are normalised, each
 * side by its own total, and rounded to the nearest billionth.
 * @param before  a whole tree (uncut) of a type; `after` one of the same
 * @param out     receives it; the caller frees it with sagg_diff_free. It borrows nothing
 * @return 0; SAGG_ERR_USAGE (bad options, types differ); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_diff_new(sagg_diff **out, const sagg_tree *before,
                                            const sagg_tree *after,
                                            const sagg_diff_options *options, sagg_error *err);
/** Frees a comparison; NULL is allowed. */
SAGG_EXPORT void sagg_diff_free(sagg_diff *diff);
/** Returns a comparison's arrays. A comparison does not change: any number of threads may read it.
 */
SAGG_EXPORT const sagg_diff_view *sagg_diff_get(const sagg_diff *diff);

/**
 * Writes a page that shows comparisons, from the template of sagg_write_html.
 * @param diffs  `count` comparisons, one per profile
 * @return as sagg_write_html
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_write_diff_html(sagg_str html_template,
                                                   const sagg_diff *const *diffs, size_t count,
                                                   sagg_str meta, const sagg_compress *compress,
                                                   const sagg_sink *sink, sagg_error *err);

#ifdef __cplusplus
}
#endif

#endif
