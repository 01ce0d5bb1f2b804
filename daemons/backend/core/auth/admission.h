/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/admission.h: finds the principal of a token, with an authenticator that may be slow.
 *
 * A decision is kept for a limited time, in limited memory, under the SHA-256 of its token. Only
 * principals are kept: an unknown token is asked about each time. At most `asking` calls wait for
 * the authenticator at the same time, so that some of the threads that admit calls are always free
 * for tokens whose decision is kept.
 * Thread rule: any thread. admission_decide takes as long as the authenticator does.
 */
#ifndef BACKEND_ADMISSION_H
#define BACKEND_ADMISSION_H

#include "principals.h"

typedef enum admission_answer {
    ADMISSION_KNOWN,    /* a principal, held */
    ADMISSION_STRANGER, /* nobody has this token */
    ADMISSION_UNDECIDED /* unknown at present: try again */
} admission_answer;

/* The port to the authenticator, which knows the tokens. */
typedef struct authenticator_ops {
    /* *who is held with ADMISSION_KNOWN, else NULL. Any thread; may block. */
    admission_answer (*decide)(void *self, const char *token, size_t length, const principal **who);
} authenticator_ops;

typedef struct admission_options {
    const authenticator_ops *ops;
    void *self;
    size_t kept;      /* most decisions kept */
    uint64_t keep_ms; /* how long a decision is kept */
    unsigned asking;  /* most calls that wait for the authenticator */
    uint64_t (*now_ms)(void *clock);
    void *clock;
} admission_options;

typedef struct admission_stats {
    uint64_t kept;         /* decisions kept at present */
    uint64_t hits, misses; /* calls answered by a kept decision, and by the authenticator */
    uint64_t undecided;    /* calls without a decision */
} admission_stats;

typedef struct admission admission;

/* Returns NULL without memory. */
admission *admission_new(const admission_options *options);
void admission_free(admission *a);

/* As authenticator_ops.decide. */
admission_answer admission_decide(admission *a, const char *token, size_t length,
                                  const principal **who);

/* Forgets every decision, because the authenticator's answers have changed. A decision that it is
 * making at this moment is asked for again. */
void admission_forget(admission *a);

admission_stats admission_read(admission *a);

#endif
