/* SPDX-License-Identifier: Apache-2.0 */
/* Locks whose owner is not among the platform threads any more, or never was. */
#ifndef HOTSTACK_THREADS_OWNERS_H
#define HOTSTACK_THREADS_OWNERS_H

#include "snapshot/reading.h"

/*
 * Sets THREADS_OWNER_ENDED on the rows that wait for a lock of a thread that has ended, or, where
 * `has_virtual` says that it may as well be a virtual thread, THREADS_OWNER_GONE. These rows are
 * read again, so that an owner which ended right after it gave its lock back is not taken for one.
 * Returns false after an exception.
 */
bool owners_mark(jvm *j, reading *r, wire_out *o, bool has_virtual);

#endif
