/* SPDX-License-Identifier: Apache-2.0 */
/* Single operations on a JVM through the attach worker, as the commands need them. */
#ifndef HOTSTACK_CLI_ATTACH_CALL_H
#define HOTSTACK_CLI_ATTACH_CALL_H

#include <attachclient/attachclient.h>

/* Makes an installation id for this run, so that two runs on one JVM are different installations to
 * each other. Complains and returns false when there is no randomness. */
bool attach_call_id(char out[ATTACH_INSTALLATION_MAX + 1]);

/* Makes a request for that JVM with this run's id and a deadline of one minute. Returns false as
 * attach_call_id does. */
bool attach_call_prepare(attach_request *out, const attach_jvm *jvm, attach_op op);

/* Text that arrives in pieces, NUL-terminated; free p with free(). */
typedef struct attach_text {
    char *p;
    size_t n;
} attach_text;

/* An attach_piece_fn with attach_text as ctx. */
int attach_text_collect(void *ctx, const uint8_t *bytes, size_t n);

/* Complains about a failed operation, with the reason's name and its fix. */
void attach_call_complain(const attach_error *err);

#endif
