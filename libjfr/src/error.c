/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"

#include <stdarg.h>
#include <stdio.h>

int(jfr__fail)(jfr_error *err, int code, uint64_t offset, const char *format, ...)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->offset = offset;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    return code;
}

int(jfr__fail_nomem)(jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_NOMEM, 0, "Out of memory while reading a JFR recording.");
}
