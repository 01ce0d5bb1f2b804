/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/cgroup_limits_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files_impl.h"
#include "proc/proc_mountinfo_impl.h"

#define NO_LIMIT_BYTES ((uint64_t)1 << 62)
#define VALUE_MAX      64
#define PATH_LENGTH    768
#define LEVELS_MAX     32

typedef struct hierarchy {
    int fd;            /* directory under which the hierarchies are mounted */
    const char *mount; /* below fd: "memory", "cpu", "unified", "." */
    attach__span path; /* the process's group in it */
} hierarchy;

static attach__span first_line(attach__span text)
{
    attach__span line = {NULL, 0};
    (void)attach__next_line(&text, &line);
    return line;
}

bool attach__limit_bytes(attach__span text, uint64_t *out)
{
    attach__span line = first_line(text);
    *out = 0;
    if (attach__span_is(line, "max"))
        return true;
    if (!attach__parse_u64(line, 10, out))
        return false;
    if (*out >= NO_LIMIT_BYTES)
        *out = 0;
    return true;
}

static bool share_of(attach__span quota, attach__span period, uint32_t *out)
{
    uint64_t used = 0, whole = 0;
    if (!attach__parse_u64(quota, 10, &used) || !attach__parse_u64(period, 10, &whole) ||
        whole == 0 || used > UINT64_MAX / 1000)
        return false;
    uint64_t millis = used * 1000 / whole;
    *out = millis > UINT32_MAX ? UINT32_MAX : (uint32_t)millis;
    return true;
}

bool attach__limit_cpu(attach__span text, uint32_t *out)
{
    attach__span line = first_line(text), quota, period;
    *out = 0;
    if (!attach__next_word(&line, &quota) || !attach__next_word(&line, &period))
        return false;
    return attach__span_is(quota, "max") || share_of(quota, period, out);
}

static bool read_value(char out[VALUE_MAX], const hierarchy *h, attach__span group,
                       const char *name)
{
    char path[PATH_LENGTH];
    attach__blob text;
    int n = snprintf(path, sizeof(path), "%s/%.*s/%s", h->mount, (int)group.n, group.p, name);
    if (n < 0 || n >= (int)sizeof(path) ||
        attach__read_in_root(&text, h->fd, path, VALUE_MAX - 1) != 0)
        return false;
    bool ok = attach__copy_exact(out, VALUE_MAX, attach__blob_span(&text));
    free(text.p);
    return ok;
}

static attach__span value_span(const char *value)
{
    return attach__span_of(value, strlen(value));
}

static bool read_bytes(uint64_t *out, const hierarchy *h, attach__span group, const char *name)
{
    char value[VALUE_MAX];
    return read_value(value, h, group, name) && attach__limit_bytes(value_span(value), out);
}

/* Reads cpu.max, or version 1's two files. A quota of -1 is not parsed as a number and means no
 * limit. */
static bool read_cpu(uint32_t *out, const hierarchy *h, attach__span group)
{
    char value[VALUE_MAX], period[VALUE_MAX];
    *out = 0;
    if (read_value(value, h, group, "cpu.max"))
        return attach__limit_cpu(value_span(value), out);
    if (!read_value(value, h, group, "cpu.cfs_quota_us") ||
        !read_value(period, h, group, "cpu.cfs_period_us"))
        return false;
    (void)share_of(first_line(value_span(value)), first_line(value_span(period)), out);
    return true;
}

static void keep_smaller(uint64_t *kept, uint64_t value)
{
    if (value != 0 && (*kept == 0 || value < *kept))
        *kept = value;
}

/* Reads the limits from the process's group to the top. The memory used is that of the first group
 * that states a limit. */
static bool read_memory(attach_jvm *out, const hierarchy *h)
{
    static const char *const names[][2] = {{"memory.max", "memory.current"},
                                           {"memory.limit_in_bytes", "memory.usage_in_bytes"}};
    bool found = false;
    attach__span group = h->path;
    for (int level = 0; level < LEVELS_MAX; level++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            uint64_t limit = 0, used = 0;
            if (!read_bytes(&limit, h, group, names[i][0]))
                continue;
            found = true;
            keep_smaller(&out->memory_limit, limit);
            if (out->memory_used == 0 && read_bytes(&used, h, group, names[i][1]))
                out->memory_used = used;
        }
        if (group.n <= 1)
            break;
        group = attach__span_dirname(group);
    }
    return found;
}

static bool read_cpus(attach_jvm *out, const hierarchy *h)
{
    bool found = false;
    attach__span group = h->path;
    for (int level = 0; level < LEVELS_MAX; level++) {
        uint32_t millis = 0;
        uint64_t kept = out->cpu_millis;
        if (read_cpu(&millis, h, group)) {
            found = true;
            keep_smaller(&kept, millis);
            out->cpu_millis = (uint32_t)kept;
        }
        if (group.n <= 1)
            break;
        group = attach__span_dirname(group);
    }
    return found;
}

static bool has_controller(attach__span controllers, const char *name)
{
    attach__span one;
    while (attach__next_field(&controllers, ',', &one))
        if (attach__span_is(one, name))
            return true;
    return false;
}

/* Reads one line of /proc/PID/cgroup: "id:controllers:path". */
static bool read_line(attach_jvm *out, int fd, attach__span line)
{
    attach__span id, controllers;
    bool found = false;
    if (!attach__next_field(&line, ':', &id) || !attach__next_field(&line, ':', &controllers) ||
        line.n == 0 || line.p[0] != '/')
        return false;
    hierarchy h = {.fd = fd, .path = line};
    if (controllers.n == 0) {
        static const char *const mounts[] = {".", "unified"};
        for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
            h.mount = mounts[i];
            found |= read_memory(out, &h);
            found |= read_cpus(out, &h);
        }
        return found;
    }
    if (has_controller(controllers, "memory")) {
        h.mount = "memory";
        found |= read_memory(out, &h);
    }
    if (has_controller(controllers, "cpu")) {
        h.mount = "cpu";
        found |= read_cpus(out, &h);
    }
    return found;
}

static bool read_from(attach_jvm *out, int fd, attach__span cgroup)
{
    attach__span line;
    bool found = false;
    while (attach__next_line(&cgroup, &line))
        found |= read_line(out, fd, line);
    return found;
}

/* Reads the container's own view, in which its group is the top. */
static void read_own_view(attach_jvm *out, int root_fd)
{
    static const char top[] = "0::/\n1:memory:/\n2:cpu:/\n";
    int fd = attach__open_plain(root_fd, "sys/fs/cgroup", O_PATH | O_DIRECTORY);
    if (fd < 0)
        return;
    (void)read_from(out, fd, attach__span_of(top, sizeof(top) - 1));
    (void)close(fd);
}

void attach__cgroup_limits(attach_jvm *out, attach__span cgroup, const attach_options *options,
                           attach__span mountinfo, int root_fd)
{
    const char *path =
        options != NULL && options->cgroup_root != NULL ? options->cgroup_root : "/sys/fs/cgroup";
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool found = fd >= 0 && read_from(out, fd, cgroup);
    if (fd >= 0)
        (void)close(fd);
    if (!found && root_fd >= 0 && !attach__mount_could_hang(mountinfo, "/sys/fs/cgroup"))
        read_own_view(out, root_fd);
}
