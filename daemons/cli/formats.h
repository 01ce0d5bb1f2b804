/* SPDX-License-Identifier: Apache-2.0 */
/* Files for other tools. Each function writes a whole document to an open output; a failed write is
 * the output's to report. Returns false, having complained, when it cannot be made. */
#ifndef HOTSTACK_CLI_FORMATS_H
#define HOTSTACK_CLI_FORMATS_H

#include <recording/recording.h>

#include "output.h"

/* gzipped pprof, a sample type per tree, the first one the default. */
bool format_pprof(output *out, const sagg_tree *const *trees, size_t count,
                  const recording_info *info);

/* speedscope's JSON, a profile per tree. */
bool format_speedscope(output *out, const sagg_tree *const *trees, size_t count, const char *title);

/* An Arrow IPC file: a row per type (bits), thread and stack (docs/formats/arrow.md). */
bool format_arrow(output *out, const sagg *agg, uint32_t types);

/* The top table of one type: class, method, kind, self, total. */
bool format_csv(output *out, const sagg *agg, unsigned type);

/* The top tables of types (bits), as JSON. */
bool format_top(output *out, const sagg *agg, uint32_t types);

#endif
