/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `hotstack convert`. */
#ifndef HOTSTACK_CLI_OPTIONS_H
#define HOTSTACK_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/commands/convert_filter.h"
#include "cli/options/reading_options.h"

enum convert_format {
    FORMAT_NONE,
    FORMAT_HTML,
    FORMAT_COLLAPSED, /* one type a file */
    FORMAT_JSON,
    FORMAT_PPROF,
    FORMAT_SPEEDSCOPE,
    FORMAT_CSV, /* one type a file */
    FORMAT_TOP,
    FORMAT_ARROW,
    FORMAT_HEATMAP,
};

typedef struct convert_options {
    char **inputs; /* "-" = standard input */
    int input_count;
    const char *output; /* "-" = standard output */
    enum convert_format format;
    reading_options reading;
    bool threads;
    bool lines;
    bool states; /* wall: running and waiting apart */
    bool inverted;
    convert_filter filter; /* free it with filter_free */
    uint32_t max_nodes;
    uint32_t min_width; /* parts per billion of the type's total */
    uint32_t max_cells; /* of each type's heatmap */
    const char
        *absent;      /* the events of the input that the profiler refused, and why; NULL = none */
    uint64_t dropped; /* events that the profiler dropped while it made the input */
    bool report;      /* names the file that was written; several are named in any case */
} convert_options;

/* The format that the ending of a file's name stands for, or FORMAT_NONE. */
enum convert_format convert_format_of(const char *path);

/*
 * Reads argv. Returns -1 to go on, or an exit code: after --help, or after a mistake that it has
 * named. What `out` holds is borrowed from argv.
 */
int convert_parse(convert_options *out, int argc, char **argv);

/* Converts what the options say, which must be complete; complains and returns an exit code. */
int convert_files(convert_options *o);

#endif
