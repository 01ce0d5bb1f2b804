/* SPDX-License-Identifier: Apache-2.0 */
/* One failure of either library, kept until it becomes a Python exception. Needs no GIL. */
#ifndef HOTSTACK_FAILURE_H
#define HOTSTACK_FAILURE_H

#include <recording/recording.h>

enum failure_class {
    FAILURE_NONE = 0,
    FAILURE_IO,
    FAILURE_FORMAT,
    FAILURE_LIMIT,
    FAILURE_USAGE,
    FAILURE_NOMEM,
    FAILURE_RAISED /* a Python exception is set already */
};

typedef struct failure {
    enum failure_class what;
    uint64_t offset; /* within the input */
    char input[256]; /* the name of the input that failed; empty for none */
    char message[256];
} failure;

/* All return -1, so that callers can write `return failure_...`. The message is copied. */
int failure_set(failure *f, enum failure_class what, const char *message);
int failure_nomem(failure *f);
int failure_jfr(failure *f, const jfr_error *cause);
int failure_sagg(failure *f, const sagg_error *cause);
int failure_recording(failure *f, const recording_error *cause);

#endif
