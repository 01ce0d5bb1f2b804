/* SPDX-License-Identifier: Apache-2.0 */
/* Parses type names: any text is a type or is not, and a type encodes and decodes. */
#include <stdint.h>
#include <stdlib.h>

#include <chsink/chsink.h>

#include "blocks/type_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    chs__type type;

    if (chs__type_parse(&type, (const char *)data, size) == 0 &&
        (type.layout == CHS__FIXED_WIDTH) != (type.width > 0))
        abort();
    chs__type_free(&type);
    return 0;
}
