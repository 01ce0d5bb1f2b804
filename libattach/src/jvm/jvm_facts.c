/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_facts_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm/hsperf_impl.h"
#include "proc/proc_mountinfo_impl.h"

#define RELEASE_MAX     ((size_t)64 << 10)
#define HSPERF_DIRS_MAX 64
#define TMP_ENTRIES_MAX 4096

/* Returns whether the next argument is the option's value (the `java` launcher's own `java -X`
 * help). */
static bool takes_value(attach__span arg)
{
    static const char *const names[] = {
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--add-opens",
        "--add-exports",
        "--add-modules",
        "--add-reads",
        "--upgrade-module-path",
        "--limit-modules",
        "--patch-module",
        "--enable-native-access",
        "-d",
        "--describe-module",
        "--source",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (attach__span_is(arg, names[i]))
            return true;
    return false;
}

static void join_arguments(attach_jvm *out, attach__span text)
{
    char joined[sizeof(out->command_line)];
    size_t n = text.n < sizeof(joined) ? text.n : sizeof(joined);
    for (size_t i = 0; i < n; i++)
        joined[i] = text.p[i] == '\0' ? ' ' : text.p[i];
    while (n > 0 && joined[n - 1] == ' ')
        n--;
    attach__copy_text(out->command_line, sizeof(out->command_line), attach__span_of(joined, n));
}

void attach__program_read(char out[ATTACH__PROGRAM_MAX], int proc_fd)
{
    static const char deleted[] = " (deleted)";
    char path[ATTACH__PATH_MAX];
    ssize_t n = readlinkat(proc_fd, "exe", path, sizeof(path));
    attach__span whole = attach__span_of(path, n > 0 ? (size_t)n : 0);
    if (attach__span_ends(whole, deleted))
        whole.n -= sizeof(deleted) - 1;
    attach__copy_text(out, ATTACH__PROGRAM_MAX, attach__span_basename(whole));
}

/* A program that creates the JVM itself may have the JVM's options anywhere in its command line. */
static void read_other_program(attach_jvm *out, attach__flags *flags, attach__span arguments,
                               attach__span name)
{
    attach__span arg;
    attach__copy_text(out->main_class, sizeof(out->main_class), name);
    while (attach__next_field(&arguments, '\0', &arg))
        attach__flags_note(flags, arg);
}

void attach__cmdline_read(attach_jvm *out, attach__flags *flags, attach__span text,
                          const char *program)
{
    attach__span rest = text, arg, name = attach__span_of(program, strlen(program));
    bool named = false;
    join_arguments(out, text);
    if (!attach__next_field(&rest, '\0', &arg))
        return;
    if (name.n == 0)
        name = attach__span_basename(arg);
    if (name.n > 0 && !attach__span_is(name, "java")) {
        read_other_program(out, flags, rest, name);
        return;
    }
    while (!named && attach__next_field(&rest, '\0', &arg)) {
        bool names_main = attach__span_is(arg, "-jar") || attach__span_is(arg, "-m") ||
                          attach__span_is(arg, "--module");
        attach__flags_note(flags, arg);
        if (takes_value(arg)) {
            (void)attach__next_field(&rest, '\0', &arg);
            continue;
        }
        if (names_main && !attach__next_field(&rest, '\0', &arg))
            return;
        if (!names_main && (arg.n == 0 || arg.p[0] == '-' || arg.p[0] == '@'))
            continue;
        attach__copy_text(out->main_class, sizeof(out->main_class), arg);
        named = true;
    }
}

static void note_counter(attach_jvm *out, attach__flags *flags, char *can_attach, attach__span name,
                         attach__span value)
{
    attach__span word;
    if (attach__span_is(name, "java.property.java.version"))
        attach__copy_text(out->version, sizeof(out->version), value);
    else if (attach__span_is(name, "java.property.java.vm.vendor"))
        attach__copy_text(out->vendor, sizeof(out->vendor), value);
    else if (attach__span_is(name, "java.property.java.vm.name"))
        attach__copy_text(out->vm_name, sizeof(out->vm_name), value);
    else if (attach__span_is(name, "sun.rt.javaCommand") && attach__next_word(&value, &word))
        attach__copy_text(out->main_class, sizeof(out->main_class), word);
    else if (attach__span_is(name, "java.rt.vmArgs") || attach__span_is(name, "java.rt.vmFlags"))
        attach__flags_note_words(flags, value);
    else if (attach__span_is(name, "sun.rt.jvmCapabilities") && value.n > 0)
        *can_attach = value.p[0];
}

void attach__hsperf_read(attach_jvm *out, attach__flags *flags, attach__span bytes)
{
    attach__hsperf file;
    attach__span name, value;
    char can_attach = '\0';
    if (attach__hsperf_open(&file, (const uint8_t *)bytes.p, bytes.n, NULL) != ATTACH_OK)
        return;
    while (attach__hsperf_next(&file, &name, &value))
        note_counter(out, flags, &can_attach, name, value);
    /* sun.rt.jvmCapabilities begins with the result of all flags: '1' = attach works */
    if (can_attach != '\0')
        flags->attach_disabled = can_attach == '0';
}

void attach__release_read(attach_jvm *out, attach__span text)
{
    attach__span line, key;
    while (attach__next_line(&text, &line)) {
        if (!attach__next_field(&line, '=', &key) || line.n < 2 || line.p[0] != '"')
            continue;
        attach__span value = attach__span_of(line.p + 1, line.n - 2);
        if (attach__span_is(key, "JAVA_VERSION") && out->version[0] == '\0')
            attach__copy_text(out->version, sizeof(out->version), value);
        if (attach__span_is(key, "IMPLEMENTOR") && out->vendor[0] == '\0')
            attach__copy_text(out->vendor, sizeof(out->vendor), value);
    }
}

/* Reads tmp/<user_dir>/<pid> when a process of `uid` wrote it. */
static bool read_counters(attach__blob *out, int root_fd, const char *user_dir,
                          const attach_jvm *jvm)
{
    char path[NAME_MAX + 32];
    struct stat st;
    (void)snprintf(path, sizeof(path), "tmp/%s/%d", user_dir, jvm->ns_pid);
    int fd = attach__open_plain(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == jvm->uid &&
              attach__read_fd(out, fd, ATTACH__HSPERF_MAX) == 0;
    (void)close(fd);
    return ok;
}

static bool find_counters(attach__blob *out, int root_fd, const attach_jvm *jvm)
{
    int tmp = attach__open_plain(root_fd, "tmp", O_RDONLY | O_DIRECTORY);
    DIR *dir = tmp < 0 ? NULL : fdopendir(tmp);
    if (dir == NULL && tmp >= 0)
        (void)close(tmp);
    if (dir == NULL)
        return false;
    bool found = false;
    int tried = 0, seen = 0;
    const struct dirent *entry;
    while (!found && seen++ < TMP_ENTRIES_MAX && tried < HSPERF_DIRS_MAX &&
           (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, "hsperfdata_", 11) != 0)
            continue;
        tried++;
        found = read_counters(out, root_fd, entry->d_name, jvm);
    }
    (void)closedir(dir);
    return found;
}

/* Reads the release file of the JDK whose libjvm.so is <home>/lib/server/libjvm.so, or on JDK 8
 * <home>[/jre]/lib/<cpu>/server/libjvm.so. */
static void read_release_file(attach_jvm *out, int root_fd, attach__span mountinfo)
{
    char path[sizeof(out->libjvm) + 16];
    attach__span home = attach__span_of(out->libjvm, strlen(out->libjvm));
    if (attach__mount_could_hang(mountinfo, out->libjvm))
        return;
    for (int up = 0; up < 5 && home.n > 0 && out->version[0] == '\0'; up++) {
        home = attach__span_dirname(home);
        attach__blob text;
        (void)snprintf(path, sizeof(path), "%.*s/release", (int)home.n, home.p);
        if (up < 2 || attach__read_in_root(&text, root_fd, path, RELEASE_MAX) != 0)
            continue;
        attach__release_read(out, attach__blob_span(&text));
        free(text.p);
    }
}

/* The parent of libjvm's directory has the libraries that the JDK loads on demand, such as
 * libmanagement.so. */
bool attach__jdk_is_deleted(const attach__map_facts *maps, int root_fd, attach__span mountinfo)
{
    char path[ATTACH__PATH_MAX + 32];
    attach__span libjvm = attach__span_of(maps->libjvm, strlen(maps->libjvm));
    attach__span home = attach__span_dirname(attach__span_dirname(libjvm));
    if (!maps->libjvm_deleted || attach__mount_could_hang(mountinfo, maps->libjvm))
        return false;
    (void)snprintf(path, sizeof(path), "%.*s/libmanagement.so", (int)home.n, home.p);
    int fd = attach__open_in_root(root_fd, path, O_PATH, 0);
    if (fd >= 0)
        (void)close(fd);
    return fd == -ENOENT || fd == -ENOTDIR;
}

void attach__facts_from_root(attach_jvm *out, attach__flags *flags, int root_fd,
                             attach__span mountinfo)
{
    attach__blob bytes;
    if (!attach__mount_could_hang(mountinfo, "/tmp") && find_counters(&bytes, root_fd, out)) {
        attach__hsperf_read(out, flags, attach__blob_span(&bytes));
        free(bytes.p);
    }
    read_release_file(out, root_fd, mountinfo);
}
