/* SPDX-License-Identifier: Apache-2.0 */
/* Tests listing and opening the JVMs of a fake procfs. */
#include "run_suite.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_proc.h"

static fake_proc proc;

static void setup(void)
{
    fake_proc_make(&proc);
}

static void teardown(void)
{
    fake_proc_remove(&proc);
}

START_TEST(list_has_the_jvm_and_only_that)
{
    attach_jvm_list *list = NULL;
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/999999", proc.path); /* it exits during the call */
    ck_assert_int_eq(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/12x", proc.path);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    ck_assert_int_eq(attach_jvm_list_read(&list, &proc.options, NULL), ATTACH_OK);
    ck_assert_uint_eq(attach_jvm_list_count(list), 1);
    const attach_jvm *jvm = attach_jvm_list_at(list, 0);
    ck_assert_int_eq(jvm->identity.pid, proc.identity.pid);
    ck_assert_str_eq(jvm->identity.boot_id, "11111111-2222-3333-4444-555555555555");
    ck_assert_uint_eq(jvm->identity.start_ticks, FAKE_START_TICKS);
    ck_assert_int_eq(jvm->ns_pid, 7);
    ck_assert_int_eq(jvm->reason, ATTACH_REASON_NONE);
    ck_assert_str_eq(jvm->detail, "");
    ck_assert_ptr_null(attach_jvm_list_at(list, 1));
    attach_jvm_list_free(list);
    attach_jvm_list_free(NULL);
}
END_TEST

START_TEST(verdicts)
{
    attach_jvm jvm;
    fake_proc_write(&proc, "cmdline", "java");
    fake_proc_map(&proc, "/x/libjavaProfiler1.so");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_ptr_nonnull(strstr(jvm.detail, "Datadog loaded: /x/libjavaProfiler1.so"));
    fake_proc_set_state(&proc, 'T');
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_TARGET_STOPPED);
    fake_proc_map(&proc, "/j9/libj9vm29.so");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_NOT_HOTSPOT);
}
END_TEST

START_TEST(foreign_profilers_by_name)
{
    attach_jvm jvm;
    char status[256];
    fake_proc_map(&proc, "/x/libasyncProfiler.so");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_NONE); /* loaded, and never started */
    ck_assert_str_eq(jvm.profiler, "async-profiler");
    ck_assert_str_eq(jvm.profiler_library, "/x/libasyncProfiler.so");
    /* SIGPROF (bit 26) is caught: it has run */
    (void)snprintf(status, sizeof(status),
                   "Pid:\t%d\nUid:\t0\t0\nGid:\t0\t0\nSigCgt:\t0000000004000000\n",
                   proc.identity.pid);
    fake_proc_write(&proc, "status", status);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_ptr_nonnull(strstr(jvm.detail, "async-profiler loaded: /x/libasyncProfiler.so"));
}
END_TEST

START_TEST(agents_with_a_profiler_of_their_own_are_left_alone)
{
    attach_jvm jvm;
    fake_proc_map(&proc, "/tmp/app-pyroscope1/libasyncProfiler-linux-x64-1.so");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_str_eq(jvm.profiler, "Pyroscope");
}
END_TEST

/* Writes a file below the fake tree, its directories too. */
static void plant(const char *name, const void *bytes, size_t n)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", proc.path, name);
    for (char *at = strchr(path + strlen(proc.path) + 1, '/'); at != NULL;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    ck_assert_int_eq(fclose(file), 0);
}

static void plant_text(const char *name, const char *text)
{
    plant(name, text, strlen(text));
}

START_TEST(flags_come_from_the_environment_too)
{
    attach_jvm jvm;
    char path[64];
    static const char environment[] = "A=b\0JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism\0";
    (void)snprintf(path, sizeof(path), "%d/environ", proc.identity.pid);
    plant(path, environment, sizeof(environment) - 1);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_ATTACH_DISABLED);
    ck_assert(jvm.attach_disabled);
}
END_TEST

