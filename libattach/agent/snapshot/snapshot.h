/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes one snapshot: the numbers of all threads, then the stacks of those that matter, or of all.
 */
#ifndef HOTSTACK_THREADS_SNAPSHOT_H
#define HOTSTACK_THREADS_SNAPSHOT_H

#include "snapshot/reading.h"

/*
 * Takes the snapshot that `ask` describes; its numbers must be within the limits. *bytes: caller
 * frees. Returns enum threads_status; j->error has the message of THREADS_JAVA_ERROR and
 * THREADS_NO_HEADROOM.
 */
int snapshot_take(uint8_t **bytes, size_t *n, jvm *j, const threads_ask *ask, history *h);

/* Switches contention monitoring on or off; returns whether that worked. */
bool snapshot_contention(jvm *j, bool on);
bool snapshot_contention_is_on(jvm *j);

#endif
