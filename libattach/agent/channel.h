/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's channel: a unix socket in its directory and the one thread that serves it. Each
 * client holds a lease. When the last lease ends, the channel ends and removes its files. */
#ifndef HOTSTACK_THREADS_CHANNEL_H
#define HOTSTACK_THREADS_CHANNEL_H

#include <jni.h>
#include <stdbool.h>

typedef struct channel channel;

/* The return values of Agent_OnAttach. */
enum channel_error {
    CHANNEL_STARTED = 0,
    CHANNEL_BAD_OPTIONS = 1,
    CHANNEL_NO_DIRECTORY = 2,
    CHANNEL_NO_SOCKET = 3,
    CHANNEL_NO_THREAD = 4,
    CHANNEL_NO_MEMORY = 5
};

/* Opens a channel in that directory and starts its thread. The thread calls `ended` with the
 * channel when it no longer uses it; `ended` frees it with channel_free. */
int channel_start(channel **out, JavaVM *vm, const char *directory, bool keep_library,
                  void (*ended)(channel *c));
void channel_free(channel *c);

/* Returns whether clients can still reach the channel through that directory. Any thread may call
 * it while the channel is not freed. */
bool channel_is_reachable(const channel *c, const char *directory);
/* Tells the channel to end and to leave the files to its successor. Any thread, as above. */
void channel_supersede(channel *c);
/* Removes the channel's files when the JVM ends. Any thread, as above. */
void channel_remove_files(const channel *c);

#endif