static const struct {
    const char *cgroup;
    const char *files[8][2]; /* below the fake tree */
    uint64_t memory;
    uint32_t cpu;
} limits[] = {
    {"0::/pod/c\n", /* version 2: the pod's limit is the smaller one */
     {{"cg/pod/c/memory.max", "max\n"},
      {"cg/pod/c/memory.current", "77\n"},
      {"cg/pod/memory.max", "1048576\n"},
      {"cg/pod/c/cpu.max", "50000 100000\n"},
      {"cg/pod/cpu.max", "max 100000\n"}},
     1048576,
     500},
    {"4:memory:/pod/c\n2:cpu,cpuacct:/pod/c\n", /* version 1 */
     {{"cg/memory/pod/c/memory.limit_in_bytes", "2097152\n"},
      {"cg/memory/pod/c/memory.usage_in_bytes", "77\n"},
      {"cg/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"cg/cpu/pod/c/cpu.cfs_quota_us", "-1\n"},
      {"cg/cpu/pod/c/cpu.cfs_period_us", "100000\n"},
      {"cg/cpu/pod/cpu.cfs_quota_us", "250000\n"},
      {"cg/cpu/pod/cpu.cfs_period_us", "100000\n"}},
     2097152,
     2500},
    {"4:memory:/\n0::/pod\n", /* hybrid */
     {{"cg/unified/pod/memory.max", "4096\n"}, {"cg/unified/pod/memory.current", "77\n"}},
     4096,
     0},
    {"0::/../../elsewhere\n", /* outside the visible tree: the container's own view counts */
     {{"root/sys/fs/cgroup/memory.max", "8192\n"},
      {"root/sys/fs/cgroup/memory.current", "77\n"},
      {"root/sys/fs/cgroup/cpu.max", "100000 100000\n"}},
     8192,
     1000},
};

START_TEST(limits_of_the_control_groups)
{
    attach_jvm jvm;
    static char cgroup_root[128];
    (void)snprintf(cgroup_root, sizeof(cgroup_root), "%s/cg", proc.path);
    proc.options.cgroup_root = cgroup_root;
    fake_proc_write(&proc, "cgroup", limits[_i].cgroup);
    for (int i = 0; i < ROWS(limits[0].files) && limits[_i].files[i][0] != NULL; i++)
        plant_text(limits[_i].files[i][0], limits[_i].files[i][1]);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_uint_eq(jvm.memory_limit, limits[_i].memory);
    ck_assert_uint_eq(jvm.memory_used, 77);
    ck_assert_uint_eq(jvm.cpu_millis, limits[_i].cpu);
}
END_TEST

/* Writes an ELF64 file that consists of a header, a name table and two sections. */
static size_t an_executable(uint8_t out[512], const char *section)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                         .e_shoff = 128,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 2,
                         .e_shstrndx = 0};
    Elf64_Shdr sections[2] = {{.sh_name = 0, .sh_offset = 64, .sh_size = 32}, {.sh_name = 1}};
    memset(out, 0, 512);
    memcpy(out, &header, sizeof(header));
    (void)snprintf((char *)out + 65, 31, "%s", section);
    memcpy(out + 128, sections, sizeof(sections));
    return 128 + sizeof(sections);
}

START_TEST(native_images_are_told_apart)
{
    attach_jvm jvm;
    char path[64];
    uint8_t elf[512];
    size_t n = an_executable(elf, ".svm_heap");
    (void)snprintf(path, sizeof(path), "%d/exe", proc.identity.pid);
    fake_proc_write(&proc, "maps", "7f00-7f01 r-xp 0 fe:01 42 /app/service\n");
    plant(path, elf, n);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_NOT_HOTSPOT);
    ck_assert_ptr_nonnull(strstr(jvm.detail, "native image"));
    plant(path, elf, an_executable(elf, ".svm_hea"));
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL),
                     ATTACH_ERR_TARGET);
    n = an_executable(elf, ".svm_heap");
    for (size_t cut = 0; cut < n; cut += 7) { /* a cut executable is not recognised */
        plant(path, elf, cut);
        ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL),
                         ATTACH_ERR_TARGET);
    }
}
END_TEST

