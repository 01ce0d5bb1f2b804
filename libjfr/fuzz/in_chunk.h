/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_IN_CHUNK_H
#define JFR_FUZZ_IN_CHUNK_H

#include <stddef.h>
#include <stdint.h>

/* The place of the fuzzed bytes in the chunk that is built around them. */
enum in_chunk_part { IN_CHUNK_POOLS, IN_CHUNK_EVENTS };

/*
 * Reads a finished chunk with valid header and metadata, in which `data` is the pools of one
 * checkpoint or all the events. Bits of the first byte select: 1 plain integers, 2
 * async-profiler's, 4 idle waits and native samples too. The values read are checked as in walk.h.
 */
void read_in_chunk(enum in_chunk_part part, const uint8_t *data, size_t size);

#endif
