#ifndef JFR_SRC_ERROR_H
#define JFR_SRC_ERROR_H

#include <jfr/error.h>

/* Fills `err` (may be NULL) and returns `code`. */
int jfr__fail(jfr_error *err, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Out of memory, always in the same words. */
int jfr__fail_nomem(jfr_error *err);

#endif
