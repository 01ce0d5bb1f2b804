/* SPDX-License-Identifier: Apache-2.0 */
/* Commands over HotSpot's attach protocol: each command has one answer. */
#ifndef ATTACH_COMMAND_H
#define ATTACH_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include <attach/target.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTACH_COMMAND_ARGS 3    /* protocol 1 carries exactly this many; missing ones are empty */
#define ATTACH_ARG_V1_MAX   1024 /* bytes of one argument in protocol 1, NUL excluded */
#define ATTACH_ARG_MAX      8192 /* the same in protocol 2 (JDK 24 and later) */
#define ATTACH_NAME_MAX     16
#define ATTACH_REPLY_MAX    ((size_t)64 << 20)

/* The answer of a JVM. */
typedef struct attach_reply attach_reply;

/*
 * Sends one command and reads its whole answer, starting the JVM's listener first where none runs:
 * SIGQUIT is sent only when the JVM catches it, no listener exists and attach is not disabled.
 * The call never waits past deadline_ns (CLOCK_MONOTONIC, absolute), whatever the JVM does.
 *
 * name: at most ATTACH_NAME_MAX bytes; args: n_args <= ATTACH_COMMAND_ARGS strings of at most
 * ATTACH_ARG_MAX bytes. Arguments that fit protocol 1 are sent by it, since every JVM speaks it. A
 * longer argument is sent by protocol 2, after asking whether the JVM speaks it. Returns 0 once the
 * JVM has answered, also when it answered with an error: see attach_reply_code and the text.
 * Errors: ATTACH_ERR_TARGET (attach_disabled, attach_socket_gone, attach_timeout, identity_changed,
 * permission_denied, process_exited, target_stopped), ATTACH_ERR_FORMAT (an answer without a code
 * line), ATTACH_ERR_LIMIT (over ATTACH_REPLY_MAX, or an argument over ATTACH_ARG_V1_MAX for a JVM
 * that speaks protocol 1 only), USAGE, NOMEM. *out: caller frees with attach_reply_free. Source:
 * HotSpot's attachListener_posix.cpp.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_command(attach_reply **out, attach_target *target,
                                                 const char *name, const char *const *args,
                                                 size_t n_args, uint64_t deadline_ns,
                                                 attach_error *err);

/* Returns the number on the answer's first line. 0 does NOT prove success: newer JVMs also answer 0
 * when a library fails to load. */
ATTACH_EXPORT int attach_reply_code(const attach_reply *reply);
/* Returns the rest of the answer, NUL-terminated. Borrowed until attach_reply_free. */
ATTACH_EXPORT const char *attach_reply_text(const attach_reply *reply);
ATTACH_EXPORT size_t attach_reply_length(const attach_reply *reply);
ATTACH_EXPORT void attach_reply_free(attach_reply *reply);

/* Reads the system properties, as Properties.store text. Errors as attach_command. */
ATTACH_EXPORT ATTACH_MUST_USE int attach_properties(attach_reply **out, attach_target *target,
                                                    uint64_t deadline_ns, attach_error *err);
/* Runs a diagnostic command ("VM.version", "Thread.print -l"). Errors as attach_command. */
ATTACH_EXPORT ATTACH_MUST_USE int attach_jcmd(attach_reply **out, attach_target *target,
                                              const char *command, uint64_t deadline_ns,
                                              attach_error *err);
/* Takes a thread dump as text; flags may be NULL or "-l", "-e". Errors as attach_command. */
ATTACH_EXPORT ATTACH_MUST_USE int attach_threaddump(attach_reply **out, attach_target *target,
                                                    const char *flags, uint64_t deadline_ns,
                                                    attach_error *err);

/*
 * Loads a JVM TI library by absolute path (in the target's own file system) and runs its
 * Agent_OnAttach with options. The answer is read as text: *agent_code gets Agent_OnAttach's return
 * value. Errors as attach_command, and ATTACH_ERR_TARGET with library_load_failed or
 * dynamic_agent_loading_disabled.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_load(int *agent_code, attach_target *target,
                                              const char *library, const char *options,
                                              uint64_t deadline_ns, attach_error *err);

#ifdef __cplusplus
}
#endif

#endif
