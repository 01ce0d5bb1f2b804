/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces map.c on a system without mmap: the file is read. */
#include "error_impl.h"
#include "read/input_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_whole(void **out, size_t *len, int fd, const char *path, jfr_error *err)
{
    uint64_t size;
    int rc = jfr__fd_size(fd, &size, path, err);
    *out = NULL;
    *len = 0;
    if (rc < 0 || size == 0)
        return rc;
    void *data = size <= SIZE_MAX ? malloc((size_t)size) : NULL;
    if (data == NULL)
        return jfr__fail_nomem(err);
    rc = jfr__fd_read(fd, 0, data, (size_t)size, len, err);
    if (rc < 0) {
        free(data);
        return rc;
    }
    *out = data;
    return 0;
}

int jfr__map_file(void **out, size_t *len, const char *path, jfr_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return jfr__fail(err, JFR_ERR_IO, 0, "Cannot open %s: %s.", path, strerror(errno));
    int rc = read_whole(out, len, fd, path, err);
    close(fd);
    return rc;
}

void jfr__unmap_file(void *data, size_t len)
{
    (void)len;
    free(data);
}
