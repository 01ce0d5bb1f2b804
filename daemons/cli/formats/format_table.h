/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the formats that `hotstack convert` writes. A new format is a row and a function. */
#ifndef HOTSTACK_CLI_FORMAT_TABLE_H
#define HOTSTACK_CLI_FORMAT_TABLE_H

#include <recording/recording.h>

#include "cli/formats/heatmap.h"
#include "cli/options/option.h"
#include "cli/output/output.h"

/* Options that change what a format's files hold; option_row.changes names the one of a row. */
enum format_changes {
    CHANGED_BY_NODES = 1 << 0, /* --max-nodes, --min-width */
    CHANGED_BY_INVERTED = 1 << 1,
    CHANGED_BY_CELLS = 1 << 2,
    CHANGED_BY_THREADS = 1 << 3,
    CHANGED_BY_LINES = 1 << 4,
};

/* What files are made of. */
typedef struct format_material {
    recording *rec;
    const sagg *agg;
    const cli_options *options;
    const heatmap *map; /* of the format that needs times; else empty */
    const char *title;
    const char *absent;        /* events that the profiler refused, and why; "" = none */
    sagg_str page;             /* the format's template */
    sagg_collapsed *collapsed; /* stacks sorted for all types, once one was written */
} format_material;

typedef struct output_format {
    const char *name;
    const char *endings; /* of file names, separated by blanks; the longest one that fits counts */
    const char *page;    /* file name of the template; NULL = it needs none */
    unsigned changed_by; /* bits of enum format_changes */
    bool one_type;       /* a file holds one profile type */
    bool needs_times;    /* of each sample: only JFR has them */
    /* Writes a document of the types (bits). False after a complaint; a failed write is the
     * output's to report. */
    bool (*write)(output *out, format_material *m, uint32_t types);
    const char *help;
} output_format;

/* By its number in cli_options.format, from 1 on; NULL = there is none. */
const output_format *format_get(unsigned number);
/* The number of the format that the ending of a file's name stands for; 0 = none. */
unsigned format_of_path(const char *path);

option_words format_words;

#endif
