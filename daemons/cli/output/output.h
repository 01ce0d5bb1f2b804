/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that appear whole or not at all. */
#ifndef HOTSTACK_CLI_OUTPUT_H
#define HOTSTACK_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <stackagg/stackagg.h>

typedef struct output {
    FILE *file;
    char *path;      /* NULL = standard output */
    char *temporary; /* the file that is written, beside the path until output_commit renames it */
    int error;       /* errno of the first failed write */
    off_t reserved;  /* end of the space reserved on the disk; 0 = none */
} output;

/* Whether `path` is standard output, a device or a pipe, which can hold one document only. */
bool output_is_stream(const char *path);
/* Whether `path` is different from all input files; complains when it is not. */
bool output_spares(const char *path, char *const *inputs, int count);
/* Opens `path`, "-" for standard output. Complains and returns false when it cannot. */
bool output_open(output *out, const char *path);
/* Returns a sink for libstackagg that writes to `out`. */
sagg_sink output_sink(output *out);
/* Gives the file its name. Complains and returns false when it cannot; closes the output in any
 * case. */
bool output_commit(output *out);
/* Discards the output. */
void output_abort(output *out);

#endif
