/* SPDX-License-Identifier: Apache-2.0 */
/* Files for other tools. Each function writes a whole document to an open output; a failed write is
 * the output's to report. Returns false, having complained, when it cannot be made. */
#ifndef HOTSTACK_CLI_FORMATS_H
#define HOTSTACK_CLI_FORMATS_H

#include <recording/recording.h>

#include "cli/output/output.h"

/* gzipped pprof: the number of samples, then a sample type per type (bits), the first of these the
 * default. Stacks have their lines, with `threads` also labels: thread, thread_id. */
bool format_pprof(output *out, const sagg *agg, uint32_t types, bool threads,
                  const recording_info *info);

/* speedscope's JSON, a profile per tree. */
bool speedscope_write(output *out, const sagg_tree *const *trees, size_t count, const char *title);

/* An Arrow IPC file: a row per type (bits), thread and stack (docs/formats/arrow.md). */
bool format_arrow(output *out, const sagg *agg, uint32_t types);

/* Which rows of a top table. Zero: all, by self. */
typedef struct top_wish {
    size_t limit; /* 0 = all */
    bool by_total;
} top_wish;

/* The methods of one type, the hottest first. */
typedef struct top_table {
    sagg_top *top;
    const sagg_top_row **rows; /* `count`, borrowed from `top` */
    size_t count;
    size_t omitted; /* by the limit */
} top_table;

/* Complains and returns false when it cannot be made. Close it. */
bool top_table_open(top_table *table, const sagg *agg, unsigned type, const top_wish *wish);
void top_table_close(top_table *table);

/* The top table of one type: class, method, kind, self, total. */
bool format_csv(output *out, const sagg *agg, unsigned type);

/* The top tables of types (bits), as JSON. */
bool format_top(output *out, const sagg *agg, uint32_t types, const top_wish *wish);

#endif
