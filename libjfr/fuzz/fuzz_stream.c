/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that comes in pieces, of a size that the first byte chooses: it must come to what the
 * same bytes come to as a whole.
 */
#include "fuzz.h"
#include "verdict.h"

#include <jfr/options.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 68 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t piece = data[0] == 0 ? size : data[0];
    uint32_t flags = data[0] % 2 ? JFR_WALK_UNFINISHED : 0;
    data++;
    size--;
    verdict file;
    verdict stream;
    verdict_of_file(&file, data, size, flags);
    verdict_of_stream(&stream, data, size, flags, piece);
    /* gzip: a file that is damaged further on is refused, its stream has given what came before. */
    if (size < HEADER_SIZE || data[0] == 0x1F)
        return 0;
    if (strcmp(file.text, stream.text) != 0 || file.digest != stream.digest)
        abort();
    return 0;
}
