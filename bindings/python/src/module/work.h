/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long work in C that a signal ends at once. It runs on a thread of its own, without the GIL, while
 * the caller looks for signals. When a handler raises, the caller goes on with the exception and
 * leaves the work behind: it ends by itself, and what it holds is freed then.
 */
#ifndef HOTSTACK_WORK_H
#define HOTSTACK_WORK_H

#include "native.h"

#include "failure.h"

#include <pthread.h>

typedef struct work work;

/* The first member of a struct of one's own, which holds all that the work needs and makes. */
struct work {
    /* Without the GIL. Returns 0 or more, or -1 with the failure. */
    int (*run)(work *w, failure *f);
    void (*clear)(work *w); /* frees what the struct holds, with the GIL. NULL: nothing */
    int rc;                 /* what `run` returned */
    /* What is kept until then, with all that was parsed from it. */
    PyObject *self, *arguments;
    /* The rest is work.c's own. */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended, left;
    bool (*call)(void *ctx); /* what the caller is to run */
    void *call_ctx;
    bool answer;
    failure f;
};

/* A struct of `size` bytes, zero but for its work. `self` and `arguments` may be NULL. NULL with an
 * exception set. */
void *work_new(size_t size, int (*run)(work *, failure *), void (*clear)(work *), PyObject *self,
               PyObject *arguments);
/* Needs the GIL. True when `run` succeeded: take what it made, then work_free, or work_do again.
 * False with an exception set: the struct is gone. */
bool work_do(work *w);
/* Needs the GIL. */
void work_free(work *w);

/*
 * Called by `run`: has the caller of work_do run a function with the GIL, which returns false with
 * an exception set to end the work. Returns what it returned; false, too, when the work was left
 * behind.
 */
bool work_call(work *w, bool (*call)(void *ctx), void *ctx);

#endif
