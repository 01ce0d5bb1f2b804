/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/waits.h>

#include <attach/lock_class.h>
#include <string.h>

const char *wait_kind_name(wait_kind kind)
{
    static const char *const names[WAIT_KINDS] = {
        [WAIT_NONE] = "none",
        [WAIT_IDLE] = "idle",
        [WAIT_TIMED] = "timed",
        [WAIT_BLOCKED] = "blocked",
        [WAIT_LOCK] = "waiting_for_lock",
        [WAIT_UNKNOWN_HOLDER] = "unknown_holder",
        [WAIT_CLASS] = "class_initialisation",
        [WAIT_DEADLOCKED] = "deadlocked",
    };
    return names[kind];
}

bool wait_is_slow(wait_kind kind)
{
    return kind > WAIT_TIMED;
}

static bool begins_with(const char *text, size_t length, const char *prefix)
{
    return text != NULL && length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

static wait_kind judge_waiting(const diagnosed_thread *thread)
{
    if (thread->lock_class_length > 0 && thread->owner_tid != 0 &&
        thread->owner_tid != thread->java_tid)
        return WAIT_LOCK;
    if (attach_is_lock_class(thread->lock_class, thread->lock_class_length))
        return WAIT_UNKNOWN_HOLDER;
    return thread->state == DIAGNOSIS_TIMED_WAITING ? WAIT_TIMED : WAIT_IDLE;
}

/* HotSpot reports a thread as runnable while it waits for another one to initialise a class. */
static bool is_stuck_initialiser(const diagnosed_thread *thread)
{
    return thread->initialises_length > 0 && (thread->flags & DIAGNOSIS_NATIVE) == 0 &&
           thread->cpu_known && thread->cpu_ns == 0;
}

wait_kind diagnose_wait(const diagnosed_thread *thread)
{
    if ((thread->flags & DIAGNOSIS_DEADLOCKED) != 0)
        return WAIT_DEADLOCKED;
    if (thread->carries_tid != 0)
        return WAIT_NONE; /* its state is not that of the virtual thread that it runs */
    switch (thread->state) {
    case DIAGNOSIS_BLOCKED:
        return thread->owner_tid != 0 ? WAIT_BLOCKED : WAIT_UNKNOWN_HOLDER;
    case DIAGNOSIS_WAITING:
    case DIAGNOSIS_TIMED_WAITING:
        return judge_waiting(thread);
    case DIAGNOSIS_RUNNABLE:
        return is_stuck_initialiser(thread) ? WAIT_CLASS : WAIT_NONE;
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

/*
 * Returns the next thread after `i`, cyclically, that initialises a class. Returns count if there
 * is none, or if one of them is not blocked itself: `i` may wait for that one and continue.
 */
static size_t find_initialiser(const diagnosed_thread *threads, size_t count, size_t i)
{
    size_t found = count;

    for (size_t step = 1; step < count; step++) {
        size_t at = (i + step) % count;
        if (threads[at].initialises_length == 0)
            continue;
        if (!wait_is_slow(diagnose_wait(&threads[at])))
            return count;
        found = found == count ? at : found;
    }
    return found;
}

size_t diagnose_next(const diagnosed_thread *threads, size_t count, size_t i)
{
    switch (diagnose_wait(&threads[i])) {
    case WAIT_BLOCKED:
    case WAIT_LOCK:
    case WAIT_DEADLOCKED:
        return diagnosis_find(threads, count, threads[i].owner_tid);
    case WAIT_CLASS:
        return find_initialiser(threads, count, i);
    default:
        return count;
    }
}

size_t diagnose_chain(const diagnosed_thread *threads, size_t count, size_t start, uint32_t *chain,
                      size_t room)
{
    size_t length = 0;

    for (size_t at = start; length < room;) {
        at = diagnose_next(threads, count, at);
        if (at == count || at == start || is_among((uint32_t)at, chain, length))
            break;
        chain[length++] = (uint32_t)at;
    }
    return length;
}
