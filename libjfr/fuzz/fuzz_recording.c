/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole recordings, also gzip: header, metadata, pools, events, strings. */
#include "fuzz.h"
#include "walk.h"

#include <jfr/options.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    walk_recording(data, size, 0);
    walk_recording(data, size, JFR_WALK_UNFINISHED | JFR_KEEP_IDLE_WAITS | JFR_KEEP_NATIVE_SAMPLES);
    return 0;
}
