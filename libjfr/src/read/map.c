/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/input_impl.h"
#include "read/reader_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fail_errno(jfr_error *err, const char *doing, const char *path)
{
    return jfr__fail(err, JFR_ERR_IO, 0, "Cannot %s %s: %s.", doing, path, strerror(errno));
}

static int map_fd(void **out, size_t *len, int fd, const char *path, jfr_error *err)
{
    uint64_t size;
    int rc = jfr__fd_size(fd, &size, path, err);
    if (rc < 0)
        return rc;
    *out = NULL;
    *len = (size_t)size;
    if (size == 0)
        return 0;
    void *data = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return fail_errno(err, "map", path);
    *out = data;
    return 0;
}

int jfr__map_file(void **out, size_t *len, const char *path, jfr_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "open", path);
    int rc = map_fd(out, len, fd, path, err);
    close(fd);
    return rc;
}

/* Pages of a smaller recording are not released, because releasing would cost more than it saves.
 */
enum { LEAST_DROP = 4 << 20 };

void jfr__drop_pages(const jfr_file *file, uint64_t from, uint64_t to)
{
    if (file->mapped_len < LEAST_DROP)
        return;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = (from + page - 1) / page * page;
    uint64_t end = to / page * page;
    if (file->data == file->mapped && begin < end)
        (void)madvise((char *)file->mapped + begin, end - begin, MADV_DONTNEED);
}

void jfr__unmap_file(void *data, size_t len)
{
    if (data != NULL)
        munmap(data, len);
}
