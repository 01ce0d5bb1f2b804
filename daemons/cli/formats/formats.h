/* SPDX-License-Identifier: Apache-2.0 */
/* Files for other tools. Each function writes a whole document to an open output and returns false,
 * after a complaint, when it cannot be made. output_commit reports a failed write. */
#ifndef HOTSTACK_CLI_FORMATS_H
#define HOTSTACK_CLI_FORMATS_H

#include <recording/recording.h>

#include "cli/output/output.h"

/* Writes gzipped pprof: the number of samples, then a sample type for each type (bits), the first
 * of these being the default. Stacks have lines; with `threads` samples have the labels thread and
 * thread_id. */
bool format_pprof(output *out, const sagg *agg, uint32_t types, bool threads,
                  const recording_info *info);

/* Writes speedscope's JSON, with a profile for each tree. */
bool speedscope_write(output *out, const sagg_tree *const *trees, size_t count, const char *title);

/* Writes an Arrow IPC file with a row for each type (bits), thread and stack
 * (docs/formats/arrow.md). */
bool format_arrow(output *out, const sagg *agg, uint32_t types);

/* The rows that a top table is to have. Zero: all, by self. */
typedef struct top_wish {
    size_t limit; /* 0 = all */
    bool by_total;
} top_wish;

/* The methods of one type, hottest first. */
typedef struct top_table {
    sagg_top *top;
    const sagg_top_row **rows; /* `count` of them, borrowed from `top` */
    size_t count;
    size_t omitted; /* rows that the limit left out */
} top_table;

/* Makes a table. Complains and returns false when it cannot. Free with top_table_close. */
bool top_table_open(top_table *table, const sagg *agg, unsigned type, const top_wish *wish);
void top_table_close(top_table *table);

/* Writes the top table of one type: class, method, kind, self, total. */
bool format_csv(output *out, const sagg *agg, unsigned type);

/* Writes the top tables of the types (bits) as JSON. */
bool format_top(output *out, const sagg *agg, uint32_t types, const top_wish *wish);

#endif
