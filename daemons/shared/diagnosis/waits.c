/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/waits.h>

#include <string.h>

const char *wait_kind_name(wait_kind kind)
{
    static const char *const names[WAIT_KINDS] = {
        [WAIT_NONE] = "none",
        [WAIT_BLOCKED] = "blocked",
        [WAIT_LOCK] = "waiting_for_lock",
        [WAIT_UNKNOWN_HOLDER] = "unknown_holder",
        [WAIT_CLASS] = "class_initialisation",
        [WAIT_DEADLOCKED] = "deadlocked",
    };
    return names[kind];
}

static bool begins_with(const char *text, size_t length, const char *prefix)
{
    return text != NULL && length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

static bool contains(const char *text, size_t length, const char *part)
{
    return memmem(text, length, part, strlen(part)) != NULL;
}

/*
 * Locks of java.util.concurrent, not what idle threads wait for: a condition of an empty queue, a
 * latch, an exchange. StampedLock and read locks are such locks without a holder.
 */
static bool is_lock_class(const char *name, size_t length)
{
    return begins_with(name, length, "java.util.concurrent.locks.") &&
           !contains(name, length, "ConditionObject") && !contains(name, length, "ConditionNode");
}

wait_kind diagnose_wait(const diagnosed_thread *thread)
{
    if ((thread->flags & DIAGNOSIS_DEADLOCKED) != 0)
        return WAIT_DEADLOCKED;
    if (thread->carries)
        return WAIT_NONE; /* its lock is the virtual thread that it runs */
    switch (thread->state) {
    case DIAGNOSIS_BLOCKED:
        return thread->owner_tid != 0 ? WAIT_BLOCKED : WAIT_UNKNOWN_HOLDER;
    case DIAGNOSIS_WAITING:
    case DIAGNOSIS_TIMED_WAITING:
        if (thread->lock_class_length == 0)
            return WAIT_NONE;
        if (thread->owner_tid != 0 && thread->owner_tid != thread->java_tid)
            return WAIT_LOCK;
        return is_lock_class(thread->lock_class, thread->lock_class_length) ? WAIT_UNKNOWN_HOLDER
                                                                            : WAIT_NONE;
    case DIAGNOSIS_RUNNABLE:
        return thread->initialises && thread->cpu_known && thread->cpu_ns == 0 ? WAIT_CLASS
                                                                               : WAIT_NONE;
    default:
        return WAIT_NONE;
    }
}

const char *diagnose_lock_kind(uint32_t state, const char *lock_class, size_t length)
{
    if (state == DIAGNOSIS_BLOCKED)
        return "monitor";
    if (begins_with(lock_class, length, "java.util.concurrent."))
        return "juc";
    return "unknown";
}

size_t diagnosis_find(const diagnosed_thread *threads, size_t count, uint64_t java_tid)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (threads[middle].java_tid < java_tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && threads[low].java_tid == java_tid ? low : count;
}

static bool is_among(uint32_t index, const uint32_t *chain, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (chain[i] == index)
            return true;
    }
    return false;
}

size_t diagnose_chain(const diagnosed_thread *threads, size_t count, size_t start, uint32_t *chain,
                      size_t room)
{
    size_t length = 0;

    for (size_t at = start; length < room;) {
        wait_kind kind = diagnose_wait(&threads[at]);
        if (kind != WAIT_BLOCKED && kind != WAIT_LOCK && kind != WAIT_DEADLOCKED)
            break;
        at = diagnosis_find(threads, count, threads[at].owner_tid);
        if (at == count || at == start || is_among((uint32_t)at, chain, length))
            break;
        chain[length++] = (uint32_t)at;
    }
    return length;
}
