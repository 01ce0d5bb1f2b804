/* Sums and references to frames against the plain way to read samples and stacks. */
#include "fuzz.h"
#include "twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)twin_recording(data, size, JFR_WALK_UNFINISHED);
    (void)twin_recording(data, size, JFR_KEEP_IDLE_WAITS | JFR_KEEP_NATIVE_SAMPLES);
    return 0;
}
