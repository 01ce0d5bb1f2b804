/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the fuzzed pools of a checkpoint: entries of all types, stacks, threads, classes, strings.
 */
#include "fuzz.h"
#include "in_chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_in_chunk(IN_CHUNK_POOLS, data, size);
    return 0;
}
