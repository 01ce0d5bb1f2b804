/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's attach listener: a socket /tmp/.java_pid<n> that a SIGQUIT makes it create. */
#ifndef ATTACH_LISTENER_H
#define ATTACH_LISTENER_H

#include "jvm/target_impl.h"

/* Connects to the listener, which it starts first where none runs. *out: a non-blocking socket,
 * caller closes. */
int attach__listener_connect(int *out, attach_target *target, uint64_t deadline_ns,
                             attach_error *err);

/* Waits until fd has `events` (poll's), at most until the deadline. Returns 0, or the error that
 * fits the target's state: process_exited, target_stopped, attach_timeout. */
int attach__wait_for(int fd, short events, const attach_target *target, uint64_t deadline_ns,
                     attach_error *err);

#endif
