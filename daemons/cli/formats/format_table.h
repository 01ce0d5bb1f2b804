/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the formats that `hotstack convert` writes. A new format needs a row and a
 * function. */
#ifndef HOTSTACK_CLI_FORMAT_TABLE_H
#define HOTSTACK_CLI_FORMAT_TABLE_H

#include <recording/recording.h>

#include "cli/formats/heatmap.h"
#include "cli/options/option.h"
#include "cli/output/output.h"

/* Options that change the content of a format's files; option_row.changes holds the bit of an
 * option. */
enum format_changes {
    CHANGED_BY_NODES = 1 << 0, /* --max-nodes, --min-width */
    CHANGED_BY_INVERTED = 1 << 1,
    CHANGED_BY_CELLS = 1 << 2,
    CHANGED_BY_THREADS = 1 << 3,
    CHANGED_BY_LINES = 1 << 4,
};

/* The material from which files are written. */
typedef struct format_material {
    recording *rec;
    const sagg *agg;
    const cli_options *options;
    const heatmap *map; /* of a format that needs times; else empty */
    const char *title;
    const char *absent;        /* events that the profiler refused, and why; "" = none */
    sagg_str page;             /* the format's template */
    sagg_collapsed *collapsed; /* stacks sorted for all types; NULL until the first is written */
} format_material;

typedef struct output_format {
    const char *name;
    const char *endings; /* of file names, separated by blanks; the longest that fits is used */
    const char *page;    /* file name of the template; NULL = it has none */
    unsigned changed_by; /* bits of enum format_changes */
    bool one_type;       /* a file holds one profile type */
    bool needs_times;    /* needs the time of each sample, which only JFR has */
    /* Writes a document of the types (bits). Returns false after a complaint; output_commit reports
     * a failed write. */
    bool (*write)(output *out, format_material *m, uint32_t types);
    const char *help;
} output_format;

/* Returns the format with that number of cli_options.format, which begins at 1; NULL = none. */
const output_format *format_get(unsigned number);
/* Returns the number of the format that the ending of a file's name chooses; 0 = none. */
unsigned format_of_path(const char *path);

option_words format_words;

#endif
