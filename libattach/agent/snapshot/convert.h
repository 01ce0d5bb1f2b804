/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the objects of java.lang.management into rows and columns. */
#ifndef HOTSTACK_THREADS_CONVERT_H
#define HOTSTACK_THREADS_CONVERT_H

#include "snapshot/reading.h"

/* Reads a ThreadInfo, except its stack, into its row. */
void convert_info(thread_row *row, wire_out *o, jvm *j, jobject info);

/*
 * Writes the stack of a ThreadInfo and its held locks as those of thread `index` of the columns.
 * Frames beyond the byte limit are left out, and THREADS_DEPTH_CUT is set, as it is for a stack
 * that has max_depth frames. Returns whether a stack was written; an empty stack counts.
 */
bool convert_stack(thread_row *row, wire_out *o, jvm *j, jobject info, uint32_t index,
                   uint32_t max_depth);

/* Writes the columns of one finished row. */
void convert_row(wire_out *o, const thread_row *row);

#endif
