/* SPDX-License-Identifier: Apache-2.0 */
/* The rule that tells which classes are locks. The agent in the JVM and the readers of its
 * snapshots share it. */
#ifndef ATTACH_LOCK_CLASS_H
#define ATTACH_LOCK_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Returns whether a thread that waits for an object of this class wants a lock, rather than work.
 * The name has `length` bytes, as in "java.util.concurrent.locks.ReentrantLock$NonfairSync". Locks
 * are the classes of java.util.concurrent.locks, read locks and StampedLock included, and
 * semaphores. Idle threads wait for latches, exchangers and conditions (inner classes of
 * AbstractQueuedSynchronizer), so these are not locks. Pure; any thread.
 */
static inline bool attach_is_lock_class(const char *name, size_t length)
{
    static const char locks[] = "java.util.concurrent.locks.";
    static const char queued[] = "java.util.concurrent.locks.AbstractQueued";
    static const char semaphore[] = "java.util.concurrent.Semaphore$";
    if (length >= sizeof(queued) - 1 && memcmp(name, queued, sizeof(queued) - 1) == 0)
        return false;
    return (length >= sizeof(locks) - 1 && memcmp(name, locks, sizeof(locks) - 1) == 0) ||
           (length >= sizeof(semaphore) - 1 && memcmp(name, semaphore, sizeof(semaphore) - 1) == 0);
}

#endif
