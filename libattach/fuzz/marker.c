/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/ap_marker_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[ATTACH__MARKER_MAX];
    attach__marker marker, again;
    if (attach__marker_parse(&marker, attach__span_of((const char *)data, size), NULL) != ATTACH_OK)
        return 0;
    /* an accepted marker can be written and read again */
    size_t n = attach__marker_format(text, &marker);
    if (attach__marker_parse(&again, attach__span_of(text, n), NULL) != ATTACH_OK)
        abort();
    return 0;
}
