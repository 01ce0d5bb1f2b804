/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "jvm/jvm_flags_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach__flags flags = {0};
    attach__span text = attach__span_of((const char *)data, size);
    attach__flags_note_variable(&flags, text, "JAVA_TOOL_OPTIONS");
    attach__flags_note_words(&flags, text);
    return 0;
}
