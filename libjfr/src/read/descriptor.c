/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/input_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int jfr__fd_size(int fd, uint64_t *size, const char *name, jfr_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return jfr__fail(err, JFR_ERR_IO, 0, "Cannot read the size of %s: %s.", name,
                         strerror(errno));
    if (!S_ISREG(st.st_mode))
        return jfr__fail(err, JFR_ERR_IO, 0,
                         "%s is not a regular file: read it into memory and use jfr_open_mem.",
                         name);
    *size = (uint64_t)st.st_size;
    return 0;
}

int jfr__fd_read(int fd, uint64_t offset, void *data, size_t len, size_t *got, jfr_error *err)
{
    char *to = data;
    *got = 0;
    while (*got < len) {
        ssize_t n = pread(fd, to + *got, len - *got, (off_t)(offset + *got));
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return jfr__fail(err, JFR_ERR_IO, offset + *got, "Cannot read the recording: %s.",
                             strerror(errno));
        *got += n > 0 ? (size_t)n : 0;
    }
    return 0;
}
