/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <base/clock.h>
#include <base/thread.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>

struct writer {
    nng_socket push, pull;
    pthread_t threads[WRITER_THREADS_MAX];
    unsigned count;
    atomic_bool has_first; /* one thread calls idle */
    void (*idle)(void *context);
    void *context;
    uint32_t idle_ms;
    int depth;
    atomic_int queued; /* queued or running */
};

/* The queue carries pointers to tickets, which are on their callers' stacks. */
typedef struct ticket {
    void (*job)(void *arg); /* NULL: the thread ends */
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
} ticket;

static void finish(ticket *t)
{
    pthread_mutex_lock(&t->lock);
    t->done = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Calls idle when it is due, even if the queue is never empty. */
static void look_after(writer *w, uint64_t *next_ms)
{
    if (w->idle == NULL || clock_monotonic_ms(NULL) < *next_ms)
        return;
    w->idle(w->context);
    *next_ms = clock_monotonic_ms(NULL) + w->idle_ms;
}

static void *writer_main(void *context)
{
    writer *w = context;
    uint64_t next_ms = 0;
    bool is_first = !atomic_exchange(&w->has_first, true);

    for (bool last = false; !last;) {
        if (is_first)
            look_after(w, &next_ms);
        ticket *t = NULL;
        size_t size = sizeof(t);
        int rc = nng_recv(w->pull, &t, &size, 0);
        if (rc != 0)
            continue;
        last = t->job == NULL;
        if (!last)
            t->job(t->arg);
        finish(t);
    }
    return NULL;
}

static int open_sockets(writer *w, int depth)
{
    static atomic_uint serial;
    char url[64];

    /* inproc names are global in the process, so that every writer has its own. */
    snprintf(url, sizeof(url), "inproc://backend-writer-%u", atomic_fetch_add(&serial, 1));
    if (nng_pull0_open(&w->pull) != 0)
        return -1;
    if (nng_push0_open(&w->push) != 0) {
        nng_close(w->pull);
        return -1;
    }
    if (nng_socket_set_int(w->push, NNG_OPT_SENDBUF, depth) == 0 &&
        nng_socket_set_int(w->pull, NNG_OPT_RECVBUF, 0) == 0 &&
        nng_socket_set_ms(w->pull, NNG_OPT_RECVTIMEO, (nng_duration)w->idle_ms) == 0 &&
        nng_listen(w->pull, url, NULL, 0) == 0 && nng_dial(w->push, url, NULL, 0) == 0)
        return 0;
    nng_close(w->push);
    nng_close(w->pull);
    return -1;
}

writer *writer_start(int depth, unsigned threads, void (*idle)(void *context), void *context,
                     uint32_t idle_ms)
{
    writer *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return NULL;
    w->idle = idle;
    w->context = context;
    w->idle_ms = idle_ms;
    w->depth = depth;
    if (open_sockets(w, depth) != 0) {
        free(w);
        return NULL;
    }
    threads = threads < WRITER_THREADS_MAX ? threads : WRITER_THREADS_MAX;
    while (w->count < threads && thread_start(&w->threads[w->count], writer_main, w) == 0)
        w->count++;
    if (w->count == threads)
        return w;
    writer_stop(w);
    return NULL;
}

/* Queues a ticket and waits until it is done. */
static int submit(writer *w, ticket *t, int flags)
{
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    int rc = nng_send(w->push, &t, sizeof(t), flags);
    if (rc == 0) {
        pthread_mutex_lock(&t->lock);
        while (!t->done)
            pthread_cond_wait(&t->changed, &t->lock);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    return rc == 0 ? 0 : -1;
}

static int run(void *self, void (*job)(void *arg), void *arg)
{
    writer *w = self;
    ticket t = {.job = job, .arg = arg};
    int rc = -1;

    /* nng buffers more messages than the queue's length: this count is exact. */
    if (atomic_fetch_add(&w->queued, 1) < w->depth)
        rc = submit(w, &t, NNG_FLAG_NONBLOCK);
    atomic_fetch_sub(&w->queued, 1);
    return rc;
}

void writer_stop(writer *w)
{
    if (w == NULL)
        return;
    for (unsigned i = 0; i < w->count; i++) {
        ticket last = {.job = NULL};
        submit(w, &last, 0);
    }
    for (unsigned i = 0; i < w->count; i++)
        pthread_join(w->threads[i], NULL);
    nng_close(w->push);
    nng_close(w->pull);
    free(w);
}

const writer_ops writer_port = {run};
