/* SPDX-License-Identifier: Apache-2.0 */
/* JVMs as JSON, for `ps`, `doctor` and `attach status`. Schema: docs/reference/cli-json.md. */
#ifndef HOTSTACK_CLI_JVM_JSON_H
#define HOTSTACK_CLI_JVM_JSON_H

#include <attach/attach.h>
#include <jansson.h>

/* Makes a new object; NULL when there is no memory. */
json_t *jvm_json(const attach_jvm *jvm);

/* Makes {"ok": ..., "reason", "detail", "fix"}; reason is its stable name, "none" when ok. */
json_t *verdict_json(const char *reason, const char *detail);

/* Makes a string with the time as RFC 3339 in UTC; null for 0. */
json_t *time_json(int64_t unix_ms);

/* Prints a value with a newline and frees it. Complains and returns false when that fails. */
bool json_print(json_t *value);

/* Returns the fix that the catalogue has for a reason; "" where none is needed. Static memory. */
const char *fix_of(const char *reason);

/* Writes a time as "2026-11-21T14:48:34Z". */
void format_time(char out[32], int64_t unix_ms);

#endif
