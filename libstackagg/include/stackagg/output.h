/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_OUTPUT_H
#define STACKAGG_OUTPUT_H

#include <stackagg/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The receiver of output. `write` is called with pieces of at most 64 KiB, in order, on the
 * caller's thread. It takes the whole piece and returns 0, or returns another number, which ends
 * the output with SAGG_ERR_IO.
 */
typedef struct sagg_sink {
    int (*write)(void *ctx, const void *data, size_t bytes);
    void *ctx;
} sagg_sink;

/** Options of sagg_write_collapsed; NULL = defaults. */
typedef struct sagg_collapsed_options {
    size_t size; /**< sizeof(sagg_collapsed_options); an unknown tail must be zero */
    /** Begin each line with a frame for its thread, as async-profiler does: "[name tid=7]", or
     * "[tid=7]" without a name, or the name alone where the OS has no number for it. */
    bool threads;
    bool lines; /**< write "method:line" where the line is known */
} sagg_collapsed_options;

#ifdef __cplusplus
#define SAGG_COLLAPSED_OPTIONS_INIT                                                                \
    [] {                                                                                           \
        sagg_collapsed_options init_ = sagg_collapsed_options();                                   \
        init_.size = sizeof(sagg_collapsed_options);                                               \
        return init_;                                                                              \
    }()
#else
#define SAGG_COLLAPSED_OPTIONS_INIT                                                                \
    {                                                                                              \
        .size = sizeof(sagg_collapsed_options)                                                     \
    }
#endif

/**
 * Writes the collapsed stacks of one type: one line per stack, "root;...;leaf value\n", in the
 * order of the flame tree. A frame is "class.method" (or "method" without a class). ';', blanks at
 * the ends, line breaks in names and a blank before a number that ends a frame (a second column of
 * values to flamegraph.pl) are written as '_', other control and bidirectional formatting
 * characters as
 * '?'. A stack without frames is "[no stack]", also below its thread; a frame without names is
 * "(no name)".
 * @return 0; SAGG_ERR_USAGE; SAGG_ERR_NOMEM; SAGG_ERR_IO
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_write_collapsed(const sagg *agg, uint32_t type,
                                                   const sagg_collapsed_options *options,
                                                   const sagg_sink *sink, sagg_error *err);

/**
 * Makes a writer of collapsed stacks for several types of one aggregate: it sorts the stacks once.
 * Free it with sagg_collapsed_free. The aggregate must outlive it, unchanged. One
 * thread at a time may use it.
 * @return 0; SAGG_ERR_USAGE; SAGG_ERR_NOMEM
 */
typedef struct sagg_collapsed sagg_collapsed;
SAGG_EXPORT SAGG_MUST_USE int sagg_collapsed_new(sagg_collapsed **out, const sagg *agg,
                                                 const sagg_collapsed_options *options,
                                                 sagg_error *err);

/** Writes one type; otherwise as sagg_write_collapsed. */
SAGG_EXPORT SAGG_MUST_USE int sagg_collapsed_write(sagg_collapsed *collapsed, uint32_t type,
                                                   const sagg_sink *sink, sagg_error *err);

/** Frees it; NULL is allowed. */
SAGG_EXPORT void sagg_collapsed_free(sagg_collapsed *collapsed);

/**
 * Writes flame graph JSON, version 2 (docs/formats/flamegraph-json.md). In the text every '<',
 * U+2028, U+2029, control and bidirectional formatting character is escaped, so the text can be
 * embedded in an HTML script element.
 * @param trees  `count` trees, one per profile, in this order
 * @param meta   one JSON object as text (UTF-8), written as the document's "meta"; empty = {}. The
 * library escapes the same characters in it, and checks only where its members end
 * @return 0; SAGG_ERR_FORMAT (meta); SAGG_ERR_NOMEM; SAGG_ERR_IO
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_write_json(const sagg_tree *const *trees, size_t count,
                                              sagg_str meta, const sagg_sink *sink,
                                              sagg_error *err);

/** The marker that a template contains once, in the place of the JSON. */
#define SAGG_HTML_MARKER "/*HOTSTACK_DATA*/"

/**
 * Compresses the document inside a page. `write` gets the document's bytes in order and writes
 * compressed bytes to `out`; `last` (with no bytes) ends the stream. It returns 0, or another
 * number, which ends the output with SAGG_ERR_IO. The stream must be zlib's (RFC 1950), which
 * browsers call "deflate". It runs on the caller's thread.
 */
typedef struct sagg_compress {
    int (*write)(void *ctx, const void *data, size_t bytes, bool last, const sagg_sink *out);
    void *ctx;
} sagg_compress;

/**
 * Writes a flame graph file: the template with its marker (SAGG_HTML_MARKER, exactly one, inside
 * `<script type="application/json" id="hotstack-data">` ... `</script>`) replaced by flame graph
 * JSON, version 2.
 * @param html_template  the template's bytes
 * @param meta           as in sagg_write_json
 * @param compress       NULL: the page holds plain JSON; else the JSON compressed and in base64
 * @return 0; SAGG_ERR_FORMAT (template or meta; the error's offset points into the template);
 * SAGG_ERR_NOMEM; SAGG_ERR_IO
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_write_html(sagg_str html_template, const sagg_tree *const *trees,
                                              size_t count, sagg_str meta,
                                              const sagg_compress *compress, const sagg_sink *sink,
                                              sagg_error *err);

#ifdef __cplusplus
}
#endif

#endif
