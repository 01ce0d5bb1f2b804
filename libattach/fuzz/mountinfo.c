/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "profiler/ap_candidates_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach_ap_options options = ATTACH_AP_OPTIONS_INIT;
    attach__candidates found;
    attach__candidates_from(&found, attach__span_of((const char *)data, size), &options);
    return 0;
}
