/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_FAIL_H
#define STACKAGG_FAIL_H

#include <stackagg/error.h>

/* Fills `err` (may be NULL) with a code, an offset and a formatted sentence; returns `code`. */
__attribute__((format(printf, 4, 5))) int sagg__fail(sagg_error *err, int code, uint64_t offset,
                                                     const char *format, ...);

/* Fill `err` for the two failures that every module has. */
int sagg__no_memory(sagg_error *err);
int sagg__refused(sagg_error *err);

/* Tells the analyser, which sees one file at a time, that a failure is never 0. */
#ifdef __clang_analyzer__
#define sagg__fail(err, code, ...) (sagg__fail(err, code, __VA_ARGS__), (code))
#define sagg__no_memory(err)       (sagg__no_memory(err), SAGG_ERR_NOMEM)
#define sagg__refused(err)         (sagg__refused(err), SAGG_ERR_IO)
#endif

#endif
