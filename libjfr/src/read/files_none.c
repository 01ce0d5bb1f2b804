/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces map.c and descriptor.c in a build without file access, for WebAssembly. */
#include "error_impl.h"
#include "read/input_impl.h"

static int refuse(jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_IO, 0, "This build of libjfr reads no files: use jfr_open_mem.");
}

int jfr__map_file(void **out, size_t *len, const char *path, jfr_error *err)
{
    (void)path;
    *out = NULL;
    *len = 0;
    return refuse(err);
}

void jfr__unmap_file(void *data, size_t len)
{
    (void)data;
    (void)len;
}

int jfr__fd_size(int fd, uint64_t *size, const char *name, jfr_error *err)
{
    (void)fd;
    (void)name;
    *size = 0;
    return refuse(err);
}

int jfr__fd_read(int fd, uint64_t offset, void *data, size_t len, size_t *got, jfr_error *err)
{
    (void)fd;
    (void)offset;
    (void)data;
    (void)len;
    *got = 0;
    return refuse(err);
}
