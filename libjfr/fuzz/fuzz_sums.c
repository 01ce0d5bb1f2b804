/* SPDX-License-Identifier: Apache-2.0 */
/* Compares sums and references to frames with the plain way to read samples and stacks. */
#include "fuzz.h"
#include "twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Finding where parts of hostile bytes begin takes most of the time, so each input tests one
     * way. */
    uint32_t way = (uint32_t)(size % TWIN_WAYS);
    uint32_t flags = size / TWIN_WAYS % 2 == 0 ? JFR_WALK_UNFINISHED
                                               : JFR_KEEP_IDLE_WAITS | JFR_KEEP_NATIVE_SAMPLES;
    (void)twin_recording(data, size, flags, way);
    return 0;
}
