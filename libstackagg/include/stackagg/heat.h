/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_HEAT_H
#define STACKAGG_HEAT_H

#include <stackagg/output.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The values of stacks in buckets of time, from which a heatmap is drawn. It belongs to one profile
 * type of one aggregate. Buckets are aligned to multiples of their length.
 *
 * The number of cells, one per (bucket, thread, stack), is bounded. At the bound, buckets are
 * joined (by 5, 2 and 2 in turn: 20 ms, 100 ms, 200 ms, 400 ms, 2 s ...), and from 1 s on the
 * lightest stacks are summed into one without a name. Sums per bucket stay exact.
 */
typedef struct sagg_heat sagg_heat;

/** Options of sagg_heat_new; NULL = defaults. */
typedef struct sagg_heat_options {
    size_t size;        /**< sizeof(sagg_heat_options); an unknown tail must be zero */
    bool threads;       /**< keep threads separate, as the tree to be drawn does */
    uint32_t max_cells; /**< at least 1,000; default 1,000,000. A cell takes up to 56 bytes */
    uint64_t step_ns;   /**< length of the shortest bucket, at most 1 s; default 20 ms */
} sagg_heat_options;

#ifdef __cplusplus
#define SAGG_HEAT_OPTIONS_INIT                                                                     \
    [] {                                                                                           \
        sagg_heat_options init_ = sagg_heat_options();                                             \
        init_.size = sizeof(sagg_heat_options);                                                    \
        return init_;                                                                              \
    }()
#else
#define SAGG_HEAT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(sagg_heat_options)                                                          \
    }
#endif

/**
 * Makes an empty heat.
 * @param out  receives it; the caller frees it with sagg_heat_free
 * @return 0; SAGG_ERR_USAGE; SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_heat_new(sagg_heat **out, const sagg_heat_options *options,
                                            sagg_error *err);
/** Frees it; NULL is allowed. */
SAGG_EXPORT void sagg_heat_free(sagg_heat *heat);
/**
 * Adds a sample of the aggregate at its time_ns. Stacks are identified by their ids, so the
 * aggregate may be compacted between two calls.
 * @return 0; SAGG_ERR_USAGE (no such stack); SAGG_ERR_NOMEM
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_heat_add(sagg_heat *heat, const sagg *agg,
                                            const sagg_sample *sample, sagg_error *err);
/** Returns the current length of a bucket in ns. */
SAGG_EXPORT uint64_t sagg_heat_step(const sagg_heat *heat);

/** A span of time in UTC ns, start_ns <= end_ns; the end is exclusive. */
typedef struct sagg_span {
    int64_t start_ns;
    int64_t end_ns;
} sagg_span;

/** The data of a page of heatmaps. */
typedef struct sagg_heatmap {
    const sagg *agg; /**< the aggregate after the last sample was added */
    const sagg_tree *const
        *trees; /**< `count` trees of this aggregate, one per profile; they may be cut */
    const sagg_heat *const *heats; /**< `count`, one per tree, of its type */
    size_t count;
    const sagg_span
        *spans; /**< `span_count` spans that were recorded, ascending and not overlapping; 0 = from
                   the first sample to the last. Times outside are gaps */
    size_t span_count;
} sagg_heatmap;

/**
 * Writes a heatmap file: the template with flame graph JSON whose profiles have cells
 * (docs/formats/flamegraph-json.md). Samples before or after all spans are counted in the first or
 * last bucket. The call needs 24 bytes per cell, 16 per node and 32 per stack.
 * @param html_template  as of sagg_write_html
 * @param compress       as of sagg_write_html
 * @return as sagg_write_html; SAGG_ERR_USAGE when a heat keeps threads separate and its tree does
 * not, or vice versa
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_write_heatmap_html(sagg_str html_template,
                                                      const sagg_heatmap *heatmap, sagg_str meta,
                                                      const sagg_compress *compress,
                                                      const sagg_sink *sink, sagg_error *err);

#ifdef __cplusplus
}
#endif

#endif
