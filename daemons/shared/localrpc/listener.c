/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listens for the server, and restarts a listener that no longer accepts. nng 1.5.2 stops accepting
 * if a peer disconnects between its connect and the end of the handshake: the write to the closed
 * connection fails with EPIPE, which nng maps to NNG_ECLOSED, the code of a closed listener
 * (listener_accept_cb in nng's src/core/listener.c, ipc_pipe_nego_cb in its ipc transport). Only
 * nng's statistics show such an error, so the listener is restarted whenever their count rises.
 * nng leaks about 4 KB of the closed listener if a client connected before the restart
 * (tests/lsan.supp).
 */
#include "localrpc_impl.h"

#include <base/thread.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_MS = 100 };

struct localrpc__listener {
    nng_socket socket;
    nng_listener listener;
    char url[LOCALRPC_URL_SIZE];
    unsigned mode;
    void (*say)(void *context, const char *message);
    void *say_context;
    pthread_t watch;
    pthread_mutex_t lock; /* guards stopping */
    pthread_cond_t wake;
    bool stopping;
};

static int listen_at(localrpc__listener *self)
{
    int rc = nng_listener_create(&self->listener, self->socket, self->url);
    if (rc != 0)
        return rc;
    rc = nng_listener_set_int(self->listener, NNG_OPT_IPC_PERMISSIONS, (int)self->mode);
    if (rc == 0)
        rc = nng_listener_start(self->listener, 0);
    if (rc != 0)
        nng_listener_close(self->listener);
    return rc;
}

/* Returns how many accepts failed for reasons for which nng has no counter of their own. */
static uint64_t odd_errors(nng_listener listener)
{
    nng_stat *all = NULL;
    if (nng_stats_get(&all) != 0)
        return 0;
    nng_stat *mine = nng_stat_find_listener(all, listener);
    nng_stat *other = mine != NULL ? nng_stat_find(mine, "other") : NULL;
    uint64_t count = other != NULL ? nng_stat_value(other) : 0;
    nng_stats_free(all);
    return count;
}

/* Waits for the next check. Returns false when the listener must stop. */
static bool wait_a_little(localrpc__listener *self)
{
    struct timespec until = thread_deadline(WATCH_MS);
    pthread_mutex_lock(&self->lock);
    if (!self->stopping)
        pthread_cond_timedwait(&self->wake, &self->lock, &until);
    bool on = !self->stopping;
    pthread_mutex_unlock(&self->lock);
    return on;
}

static void *watch(void *argument)
{
    localrpc__listener *self = argument;
    bool open = true;
    while (wait_a_little(self)) {
        if (open && odd_errors(self->listener) == 0)
            continue;
        if (open)
            nng_listener_close(self->listener);
        open = listen_at(self) == 0;
        self->say(self->say_context, open ? "a peer left during its handshake: listening anew"
                                          : "cannot listen again; trying on");
    }
    if (open)
        nng_listener_close(self->listener);
    return NULL;
}

static int start_watch(localrpc__listener *self)
{
    pthread_mutex_init(&self->lock, NULL);
    thread_condition_init(&self->wake);
    return pthread_create(&self->watch, NULL, watch, self);
}

int localrpc__listen(localrpc__listener **out, nng_socket socket, const char *url, unsigned mode,
                     void (*say)(void *context, const char *message), void *say_context,
                     localrpc_error *err)
{
    localrpc__listener *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "out of memory");
    self->socket = socket;
    self->mode = mode;
    self->say = say;
    self->say_context = say_context;
    (void)snprintf(self->url, sizeof(self->url), "%s", url);
    int rc = listen_at(self);
    if (rc == 0 && start_watch(self) == 0) {
        *out = self;
        return 0;
    }
    if (rc == 0)
        nng_listener_close(self->listener);
    free(self);
    return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot listen on %s: %s", url + strlen("ipc://"),
                          rc != 0 ? nng_strerror(rc) : "no thread");
}

void localrpc__listener_stop(localrpc__listener *self)
{
    if (self == NULL)
        return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->watch, NULL);
    pthread_cond_destroy(&self->wake);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
