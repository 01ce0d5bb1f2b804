/* SPDX-License-Identifier: Apache-2.0 */
/* Prints frames, stacks, locks and holders for people, on standard output. */
#ifndef HOTSTACK_CLI_THREADS_STACK_H
#define HOTSTACK_CLI_THREADS_STACK_H

#include "cli/threads/threads.h"

void threads_print_lock(const attach_thread_lock *lock);

void threads_print_frame(const attach_thread_frame *frame);

/* Returns the frame that shows where the thread is, below the frames of the lock's implementation;
 * NULL = there is no stack. */
const attach_thread_frame *threads_telling_frame(const threads_view *view,
                                                 const attach_thread *thread);

/* Returns the frame in which the thread has locked that monitor, or NULL. */
const attach_thread_frame *threads_locking_frame(const threads_view *view,
                                                 const attach_thread *thread,
                                                 const attach_thread_lock *lock);

/* Prints a stack with the locks that the thread holds, one per line. */
void threads_print_stack(const threads_view *view, const attach_thread *thread);

/* Prints `held by "x"`, or the kind of the holder where it is not a thread of the snapshot. */
void threads_print_holder(const threads_holder *holder);

/* Prints `"init-B", which initialises a.B`: the thread that probably makes thread `index` wait for
 * a class. */
void threads_print_awaited_class(const threads_view *view, size_t index);

#endif
