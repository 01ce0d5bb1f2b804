/* SPDX-License-Identifier: Apache-2.0 */
#include "options_impl.h"

#include <stdint.h>
#include <string.h>

#include "fail_impl.h"

int sagg__options_copy(void *out, size_t known, const void *given, const char *unknown,
                       sagg_error *err)
{
    const uint8_t *bytes = given;
    size_t size;
    memcpy(&size, given, sizeof(size));
    memcpy(out, given, size < known ? size : known);
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return sagg__fail(err, SAGG_ERR_USAGE, 0, "%s", unknown);
    return 0;
}
