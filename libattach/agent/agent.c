/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points of libhotstackthreads.so that the JVM calls. There is one channel at a time: a
 * second load uses the existing channel, or opens a new one when clients can no longer reach its
 * socket. The library stays mapped for the JVM's life, because HotSpot never unloads an agent.
 */
#include <jni.h>
#include <pthread.h>
#include <string.h>

#include "channel.h"
#include "protocol.h"

/* As jvmti.h declares them. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm);

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static channel *current;

static void ended(channel *c)
{
    (void)pthread_mutex_lock(&guard);
    if (current == c)
        current = NULL;
    (void)pthread_mutex_unlock(&guard);
    channel_free(c);
}

static int ensure_channel(JavaVM *vm, const char *directory, bool keep_library)
{
    channel *fresh = NULL;
    if (current != NULL && channel_is_reachable(current, directory))
        return CHANNEL_STARTED;
    if (current != NULL)
        channel_supersede(current);
    current = NULL;
    int rc = channel_start(&fresh, vm, directory, keep_library, ended);
    current = fresh;
    return rc;
}

/* options: the directory for the socket, optionally after the prefix THREADS_KEEP_LIBRARY. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    size_t prefix = sizeof(THREADS_KEEP_LIBRARY) - 1;
    (void)reserved;
    if (options == NULL)
        return CHANNEL_BAD_OPTIONS;
    bool keep = strncmp(options, THREADS_KEEP_LIBRARY, prefix) == 0;
    (void)pthread_mutex_lock(&guard);
    int rc = ensure_channel(vm, options + (keep ? prefix : 0), keep);
    (void)pthread_mutex_unlock(&guard);
    return rc;
}

/* The JVM calls this function when it ends. */
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    (void)pthread_mutex_lock(&guard);
    if (current != NULL)
        channel_remove_files(current);
    (void)pthread_mutex_unlock(&guard);
}
