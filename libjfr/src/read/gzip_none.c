/* SPDX-License-Identifier: Apache-2.0 */
/* In place of gzip.c where the library is built without zlib. */
#include "error_impl.h"
#include "read/input_impl.h"

static int refuse(jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_FORMAT, 0,
                     "The recording is packed with gzip and this build of libjfr has no zlib: "
                     "unpack it first.");
}

int jfr__inflater_new(jfr__inflater **out, const jfr_allocator *alloc, uint64_t max_bytes,
                      jfr_error *err)
{
    (void)alloc;
    (void)max_bytes;
    *out = NULL;
    return refuse(err);
}

int jfr__inflater_feed(jfr__inflater *inflater, const void *data, size_t len, jfr__buffer *out,
                       jfr_error *err)
{
    (void)inflater;
    (void)data;
    (void)len;
    (void)out;
    return refuse(err);
}

void jfr__inflater_free(jfr__inflater *inflater)
{
    (void)inflater;
}

bool jfr__inflater_is_cut(const jfr__inflater *inflater)
{
    (void)inflater;
    return false;
}

int jfr__gunzip(jfr__unpacked *out, const void *data, size_t len, uint64_t max_bytes,
                const jfr_allocator *alloc, jfr_error *err)
{
    (void)data;
    (void)len;
    (void)max_bytes;
    (void)alloc;
    *out = (jfr__unpacked){0};
    return refuse(err);
}
