/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/from_snapshot.h>

#include <stdlib.h>
#include <string.h>

/* Returns the class of the innermost static initialiser on the thread's stack, or "". */
static const char *find_initialised(const attach_threads *now, const attach_thread *thread)
{
    for (size_t i = 0; i < thread->n_frames; i++) {
        const attach_thread_frame *frame = attach_threads_frame(now, thread->frames[i]);
        if (frame != NULL && strcmp(frame->method, "<clinit>") == 0)
            return frame->class_name;
    }
    return "";
}

static diagnosed_thread convert(const attach_threads *now, const attach_threads *before,
                                const attach_thread *thread)
{
    uint64_t cpu_ns =
        before != NULL ? attach_thread_cpu_since(thread, before) : ATTACH_THREADS_UNKNOWN;
    diagnosed_thread out = {
        .java_tid = thread->java_tid,
        .state = (uint32_t)thread->state,
        .flags = thread->flags,
        .lock_class = thread->lock != NULL ? thread->lock->class_name : "",
        .lock_id = thread->lock != NULL ? thread->lock->identity_hash : 0,
        .owner_tid = thread->owner_tid,
        .carries_tid = thread->carries_tid,
        .initialises = find_initialised(now, thread),
        .cpu_known = cpu_ns != ATTACH_THREADS_UNKNOWN,
        .cpu_ns = cpu_ns != ATTACH_THREADS_UNKNOWN ? cpu_ns : 0,
    };

    out.lock_class_length = strlen(out.lock_class);
    out.initialises_length = strlen(out.initialises);
    return out;
}

diagnosed_thread *diagnosis_from_snapshot(const attach_threads *now, const attach_threads *before)
{
    size_t count = attach_threads_count(now);
    diagnosed_thread *threads = calloc(count + 1, sizeof(*threads));

    for (size_t i = 0; threads != NULL && i < count; i++)
        threads[i] = convert(now, before, attach_threads_at(now, i));
    return threads;
}
