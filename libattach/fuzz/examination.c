/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <attach/examine.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    attach_examination read;
    char text[ATTACH_EXAMINE_TEXT_MAX];
    if (attach_examination_parse(&read, (const char *)data, size, NULL) == ATTACH_OK)
        (void)attach_examination_format(text, &read);
    return 0;
}
