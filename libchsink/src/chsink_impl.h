/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the library's own sources; never included from outside libchsink. */
#ifndef CHSINK_SRC_INTERNAL_H
#define CHSINK_SRC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <chsink/error.h>
#include <chsink/transport.h>

/* Fills err, which may be NULL. */
void chs__describe(chs_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills err (may be NULL) with code and a message; its value is code. It is a macro so that an
 * analyser of the caller sees a constant code. code is evaluated twice. */
#define CHS__FAIL(err, code, ...) (chs__describe((err), (code), __VA_ARGS__), (code))

/*
 * Fills err from ClickHouse's own exception text ("Code: 60. DB::Exception: ...") and returns the
 * class of its code. text need not be NUL-terminated. fallback is the class when no code can be
 * read.
 */
int chs__fail_server(chs_error *err, int fallback, const char *text, size_t length);

/* Returns the exception code in text, 0 when there is none; *start is where "Code: " begins. */
int chs__server_code(const char *text, size_t length, size_t *start);

/*
 * Copies an options struct of a caller that may be older (shorter: the other fields of known stay)
 * or newer (longer: the bytes after the known fields must be zero). Both start with size_t size.
 * options may be NULL. Returns 0 or CHS_ERR_USAGE; what names the struct in the message.
 */
int chs__options(void *known, size_t known_size, const void *options, const char *what,
                 chs_error *err);

/* Passes the reader's blocks to on_block until the end, a failure, or a negative result of
 * on_block, which is returned with err saying that the caller stopped. */
int chs__each_block(chs_reader *reader, chs_block_fn on_block, void *context, chs_error *err);

#endif
