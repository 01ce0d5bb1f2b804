/* SPDX-License-Identifier: Apache-2.0 */
/* Takes thread snapshots of the JVMs of a test, through the real client, worker and agent. */
#ifndef THREADS_ASK_H
#define THREADS_ASK_H

#include "../jvm_operation.h"

#define THREADS_VERSIONS      4
#define THREADS_DEFAULT_FLAGS (ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS)

/* Return the versions in turn, again from the first after the last: "11" ..., and its java or
 * NULL. */
const char *threads_version(int i);
const char *threads_java(int i);

/* Runs class Threads on that version; arguments after the first NULL are ignored. */
void threads_run(jvm_fixture *out, int version, const char *kind, const char *first,
                 const char *second);

/* Returns the one kernel thread of that name; fails the test when there is none. */
uint32_t threads_task_called(const jvm_fixture *jvm, const char *name);

/* Makes a request with the defaults, except that pauses are not bounded; free it. */
attach_request *threads_request(const jvm_fixture *jvm);

/* Sends it (and frees it) and returns the answer's code; *out is the snapshot on success. */
attach_result threads_send(attach_threads **out, attach_request *r);

/* Takes a snapshot with these flags and that many stacks (UINT32_MAX = none); fails the test
 * otherwise. */
attach_threads *threads_take(const jvm_fixture *jvm, uint32_t flags, uint32_t max_stacks);

/* Gives the lease back. */
void threads_end(const jvm_fixture *jvm);

/* Returns the thread of that name; fails the test when there is not exactly one. */
const attach_thread *threads_named(const attach_threads *threads, const char *name);

/* Whether the stack has a frame of that method of class Threads. */
bool threads_has_frame(const attach_threads *threads, const attach_thread *thread,
                       const char *method);

/* Counts our directories in /tmp. */
int threads_leftovers(void);

#endif
