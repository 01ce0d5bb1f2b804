/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM answers to `load`. Its code alone proves nothing: a library that is missing answers 0
 * from JDK 21 on (docs/formats/attach.md has the texts of each version). */
#ifndef ATTACH_LOAD_ANSWER_H
#define ATTACH_LOAD_ANSWER_H

#include "files/text_impl.h"
#include <attach/error.h>

/* A decimal number with an optional '-'. */
bool attach__parse_code(attach__span text, int *out);

/* 0 with *agent_code once Agent_OnAttach has run; else library_load_failed or
 * dynamic_agent_loading_disabled with the JVM's words. */
int attach__load_answer_read(int *agent_code, int reply_code, attach__span text, attach_error *err);

#endif
