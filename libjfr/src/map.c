#include "error.h"
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_errno(jfr_error *err, const char *doing, const char *path)
{
    return jfr__fail(err, JFR_ERR_IO, 0, "Cannot %s %s: %s.", doing, path, strerror(errno));
}

static int map_fd(void **out, size_t *len, int fd, const char *path, jfr_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail_errno(err, "read the size of", path);
    if (!S_ISREG(st.st_mode))
        return jfr__fail(err, JFR_ERR_IO, 0,
                         "%s is not a regular file: read it into memory and use jfr_open_mem.",
                         path);
    *out = NULL;
    *len = (size_t)st.st_size;
    if (*len == 0)
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

void jfr__unmap_file(void *data, size_t len)
{
    if (data != NULL)
        munmap(data, len);
}
