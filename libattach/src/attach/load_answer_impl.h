/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a JVM's answer to `load`. Its code alone proves nothing: from JDK 21 on it is 0 even when
 * the library is missing (docs/formats/attach.md has the texts of each version). */
#ifndef ATTACH_LOAD_ANSWER_H
#define ATTACH_LOAD_ANSWER_H

#include "files/text_impl.h"
#include <attach/error.h>

/* Parses a decimal number with an optional '-'. */
bool attach__parse_code(attach__span text, int *out);

/* Returns 0 with *agent_code once Agent_OnAttach has run; else library_load_failed or
 * dynamic_agent_loading_disabled, with the JVM's message. */
int attach__load_answer_read(int *agent_code, int reply_code, attach__span text, attach_error *err);

#endif
