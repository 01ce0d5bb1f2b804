/* SPDX-License-Identifier: Apache-2.0 */
/* Thread snapshots of the JVMs of a test, through the real client, worker and agent. */
#ifndef THREADS_ASK_H
#define THREADS_ASK_H

#include "../jvm_operation.h"

#define THREADS_VERSIONS      4
#define THREADS_DEFAULT_FLAGS (ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS)

/* The versions in turn, beginning anew after the last: "11" ..., and its java or NULL. */
const char *threads_version(int i);
const char *threads_java(int i);

/* Runs class Threads on that version; what follows the first NULL is not read. */
void threads_run(jvm_fixture *out, int version, const char *kind, const char *first,
                 const char *second);

/* The one kernel thread of that name; fails the test when there is none. */
uint32_t threads_task_called(const jvm_fixture *jvm, const char *name);

/* A request with the defaults, but that pauses are not bounded; free it. */
attach_request *threads_request(const jvm_fixture *jvm);

/* Sends it (and frees it) and returns the answer's code; *out is the snapshot on success. */
attach_result threads_send(attach_threads **out, attach_request *r);

/* A snapshot with these flags and that many stacks (UINT32_MAX = none); fails the test otherwise.
 */
attach_threads *threads_take(const jvm_fixture *jvm, uint32_t flags, uint32_t max_stacks);

/* Gives the lease back. */
void threads_end(const jvm_fixture *jvm);

/* The thread of that name; fails the test when there is not exactly one. */
const attach_thread *threads_named(const attach_threads *threads, const char *name);

/* Whether a frame of that method of class Threads is in the stack. */
bool threads_has_frame(const attach_threads *threads, const attach_thread *thread,
                       const char *method);

/* How many directories of ours are in /tmp. */
int threads_leftovers(void);

#endif
