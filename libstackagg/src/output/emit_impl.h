/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered output to a sink, with the escapes of docs/formats/flamegraph-json.md. */
#ifndef STACKAGG_EMIT_H
#define STACKAGG_EMIT_H

#include <stackagg/output.h>

#include "mem_impl.h"

/* Output is sent this many bytes at a time. */
#define SAGG__EMIT_BUFFER 262144u

/* Writes a number's decimal digits, SAGG__DIGITS at most, and returns how many. */
enum { SAGG__DIGITS = 20 };

size_t sagg__put_number(char *to, uint64_t number);

/* A buffered output. After the first failure all calls do nothing; sagg__emit_end returns the
 * error. */
typedef struct sagg__emit {
    const sagg_sink *sink;
    char *buffer;
    size_t size;
    int rc;
} sagg__emit;

void sagg__emit_begin(sagg__emit *emit, const sagg_sink *sink, sagg__mem *mem);
/* Sends what is left and frees the buffer. Returns 0, SAGG_ERR_IO or SAGG_ERR_NOMEM. */
int sagg__emit_end(sagg__emit *emit, sagg__mem *mem);

void sagg__emit_bytes(sagg__emit *emit, const char *bytes, size_t size);
void sagg__emit_text(sagg__emit *emit, const char *text);
void sagg__emit_number(sagg__emit *emit, uint64_t number);

/* Writes a JSON string with its quotes. */
void sagg__emit_string(sagg__emit *emit, sagg_str text);
/* Writes a JSON string without the quotes. */
void sagg__emit_inside(sagg__emit *emit, sagg_str text);
/* Writes given JSON text in one line. Only characters that must not be raw in a page or a terminal
 * are escaped. */
void sagg__emit_json(sagg__emit *emit, sagg_str json);

#endif
