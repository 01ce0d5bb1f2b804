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
    char *temporary; /* beside the path until output_commit */
    int error;       /* errno of the first failed write */
    off_t reserved;  /* where the space on the disk ends that was asked for ahead; 0 = none was */
} output;

/* Whether `path` is standard output, a device or a pipe, which holds one document. */
bool output_is_stream(const char *path);
/* Whether `path` is none of the input files; complains when it is. */
bool output_spares(const char *path, char *const *inputs, int count);
/* Opens `path`, "-" for standard output. Complains and returns false when it cannot. */
bool output_open(output *out, const char *path);
/* A sink for libstackagg; it writes to `out`. */
sagg_sink output_sink(output *out);
/* Puts the file in place. Complains and returns false when it cannot; the output is closed in any
 * case. */
bool output_commit(output *out);
/* Drops what was written. */
void output_abort(output *out);

#endif
