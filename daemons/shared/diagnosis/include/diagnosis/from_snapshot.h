/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a snapshot in the form that diagnosis takes. May be called from any thread. */
#ifndef DIAGNOSIS_FROM_SNAPSHOT_H
#define DIAGNOSIS_FROM_SNAPSHOT_H

#include <attach/threads.h>
#include <diagnosis/waits.h>

/*
 * before: the snapshot of the same JVM that CPU times are compared with, or NULL. Returns
 * attach_threads_count(now) threads in the snapshot's order, whose texts are borrowed from it, or
 * NULL without memory; free() them.
 */
diagnosed_thread *diagnosis_from_snapshot(const attach_threads *now, const attach_threads *before);

#endif
