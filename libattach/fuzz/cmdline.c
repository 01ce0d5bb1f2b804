/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "jvm/jvm_facts_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach_jvm jvm = {0};
    attach__flags flags = {0};
    attach__cmdline_read(&jvm, &flags, attach__span_of((const char *)data, size), "");
    attach__release_read(&jvm, attach__span_of((const char *)data, size));
    return 0;
}
