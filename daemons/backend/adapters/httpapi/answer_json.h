/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/answer_json.h: makes JSON values of the core's answers
 * (docs/reference/query-api.md). Each function returns a new reference, or NULL when there is no
 * memory.
 */
#ifndef BACKEND_ANSWER_JSON_H
#define BACKEND_ANSWER_JSON_H

#include <jansson.h>

#include "query.h"

json_t *json_meta(const query_meta *meta);
json_t *json_service(const service_entry *entry);
json_t *json_target(const target_entry *entry);
json_t *json_top_row(const top_row *row, bool lines);

/* Makes the id of a JVM: 16 hexadecimal digits. */
json_t *json_target_id(uint64_t target);

/* Makes a string of the store's text. */
json_t *json_text(text value);

/* Returns "java", "native", "jvm", "kernel", or "unknown" for any other number. */
const char *frame_kind_name(unsigned kind);

/* Makes a time as RFC 3339; null for 0. */
json_t *json_time(uint64_t unix_ms);

/* Makes a decimal string, because sums can be greater than numbers in JSON. */
json_t *json_sum(uint64_t value);

#endif
