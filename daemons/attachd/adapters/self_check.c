/* SPDX-License-Identifier: Apache-2.0 */
#include "self_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* include/linux/proc_ns.h, PROC_PID_INIT_INO: the first namespace of the host. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"
#define MOUNTINFO_MAX       65536

static void find(self_check *out, const char *check, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void find(self_check *out, const char *check, const char *fix, const char *format, ...)
{
    va_list arguments;
    if (out->count == LOCAL_FINDINGS_MAX)
        return;
    local_finding *one = &out->findings[out->count++];
    memset(one, 0, sizeof(*one));
    va_start(arguments, format);
    (void)vsnprintf(one->message, sizeof(one->message), format, arguments);
    va_end(arguments);
    (void)snprintf(one->check, sizeof(one->check), "%s", check);
    (void)snprintf(one->fix, sizeof(one->fix), "%s", fix);
}

static bool has(const self_facts *facts, unsigned capability)
{
    return (facts->capabilities >> capability & 1) != 0;
}

static void judge_capabilities(self_check *out, const self_facts *facts)
{
    static const struct {
        unsigned bit;
        const char *name;
    } needed[] = {{CAP_SYS_PTRACE, "SYS_PTRACE"},
                  {CAP_KILL, "KILL"},
                  {CAP_SETUID, "SETUID"},
                  {CAP_SETGID, "SETGID"}};
    char missing[64] = "";
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        size_t n = strlen(missing);
        if (!has(facts, needed[i].bit))
            (void)snprintf(missing + n, sizeof(missing) - n, "%s%s", n == 0 ? "" : ", ",
                           needed[i].name);
    }
    if (missing[0] != '\0')
        find(out, "capability", "run as root, or with these as ambient capabilities",
             "the capabilities %s are missing: only JVMs of uid %u can be served", missing,
             facts->uid);
}

void self_check_judge(self_check *out, const self_facts *facts)
{
    out->count = 0;
    if (!facts->is_procfs) {
        find(out, "mount", "mount the host's /proc there",
             "%s is not a procfs: no JVM can be found", facts->proc_root);
        return;
    }
    judge_capabilities(out, facts);
    if (facts->own_pid_namespace)
        find(out, "pid_namespace", "in Kubernetes, give the pod hostPID: true",
             "hotstack-attachd runs in a pid namespace of its own: JVMs outside are not seen");
    if (facts->hidepid[0] != '\0' && !has(facts, CAP_SYS_PTRACE))
        find(out, "hidepid", "give SYS_PTRACE, or mount it without hidepid",
             "%s is mounted with hidepid=%s: JVMs of other users are not seen", facts->proc_root,
             facts->hidepid);
    if (facts->first_refused && has(facts, CAP_SYS_PTRACE))
        find(out, "security_module", "run hotstack-attachd unconfined",
             "the kernel refuses to look into process 1 in spite of SYS_PTRACE: a security module "
             "forbids it (profile %s)",
             facts->confinement[0] == '\0' ? "unknown" : facts->confinement);
    if (facts->openat2_refused || facts->pidfd_refused)
        find(out, "seccomp", "allow these calls",
             "a seccomp filter or an old kernel refuses %s%s%s: slower ways are used",
             facts->openat2_refused ? "openat2" : "",
             facts->openat2_refused && facts->pidfd_refused ? " and " : "",
             facts->pidfd_refused ? "pidfd_open" : "");
}

/* Gets the word after `key` in a list separated by commas. */
static void option_of(char out[16], const char *options, const char *key)
{
    const char *at = strstr(options, key);
    out[0] = '\0';
    if (at == NULL || (at != options && at[-1] != ','))
        return;
    at += strlen(key);
    (void)snprintf(out, 16, "%.*s", (int)strcspn(at, ", \n"), at);
}

void self_check_hidepid(char out[16], const char *mountinfo, const char *path)
{
    out[0] = '\0';
    for (const char *line = mountinfo; *line != '\0';) {
        char where[PATH_MAX] = "", type[64] = "", super[1024] = "", text[8192];
        size_t n = strcspn(line, "\n");
        (void)snprintf(text, sizeof(text), "%.*s", (int)n, line);
        line += n + (line[n] == '\n');
        const char *rest = strstr(text, " - ");
        if (rest == NULL || sscanf(text, "%*s %*s %*s %*s %4095s", where) != 1 ||
            sscanf(rest, " - %63s %*s %1023s", type, super) != 2 || strcmp(where, path) != 0 ||
            strcmp(type, "proc") != 0)
            continue;
        option_of(out, super, "hidepid=");
        if (strcmp(out, "0") == 0 || strcmp(out, "off") == 0)
            out[0] = '\0';
    }
}

static void read_text(char *out, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got = 1;
    while (fd >= 0 && n + 1 < size && got > 0) {
        got = read(fd, out + n, size - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    out[n] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

static uint64_t read_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0)
        return 0;
    return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* Reads "docker-default (enforce)", "unconfined", a label of SELinux, or nothing. */
static void read_confinement(char *out, size_t size)
{
    read_text(out, size, "/proc/self/attr/current");
    out[strcspn(out, "\n")] = '\0';
    if (strcmp(out, "unconfined") == 0)
        out[0] = '\0';
}

static bool is_refused(long rc)
{
    return rc < 0 && (errno == ENOSYS || errno == EPERM);
}

static void read_mount(self_facts *out)
{
    struct statfs fs;
    char path[PATH_MAX], link[8];
    char *mountinfo = malloc(MOUNTINFO_MAX);
    out->is_procfs = statfs(out->proc_root, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
    if (mountinfo != NULL) {
        read_text(mountinfo, MOUNTINFO_MAX, "/proc/self/mountinfo");
        self_check_hidepid(out->hidepid, mountinfo, out->proc_root);
    }
    free(mountinfo);
    (void)snprintf(path, sizeof(path), "%s/1/root", out->proc_root);
    out->first_refused = readlink(path, link, sizeof(link)) < 0 && errno == EACCES;
}

void self_facts_read(self_facts *out, const char *proc_root)
{
    char space[64] = "";
    *out = (self_facts){.proc_root = proc_root[0] == '\0' ? "/proc" : proc_root,
                        .uid = geteuid(),
                        .capabilities = read_capabilities()};
    read_mount(out);
    read_confinement(out->confinement, sizeof(out->confinement));
    bool known = readlink("/proc/self/ns/pid", space, sizeof(space) - 1) > 0;
    out->own_pid_namespace = known && strcmp(space, FIRST_PID_NAMESPACE) != 0;
    out->openat2_refused = is_refused(syscall(SYS_openat2, -1, "", NULL, 0));
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    out->pidfd_refused = is_refused(fd);
    if (fd >= 0)
        (void)close(fd);
}