START_TEST(name_alone_is_not_enough)
{
    attach_jvm jvm;
    attach_error err = {0};
    fake_proc_write(&proc, "maps", "7f00-7f01 r-xp 0 fe:01 42 /usr/bin/java\n");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, &err),
                     ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_NOT_HOTSPOT);
    ck_assert_int_eq(attach_jvm_read(&jvm, 999999, &proc.options, &err), ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_PROCESS_EXITED);
}
END_TEST

START_TEST(release_file_is_read_below_the_root_only)
{
    attach_jvm jvm;
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/jdk", proc.boot);
    /* a link that leads out of the target's root must be resolved within it */
    ck_assert_int_eq(symlink("/etc", path), 0);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_str_eq(jvm.version, "");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/jdk/release", proc.boot);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fputs("JAVA_VERSION=\"17.0.9\"\n", file);
    (void)fclose(file);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_str_eq(jvm.version, "17.0.9");
    /* a pipe instead of the file must not block the call */
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0644), 0);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_str_eq(jvm.version, "");
}
END_TEST

static void make_below_root(const char *name, bool directory)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", proc.boot, name);
    int rc = directory ? mkdir(path, 0755) : close(creat(path, 0644));
    ck_assert_int_eq(rc, 0);
}

/* With a newer JDK at the same path, the JVM may still find its libraries. */
START_TEST(a_deleted_jdk_is_told_from_a_replaced_one)
{
    attach_jvm jvm;
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert(!jvm.jdk_deleted);
    fake_proc_write(&proc, "maps", "");
    fake_proc_map(&proc, "/jdk/lib/server/libjvm.so (deleted)");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert(jvm.jdk_deleted);
    ck_assert_str_eq(jvm.libjvm, "/jdk/lib/server/libjvm.so");
    make_below_root("jdk", true);
    make_below_root("jdk/lib", true);
    make_below_root("jdk/lib/libmanagement.so", false);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert(!jvm.jdk_deleted);
}
END_TEST

START_TEST(target_checks_identity)
{
    attach_target *target = NULL;
    attach_error err = {0};
    attach_identity identity = proc.identity;
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err), ATTACH_OK);
    ck_assert_uint_eq(attach_target_identity(target)->start_ticks, FAKE_START_TICKS);
    ck_assert_uint_eq(attach_target_ids(target)->uid, geteuid());
    attach_target_close(target);
    attach_target_close(NULL);
    identity.start_ticks = FAKE_START_TICKS + 1;
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err),
                     ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_IDENTITY_CHANGED);
    ck_assert_ptr_null(target);
    identity = proc.identity;
    (void)snprintf(identity.boot_id, sizeof(identity.boot_id), "another boot");
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err),
                     ATTACH_ERR_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_IDENTITY_CHANGED);
    identity.pid = 0;
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err), ATTACH_ERR_USAGE);
}
END_TEST

START_TEST(options_of_a_later_version)
{
    struct {
        attach_options known;
        long unknown;
    } later = {ATTACH_OPTIONS_INIT, 0};
    attach_jvm_list *list = NULL;
    later.known.size = sizeof(later);
    later.known.proc_root = proc.path;
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_OK);
    attach_jvm_list_free(list);
    later.unknown = 1;
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_ERR_USAGE);
    later.known.size = 0;
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_ERR_USAGE);
    later.known = (attach_options){.size = sizeof(attach_options), .proc_root = "/nonexistent"};
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_ERR_IO);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("jvm");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, list_has_the_jvm_and_only_that);
    tcase_add_test(tc, verdicts);
    tcase_add_test(tc, foreign_profilers_by_name);
    tcase_add_test(tc, agents_with_a_profiler_of_their_own_are_left_alone);
    tcase_add_test(tc, flags_come_from_the_environment_too);
    tcase_add_loop_test(tc, limits_of_the_control_groups, 0, ROWS(limits));
    tcase_add_test(tc, native_images_are_told_apart);
    tcase_add_test(tc, name_alone_is_not_enough);
    tcase_add_test(tc, release_file_is_read_below_the_root_only);
    tcase_add_test(tc, a_deleted_jdk_is_told_from_a_replaced_one);
    tcase_add_test(tc, target_checks_identity);
    tcase_add_test(tc, options_of_a_later_version);
    Suite *suite = suite_create("jvm");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
