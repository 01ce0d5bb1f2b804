/* SPDX-License-Identifier: Apache-2.0 */
#include "fail_impl.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

int(sagg__fail)(sagg_error *err, int code, uint64_t offset, const char *format, ...)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->offset = offset;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    return code;
}

int(sagg__no_memory)(sagg_error *err)
{
    return sagg__fail(err, SAGG_ERR_NOMEM, 0,
                      "The allocator returned no memory; free some, or lower the caps.");
}

int(sagg__refused)(sagg_error *err)
{
    return sagg__fail(err, SAGG_ERR_IO, 0,
                      "The output's write callback refused a piece; the output is not complete.");
}
