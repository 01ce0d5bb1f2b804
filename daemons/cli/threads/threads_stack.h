/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, stacks, locks and holders for people, on standard output. */
#ifndef HOTSTACK_CLI_THREADS_STACK_H
#define HOTSTACK_CLI_THREADS_STACK_H

#include "cli/threads/threads.h"

void threads_print_lock(const attach_thread_lock *lock);

void threads_print_frame(const attach_thread_frame *frame);

/* The frame where the thread stands, below the lock's own machinery; NULL = there is no stack. */
const attach_thread_frame *threads_telling_frame(const threads_view *view,
                                                 const attach_thread *thread);

/* The frame in which the thread has locked that monitor, or NULL. */
const attach_thread_frame *threads_locking_frame(const threads_view *view,
                                                 const attach_thread *thread,
                                                 const attach_thread_lock *lock);

/* With the locks that it holds, a line each. */
void threads_print_stack(const threads_view *view, const attach_thread *thread);

/* `held by "x"`, with what the holder is where it is no thread of the snapshot. */
void threads_print_holder(const threads_holder *holder);

/* `"init-B", which initialises a.B`: who probably keeps thread `index` waiting for a class. */
void threads_print_awaited_class(const threads_view *view, size_t index);

#endif
