/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fuzzed events in a chunk whose metadata and pools are valid. */
#include "fuzz.h"
#include "in_chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_in_chunk(IN_CHUNK_EVENTS, data, size);
    return 0;
}
