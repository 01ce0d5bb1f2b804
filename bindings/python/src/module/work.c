/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "errors.h"

/* How long a signal waits until the caller looks for it. */
#define LOOK_NS 50000000

void *work_new(size_t size, int (*run)(work *, failure *), void (*clear)(work *), PyObject *self,
               PyObject *arguments)
{
    pthread_condattr_t clock;
    work *w = calloc(1, size);
    if (w == NULL)
        return PyErr_NoMemory();
    w->run = run;
    w->clear = clear;
    w->self = Py_XNewRef(self);
    w->arguments = Py_XNewRef(arguments);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    return w;
}

void work_free(work *w)
{
    if (w->clear != NULL)
        w->clear(w);
    Py_XDECREF(w->self);
    Py_XDECREF(w->arguments);
    (void)pthread_cond_destroy(&w->changed);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

/* Frees work that was left behind, unless the interpreter ends, which frees all memory. */
static void free_left(work *w)
{
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    work_free(w);
    PyGILState_Release(state);
}

static void *run_thread(void *ctx)
{
    work *w = ctx;
    w->rc = w->run(w, &w->f);
    (void)pthread_mutex_lock(&w->lock);
    w->ended = true;
    bool left = w->left;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->lock);
    if (left)
        free_left(w);
    return NULL;
}

/* Starts the work's thread with all signals blocked, so that the caller's thread gets them. */
static bool start_thread(work *w)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&w->thread, NULL, run_thread, w) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool work_call(work *w, bool (*call)(void *ctx), void *ctx)
{
    (void)pthread_mutex_lock(&w->lock);
    if (!w->left) {
        w->call = call;
        w->call_ctx = ctx;
        (void)pthread_cond_broadcast(&w->changed);
    }
    while (w->call != NULL && !w->left)
        (void)pthread_cond_wait(&w->changed, &w->lock);
    bool answer = !w->left && w->answer;
    (void)pthread_mutex_unlock(&w->lock);
    return answer;
}

/* Waits, with the lock held, until the work has ended, wants a call, or LOOK_NS have passed. */
static void wait_a_while(work *w)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (!w->ended && w->call == NULL &&
           pthread_cond_timedwait(&w->changed, &w->lock, &until) == 0)
        ;
}

/* Takes the GIL for a moment: runs the work's call, and looks for signals. */
static bool look(PyThreadState **released, bool (*call)(void *ctx), void *ctx)
{
    PyEval_RestoreThread(*released);
    bool good = (call == NULL || call(ctx)) && PyErr_CheckSignals() == 0;
    *released = PyEval_SaveThread();
    return good;
}

/* Waits in the caller's thread, without the GIL, until the work has ended. Returns false with an
 * exception set; the work is then left behind unless it has ended. */
static bool attend(work *w, PyThreadState **released)
{
    bool good = true;
    (void)pthread_mutex_lock(&w->lock);
    while (!w->ended && good) {
        wait_a_while(w);
        if (w->ended)
            break;
        bool (*call)(void *) = w->call;
        (void)pthread_mutex_unlock(&w->lock);
        good = look(released, call, w->call_ctx);
        (void)pthread_mutex_lock(&w->lock);
        if (call != NULL) {
            w->answer = good;
            w->call = NULL;
        }
        w->left = !good && !w->ended;
        if (w->left)
            (void)pthread_detach(w->thread);
        (void)pthread_cond_broadcast(&w->changed);
    }
    bool left = w->left;
    (void)pthread_mutex_unlock(&w->lock);
    if (left) /* `w` may be freed */
        return false;
    (void)pthread_join(w->thread, NULL);
    if (!good) {
        PyEval_RestoreThread(*released);
        work_free(w);
        *released = PyEval_SaveThread();
    }
    return good;
}

bool work_do(work *w)
{
    w->ended = w->left = false;
    w->call = NULL;
    w->f = (failure){0};
    if (!start_thread(w)) {
        (void)failure_set(&w->f, FAILURE_LIMIT, "No thread can be started for the reading.");
        w->rc = -1;
    } else {
        PyThreadState *released = PyEval_SaveThread();
        bool good = attend(w, &released);
        PyEval_RestoreThread(released);
        if (!good)
            return false;
    }
    if (w->rc >= 0)
        return true;
    failure f = w->f;
    work_free(w);
    (void)errors_raise(&f);
    return false;
}
