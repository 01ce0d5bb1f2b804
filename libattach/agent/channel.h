/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's channel: a unix socket in its directory and the one thread that serves it. Who asks
 * holds a lease; with the last lease the channel ends and takes its files along.
 */
#ifndef HOTSTACK_THREADS_CHANNEL_H
#define HOTSTACK_THREADS_CHANNEL_H

#include <jni.h>
#include <stdbool.h>

typedef struct channel channel;

/* What Agent_OnAttach answers. */
enum channel_error {
    CHANNEL_STARTED = 0,
    CHANNEL_BAD_OPTIONS = 1,
    CHANNEL_NO_DIRECTORY = 2,
    CHANNEL_NO_SOCKET = 3,
    CHANNEL_NO_THREAD = 4,
    CHANNEL_NO_MEMORY = 5
};

/*
 * Opens a channel in that directory and starts its thread. `ended` is called by the thread with the
 * channel when it will touch it no more; the callee frees it with channel_free.
 */
int channel_start(channel **out, JavaVM *vm, const char *directory, bool keep_library,
                  void (*ended)(channel *c));
void channel_free(channel *c);

/* Whether clients can still reach it there. Any thread, while the channel is not freed. */
bool channel_is_reachable(const channel *c, const char *directory);
/* Tells it to end and to leave the files to a successor. Any thread, as above. */
void channel_supersede(channel *c);
/* Removes its files: the JVM ends. Any thread, as above. */
void channel_remove_files(const channel *c);

#endif
