/* SPDX-License-Identifier: Apache-2.0 */
/* JVMs as JSON: what `ps`, `doctor` and `attach status` share. Schema: docs/reference/cli-json.md.
 */
#ifndef HOTSTACK_CLI_JVM_JSON_H
#define HOTSTACK_CLI_JVM_JSON_H

#include <attach/attach.h>
#include <jansson.h>

/* A new object; NULL when there is no memory. */
json_t *jvm_json(const attach_jvm *jvm);

/* {"ok": ..., "reason", "detail", "fix"}; reason by its stable name, "none" when ok. */
json_t *verdict_json(const char *reason, const char *detail);

/* RFC 3339 in UTC, or null for 0. */
json_t *time_json(int64_t unix_ms);

/* Prints it with a newline and frees it. Complains and returns false when that fails. */
bool json_print(json_t *value);

/* What the catalogue advises for a reason; "" where nothing needs doing. Static memory. */
const char *fix_of(const char *reason);

/* "2026-11-21T14:48:34Z" */
void format_time(char out[32], int64_t unix_ms);

#endif
