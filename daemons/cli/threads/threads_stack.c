/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/threads/threads_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void threads_print_lock(const attach_thread_lock *lock)
{
    (void)printf("%s@%x", lock->class_name, lock->identity_hash);
}

void threads_print_frame(const attach_thread_frame *frame)
{
    (void)printf("%s.%s", frame->class_name, frame->method);
    if (frame->native)
        (void)printf(" (native)");
    else if (frame->file[0] != '\0' && frame->line > 0)
        (void)printf(" (%s:%" PRIu32 ")", frame->file, frame->line);
}

const attach_thread_frame *threads_telling_frame(const threads_view *view,
                                                 const attach_thread *thread)
{
    for (size_t i = 0; i < thread->n_frames; i++) {
        const attach_thread_frame *frame = attach_threads_frame(view->now, thread->frames[i]);
        if (strncmp(frame->class_name, "java.util.concurrent.locks.", 27) != 0 &&
            strcmp(frame->class_name, "jdk.internal.misc.Unsafe") != 0)
            return frame;
    }
    return NULL;
}

const attach_thread_frame *threads_locking_frame(const threads_view *view,
                                                 const attach_thread *thread,
                                                 const attach_thread_lock *lock)
{
    for (size_t i = 0; lock != NULL && i < thread->n_held; i++)
        if (thread->held[i].lock->identity_hash == lock->identity_hash &&
            !thread->held[i].synchronizer && thread->held[i].depth < thread->n_frames)
            return attach_threads_frame(view->now, thread->frames[thread->held[i].depth]);
    return NULL;
}

void threads_print_stack(const threads_view *view, const attach_thread *thread)
{
    for (size_t i = 0; i < thread->n_frames; i++) {
        (void)printf("      at ");
        threads_print_frame(attach_threads_frame(view->now, thread->frames[i]));
        (void)printf("\n");
        for (size_t j = 0; j < thread->n_held; j++)
            if (!thread->held[j].synchronizer && thread->held[j].depth == i) {
                (void)printf("         - locked ");
                threads_print_lock(thread->held[j].lock);
                (void)printf("\n");
            }
    }
    if (thread->flags & ATTACH_THREAD_STACK_CUT)
        (void)printf("      ...\n");
    for (size_t j = 0; j < thread->n_held; j++)
        if (thread->held[j].synchronizer) {
            (void)printf("      - owns ");
            threads_print_lock(thread->held[j].lock);
            (void)printf("\n");
        }
}

void threads_print_holder(const threads_holder *holder)
{
    static const char *const notes[HOLDER_KINDS] = {
        [HOLDER_UNKNOWN] = ", which is not in the snapshot",
        [HOLDER_JAVA] = "",
        [HOLDER_VIRTUAL] = ", a virtual thread",
        [HOLDER_ENDED] = ", which has ended",
        [HOLDER_ENDED_OR_VIRTUAL] = ", which has ended or is a virtual thread",
    };
    if (holder->java_tid == 0)
        (void)printf("holder unknown");
    else if (holder->name[0] == '\0')
        (void)printf("held by thread #%" PRIu64 "%s", holder->java_tid, notes[holder->kind]);
    else
        (void)printf("held by \"%s\"%s", holder->name, notes[holder->kind]);
}

void threads_print_awaited_class(const threads_view *view, size_t index)
{
    const char *class_name;
    const attach_thread *by = threads_initialiser(view, index, &class_name);
    if (by == NULL)
        (void)printf("probably waits for the initialisation of a class");
    else
        (void)printf("probably waits for the initialisation of class %s by \"%s\"", class_name,
                     by->name);
}
