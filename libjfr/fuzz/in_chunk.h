/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_IN_CHUNK_H
#define JFR_FUZZ_IN_CHUNK_H

#include <stddef.h>
#include <stdint.h>

/* Where the fuzzed bytes stand in the chunk that is built around them. */
enum in_chunk_part { IN_CHUNK_POOLS, IN_CHUNK_EVENTS };

/*
 * Reads a finished chunk of right header and metadata in which `data` is one checkpoint's pools, or
 * all the events. The first byte chooses: 1 plain integers, 2 async-profiler's, 4 idle waits and
 * native samples too. What is read is checked as walk.h says.
 */
void read_in_chunk(enum in_chunk_part part, const uint8_t *data, size_t size);

#endif
