/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "profiler/ap_jfr_impl.h"
#include "profiler/ap_session_impl.h"
#include "profiler/jfr_settings_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach__span text = attach__span_of((const char *)data, size);
    (void)attach__jfr_runs(text, "hotstack-abc1-0123456789abcdef");
    (void)attach__jfr_java_release(text);
    (void)attach__skipped_samples(text);
    return 0;
}
