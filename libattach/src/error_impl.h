/* SPDX-License-Identifier: Apache-2.0 */
/* Fill an attach_error. Each returns the code that it stores, so that callers can `return
 * attach__fail(...)`. */
#ifndef ATTACH_ERROR_INTERNAL_H
#define ATTACH_ERROR_INTERNAL_H

#include <attach/error.h>

int attach__fail(attach_error *err, int code, const char *format, ...) ATTACH_PRINTF(3, 4);
int attach__fail_at(attach_error *err, int code, uint64_t offset, const char *format, ...)
    ATTACH_PRINTF(4, 5);
/* Stores ATTACH_ERR_TARGET with a reason. */
int attach__refuse(attach_error *err, attach_reason reason, const char *format, ...)
    ATTACH_PRINTF(3, 4);

/* Tells the analyser, which sees one file at a time, that a failure is never 0. */
#ifdef __clang_analyzer__
#define attach__fail(err, code, ...)    (attach__fail(err, code, __VA_ARGS__), (code))
#define attach__fail_at(err, code, ...) (attach__fail_at(err, code, __VA_ARGS__), (code))
#define attach__refuse(err, ...)        (attach__refuse(err, __VA_ARGS__), ATTACH_ERR_TARGET)
#endif

#endif
