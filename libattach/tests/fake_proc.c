/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_proc.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_LENGTH 256

static void write_file(const char *path, const char *mode, const char *text)
{
    FILE *file = fopen(path, mode);
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void path_of(char out[PATH_LENGTH], const fake_proc *proc, const char *name)
{
    (void)snprintf(out, PATH_LENGTH, "%s/%d/%s", proc->path, proc->identity.pid, name);
}

void fake_proc_write(const fake_proc *proc, const char *name, const char *text)
{
    char path[PATH_LENGTH];
    path_of(path, proc, name);
    write_file(path, "w", text);
}

void fake_proc_set_state(const fake_proc *proc, char state)
{
    char text[160];
    (void)snprintf(text, sizeof(text), "%d (java) %c 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 0\n",
                   proc->identity.pid, state, FAKE_START_TICKS);
    fake_proc_write(proc, "stat", text);
}

void fake_proc_map(const fake_proc *proc, const char *mapped)
{
    char path[PATH_LENGTH], line[PATH_LENGTH];
    path_of(path, proc, "maps");
    (void)snprintf(line, sizeof(line), "7f0000000000-7f0000001000 r-xp 00000000 fe:01 42    %s\n",
                   mapped);
    write_file(path, "a", line);
}

static void make_directory(const fake_proc *proc, const char *name)
{
    char path[PATH_LENGTH];
    (void)snprintf(path, sizeof(path), "%s/%s", proc->path, name);
    ck_assert_int_eq(mkdir(path, 0755), 0);
}

void fake_proc_make(fake_proc *out)
{
    char path[PATH_LENGTH], status[512];
    memset(out, 0, sizeof(*out));
    (void)snprintf(out->path, sizeof(out->path), "/tmp/libattach-proc-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(out->path));
    (void)snprintf(out->boot, sizeof(out->boot), "%s/root", out->path);
    out->identity.pid = (int32_t)getpid();
    out->options = (attach_options)ATTACH_OPTIONS_INIT;
    out->options.proc_root = out->path;
    make_directory(out, "root");
    make_directory(out, "root/tmp");
    make_directory(out, "sys");
    make_directory(out, "sys/kernel");
    make_directory(out, "sys/kernel/random");
    (void)snprintf(path, sizeof(path), "%d", out->identity.pid);
    make_directory(out, path);
    (void)snprintf(path, sizeof(path), "%d/task", out->identity.pid);
    make_directory(out, path);
    (void)snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", out->path);
    write_file(path, "w", "11111111-2222-3333-4444-555555555555\n");
    path_of(path, out, "root");
    ck_assert_int_eq(symlink("../root", path), 0);
    path_of(path, out, "cwd");
    ck_assert_int_eq(symlink("../root", path), 0);
    (void)snprintf(status, sizeof(status),
                   "Name:\tjava\nPid:\t%d\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nGroups:\t\n"
                   "NSpid:\t%d\t7\nSigCgt:\t0000000000000000\n",
                   out->identity.pid, geteuid(), geteuid(), geteuid(), geteuid(), getegid(),
                   getegid(), getegid(), getegid(), out->identity.pid);
    fake_proc_write(out, "status", status);
    fake_proc_write(out, "cmdline", "java");
    fake_proc_write(out, "comm", "java\n");
    fake_proc_write(out, "cgroup", "0::/\n");
    fake_proc_write(out, "mountinfo", "1 0 0:1 / / rw - ext4 x rw\n");
    fake_proc_write(out, "maps", "");
    fake_proc_set_state(out, 'S');
    fake_proc_map(out, "/jdk/lib/server/libjvm.so");
}

void fake_proc_remove(fake_proc *proc)
{
    char command[PATH_LENGTH];
    (void)snprintf(command, sizeof(command), "rm -r %s", proc->path);
    ck_assert_int_eq(system(command), 0);
}
