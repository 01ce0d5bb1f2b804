/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one string of any encoding: skipping and decoding it must end at the same byte. */
#include "fuzz.h"
#include "read/text_impl.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    jfr__arena arena;
    jfr__arena_init(&arena, &jfr__malloc, UINT64_MAX);
    jfr__cursor read = {data, data + 1, data + size, (data[0] & 1) != 0, false};
    jfr__cursor skipped = read;
    jfr_str text;
    uint64_t key;
    int rc = jfr__read_string(&read, &arena, UINT64_MAX, &text, &key, NULL);
    jfr__skip_string(&skipped);
    if ((rc < 0) != skipped.failed || (rc >= 0 && read.pos != skipped.pos))
        abort();
    jfr__arena_free(&arena);
    return 0;
}
