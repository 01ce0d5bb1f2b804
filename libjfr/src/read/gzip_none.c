/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces gzip.c in a build without zlib. */
#include "error_impl.h"
#include "read/input_impl.h"

int jfr__gunzip(jfr__unpacked *out, const void *data, size_t len, uint64_t max_bytes,
                const jfr_allocator *alloc, jfr_error *err)
{
    (void)data;
    (void)len;
    (void)max_bytes;
    (void)alloc;
    *out = (jfr__unpacked){0};
    return jfr__fail(err, JFR_ERR_FORMAT, 0,
                     "The recording is packed with gzip and this build of libjfr has no zlib: "
                     "unpack it first.");
}
