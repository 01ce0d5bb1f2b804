/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nng 1.5.2 may never close a socket. If a connection ends in the middle of a message,
 * ipc_pipe_send_cb and ipc_pipe_recv_cb of its ipc transport start the rest with a closed aio, so
 * that the rest neither completes nor is cancelled. The only thread that frees connections waits
 * for it forever (pipe_destroy in src/core/pipe.c), and nng_close waits for that thread (nng issues
 * 1543, 1813). LOCAL_PIECE_MAX is small enough for most answers to be sent in one part.
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
