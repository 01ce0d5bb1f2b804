/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs long work in C so that a signal interrupts it at once. The work runs on a thread of its own,
 * without the GIL, while the caller looks for signals. When a handler raises, the caller returns
 * with the exception and leaves the work behind: the work ends by itself and then frees its memory.
 */
#ifndef HOTSTACK_WORK_H
#define HOTSTACK_WORK_H

#include "native.h"

#include "failure.h"

#include <pthread.h>

typedef struct work work;

/* The first member of a struct that holds all input and output of the work. */
struct work {
    /* Does the work, without the GIL. Returns 0 or more, or -1 with the failure. */
    int (*run)(work *w, failure *f);
    void (*clear)(work *w); /* frees what the struct holds, with the GIL. NULL: nothing */
    int rc;                 /* what `run` returned */
    /* Kept until the work is freed, because the work uses values that were parsed from them. */
    PyObject *self, *arguments;
    /* The rest is private to work.c. */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended, left;
    bool (*call)(void *ctx); /* for the caller to run */
    void *call_ctx;
    bool answer;
    failure f;
};

/* Returns a struct of `size` bytes, zero apart from its work. `self` and `arguments` may be NULL.
 * NULL with an exception set. */
void *work_new(size_t size, int (*run)(work *, failure *), void (*clear)(work *), PyObject *self,
               PyObject *arguments);
/* Runs the work. Needs the GIL. Returns true when `run` succeeded: take the results, then call
 * work_free, or work_do again. Returns false with an exception set: the struct is freed then. */
bool work_do(work *w);
/* Frees the struct. Needs the GIL. */
void work_free(work *w);

/*
 * Called by `run`: lets the caller of work_do run a function with the GIL. The function returns
 * false with an exception set to end the work. Returns the function's result, or false when the
 * work was left behind.
 */
bool work_call(work *w, bool (*call)(void *ctx), void *ctx);

#endif
