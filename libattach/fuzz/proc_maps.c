/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "proc/proc_maps_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach__map_facts facts;
    attach__maps_read(&facts, attach__span_of((const char *)data, size), "/srv/root");
    return 0;
}
