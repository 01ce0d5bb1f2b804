/* SPDX-License-Identifier: Apache-2.0 */
/* Windows in time: aligned to UTC plus a jitter of each target's own, never over two UTC days. */
#ifndef COLLECTOR_CORE_SPANS_H
#define COLLECTOR_CORE_SPANS_H

#include <localrpc/message.h>
#include <stdint.h>

/* The jitter of a target, 0 <= jitter < range_ms: the same over restarts of the collector. */
uint32_t span_jitter(const local_identity *jvm, uint32_t range_ms);

/* The first border after `ms`: k * length + jitter, or midnight UTC. */
uint64_t span_next(uint64_t ms, uint32_t length_ms, uint32_t jitter_ms);

/* The last border at or before `ms`. */
uint64_t span_last(uint64_t ms, uint32_t length_ms, uint32_t jitter_ms);

#endif
