/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/admission.h: who holds a token, by an authenticator that may be slow.
 *
 * A decision is kept for a bounded while, in bounded memory, under the SHA-256 of its token. Only
 * principals are kept: a stranger costs one question each time. At most `asking` calls wait for the
 * authenticator at once, so that of the threads that admit calls some are always left for tokens
 * whose decision is kept.
 * Thread rule: any thread. admission_decide takes as long as the authenticator does.
 */
#ifndef BACKEND_ADMISSION_H
#define BACKEND_ADMISSION_H

#include "principals.h"

typedef enum admission_answer {
    ADMISSION_KNOWN,    /* a principal, held */
    ADMISSION_STRANGER, /* the token is nobody's */
    ADMISSION_UNDECIDED /* cannot be known now: try again */
} admission_answer;

/* The port to what knows the tokens. */
typedef struct authenticator_ops {
    /* *who is held with ADMISSION_KNOWN, else NULL. Any thread; may block. */
    admission_answer (*decide)(void *self, const char *token, size_t length, const principal **who);
} authenticator_ops;

typedef struct admission_options {
    const authenticator_ops *ops;
    void *self;
    size_t kept;      /* most decisions kept */
    uint64_t keep_ms; /* for how long */
    unsigned asking;  /* most calls that wait for the authenticator */
    uint64_t (*now_ms)(void *clock);
    void *clock;
} admission_options;

typedef struct admission_stats {
    uint64_t kept;         /* decisions now */
    uint64_t hits, misses; /* calls answered by a kept decision, and by the authenticator */
    uint64_t undecided;    /* calls that got no decision */
} admission_stats;

typedef struct admission admission;

/* NULL without memory. */
admission *admission_new(const admission_options *options);
void admission_free(admission *a);

/* As the port's decide. */
admission_answer admission_decide(admission *a, const char *token, size_t length,
                                  const principal **who);

/* Forgets every decision: the authenticator's answers have changed. One that it makes at this
 * moment is asked for again. */
void admission_forget(admission *a);

admission_stats admission_read(admission *a);

#endif
