/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_ERROR_H
#define JFR_SRC_ERROR_H

#include <jfr/error.h>

/* Fills `err` (may be NULL) and returns `code`. */
int jfr__fail(jfr_error *err, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fills `err` for a failed allocation and returns JFR_ERR_NOMEM. */
int jfr__fail_nomem(jfr_error *err);

/* Tells the analyser, which sees one file at a time, that a failure is never 0. */
#ifdef __clang_analyzer__
#define jfr__fail(err, code, ...) (jfr__fail(err, code, __VA_ARGS__), (code))
#define jfr__fail_nomem(err)      (jfr__fail_nomem(err), JFR_ERR_NOMEM)
#endif

#endif
