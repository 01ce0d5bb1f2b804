/* SPDX-License-Identifier: Apache-2.0 */
/* Marks locks whose owner is not, or is no longer, a platform thread. */
#ifndef HOTSTACK_THREADS_OWNERS_H
#define HOTSTACK_THREADS_OWNERS_H

#include "snapshot/reading.h"

/*
 * Sets THREADS_OWNER_ENDED on the rows that wait for a lock whose owner has ended. Where
 * `has_virtual` says that the owner may also be a virtual thread, sets THREADS_OWNER_GONE instead.
 * Reads these rows again, so that an owner that released its lock and ended in the meantime is not
 * reported. Returns false after an exception.
 */
bool owners_mark(jvm *j, reading *r, wire_out *o, bool has_virtual);

#endif
