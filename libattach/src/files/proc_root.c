/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_impl.h"
#include "jvm/target_impl.h"

/* Returns whether all bytes beyond the options of this version are zero. A later version may pass
 * more options, which are accepted while they are unused. */
static bool unknown_tail_is_zero(const attach_options *options)
{
    const unsigned char *bytes = (const unsigned char *)options;
    for (size_t i = sizeof(*options); i < options->size; i++)
        if (bytes[i] != 0)
            return false;
    return options->size >= sizeof(*options);
}

int attach__open_proc_root(int *out, const attach_options *options, attach_error *err)
{
    const char *path = "/proc";
    if (options != NULL && !unknown_tail_is_zero(options))
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "attach_options: size is not set by ATTACH_OPTIONS_INIT, or a field "
                            "that this version does not know is set");
    if (options != NULL && options->proc_root != NULL)
        path = options->proc_root;
    *out = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*out < 0)
        return attach__fail(err, ATTACH_ERR_IO, "cannot open %s: %s; is procfs mounted there?",
                            path, strerror(errno));
    return ATTACH_OK;
}

void attach__root_path(char out[ATTACH__PATH_MAX], int proc_fd)
{
    ssize_t n = readlinkat(proc_fd, "root", out, ATTACH__PATH_MAX);
    bool known = n > 1 && n < ATTACH__PATH_MAX && out[0] == '/';
    out[known ? n : 0] = '\0';
}

void attach__boot_id(char out[40], int proc_root_fd)
{
    attach__blob text;
    attach__span line;
    out[0] = '\0';
    if (attach__read_proc(&text, proc_root_fd, "sys/kernel/random/boot_id", 64) != 0)
        return;
    attach__span rest = attach__blob_span(&text);
    if (attach__next_line(&rest, &line))
        attach__copy_text(out, 40, line);
    free(text.p);
}

int attach__proc_error(attach_error *err, int error, int32_t pid, const char *what)
{
    if (error == ENOENT || error == ESRCH)
        return attach__refuse(err, ATTACH_REASON_PROCESS_EXITED,
                              "process %d does not exist (any more)", pid);
    if (error == EACCES || error == EPERM)
        return attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                              "may not read %s of process %d: run as its user, or as root with "
                              "CAP_SYS_PTRACE",
                              what, pid);
    return attach__fail(err, ATTACH_ERR_IO, "cannot read %s of process %d: %s", what, pid,
                        strerror(error));
}
