/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a chunk header, and searches any bytes for the next one. */
#include "fuzz.h"
#include "read/header_impl.h"

#include <stdlib.h>

static void must(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t from = 0;
    uint64_t found;
    while ((found = jfr__header_find(data, size, from)) < size) {
        jfr__header header;
        must(found >= from);
        must(jfr__header_read(&header, data, size, found, NULL) == 0);
        must(header.ticks_per_second > 0 && header.major >= 1 && header.major <= 2);
        if (jfr__header_is_finished(&header))
            must(header.size > header.metadata_offset && header.size > header.pool_offset);
        from = found + 1;
    }
    must(found == size);
    for (uint64_t offset = 0; offset < size + 2 && offset < 200; offset++) {
        jfr__header header;
        jfr_error err;
        if (jfr__header_read(&header, data, size, offset, &err) < 0)
            must(err.code == JFR_ERR_FORMAT && err.offset >= offset);
    }
    return 0;
}
