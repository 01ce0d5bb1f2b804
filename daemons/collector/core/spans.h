/* SPDX-License-Identifier: Apache-2.0 */
/* Windows in time: aligned to UTC plus a jitter for each target, never across two UTC days. */
#ifndef COLLECTOR_CORE_SPANS_H
#define COLLECTOR_CORE_SPANS_H

#include <localrpc/message.h>
#include <stdint.h>

/* Returns the jitter of a target, 0 <= jitter < range_ms, which is the same after a restart of the
 * collector. */
uint32_t span_jitter(const local_identity *jvm, uint32_t range_ms);

/* Returns the first border after `ms`: k * length + jitter, or midnight UTC. */
uint64_t span_next(uint64_t ms, uint32_t length_ms, uint32_t jitter_ms);

/* Returns the last border at or before `ms`. */
uint64_t span_last(uint64_t ms, uint32_t length_ms, uint32_t jitter_ms);

#endif
