/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the JVMs of a test, through the real client and worker. */
#ifndef JVM_OPERATION_H
#define JVM_OPERATION_H

#include "jvm_fixture.h"

/* Returns the installation id of this test process, so that tests can run at the same time; static
 * memory. */
const char *operation_installation(void);
/* Counts the directories of that installation in `path`. */
int operation_leftovers(const char *path);

/* The bytes of an answer; free(bytes). */
typedef struct operation_bytes {
    uint8_t *bytes;
    size_t n;
} operation_bytes;

/* An attach_piece_fn with operation_bytes as ctx; NULL drops the bytes. */
int operation_collect(void *ctx, const uint8_t *bytes, size_t n);

/* Returns how many whole JFR chunks the bytes are; fails the test when they are anything else. */
int operation_whole_chunks(const operation_bytes *c);

/* Returns the largest gap between two chunks, by the times in their headers. */
uint64_t operation_gap_ns(const operation_bytes *c);

/* Makes a request with the usual settings; free it. */
attach_request *operation_request(const jvm_fixture *jvm, attach_op op);

/* Runs the usual request; `must` fails the test unless it succeeds. c may be NULL where no bytes
 * arrive. */
attach_result operation_run(const jvm_fixture *jvm, attach_op op, operation_bytes *c);
attach_result operation_must(const jvm_fixture *jvm, attach_op op, operation_bytes *c);

/* Runs a request, and frees it. */
attach_result operation_send(attach_request *r, operation_bytes *c);

/* Fails the test unless the result is a refusal with that reason and a message. */
void operation_expect(const attach_result *result, attach_reason reason);

/* Starts a session that may use async-profiler only. */
attach_result operation_start_strictly(const jvm_fixture *jvm);

/* Runs a session with two windows, both of which must be whole, in a directory that begins with
 * that path. */
void operation_whole_session(const jvm_fixture *jvm, const char *directory);
/* Does the same with the JDK's recorder, which must say why it was chosen. */
void operation_whole_jfr_session(const jvm_fixture *jvm, const char *why);

#endif
