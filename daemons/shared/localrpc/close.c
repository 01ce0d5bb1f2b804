/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nng 1.5.2 may never close a socket. A connection that ends while a part of a message has gone
 * over it leaves the rest neither done nor cancelled (ipc_pipe_send_cb and ipc_pipe_recv_cb in its
 * ipc transport begin the rest with an aio that is closed, which says nothing), its one thread that
 * frees connections waits for that for ever (pipe_destroy in src/core/pipe.c), and nng_close for
 * the thread (nng issues 1543, 1813). LOCAL_PIECE_MAX keeps most answers from going in parts.
 */
#include "localrpc_impl.h"

#include <pthread.h>
#include <time.h>

enum { PATIENCE_S = 2 };

bool localrpc__end(void *(*end)(void *), void *context)
{
    pthread_t thread;
    struct timespec until;
    if (pthread_create(&thread, NULL, end, context) != 0) {
        end(context);
        return true;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (pthread_timedjoin_np(thread, NULL, &until) == 0)
        return true;
    pthread_detach(thread);
    return false;
}
