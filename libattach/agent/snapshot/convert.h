/* SPDX-License-Identifier: Apache-2.0 */
/* java.lang.management's objects into rows and columns. */
#ifndef HOTSTACK_THREADS_CONVERT_H
#define HOTSTACK_THREADS_CONVERT_H

#include "snapshot/reading.h"

/* Everything of a ThreadInfo but its stack, into its row. */
void convert_info(thread_row *row, wire_out *o, jvm *j, jobject info);

/*
 * The stack of a ThreadInfo and what it holds locked, as thread `index` of the columns. Frames that
 * the limit leaves no room for are left out, and THREADS_DEPTH_CUT is set, as for a stack that has
 * max_depth frames. Returns whether a stack was written; an
 * empty one is one, too.
 */
bool convert_stack(thread_row *row, wire_out *o, jvm *j, jobject info, uint32_t index,
                   uint32_t max_depth);

/* The columns of one finished row. */
void convert_row(wire_out *o, const thread_row *row);

#endif
