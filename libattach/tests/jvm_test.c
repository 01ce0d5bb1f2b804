/* Listing and opening JVMs of a fake procfs. */
#include "run.h"

#include <stdio.h>
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
    (void)snprintf(path, sizeof(path), "%s/999999", proc.path); /* gone while we look */
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
    fake_proc_map(&proc, "/x/libasyncProfiler.so");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_EXTERNAL_PROFILER);
    ck_assert_ptr_nonnull(strstr(jvm.detail, "/x/libasyncProfiler.so"));
    fake_proc_set_state(&proc, 'T');
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_TARGET_STOPPED);
    fake_proc_map(&proc, "/j9/libj9vm29.so");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_int_eq(jvm.reason, ATTACH_REASON_NOT_HOTSPOT);
}
END_TEST

START_TEST(name_alone_is_not_enough)
{
    attach_jvm jvm;
    attach_error err = {0};
    fake_proc_write(&proc, "maps", "7f00-7f01 r-xp 0 fe:01 42 /usr/bin/java\n");
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, &err),
                     ATTACH_E_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_NOT_HOTSPOT);
    ck_assert_int_eq(attach_jvm_read(&jvm, 999999, &proc.options, &err), ATTACH_E_TARGET);
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
    /* a pipe in its place must not hang us */
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0644), 0);
    ck_assert_int_eq(attach_jvm_read(&jvm, proc.identity.pid, &proc.options, NULL), ATTACH_OK);
    ck_assert_str_eq(jvm.version, "");
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
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err), ATTACH_E_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_IDENTITY_CHANGED);
    ck_assert_ptr_null(target);
    identity = proc.identity;
    (void)snprintf(identity.boot_id, sizeof(identity.boot_id), "another boot");
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err), ATTACH_E_TARGET);
    ck_assert_int_eq(err.reason, ATTACH_REASON_IDENTITY_CHANGED);
    identity.pid = 0;
    ck_assert_int_eq(attach_target_open(&target, &identity, &proc.options, &err), ATTACH_E_USAGE);
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
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_E_USAGE);
    later.known.size = 0;
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_E_USAGE);
    later.known = (attach_options){sizeof(attach_options), "/nonexistent"};
    ck_assert_int_eq(attach_jvm_list_read(&list, &later.known, NULL), ATTACH_E_IO);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("jvm");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, list_has_the_jvm_and_only_that);
    tcase_add_test(tc, verdicts);
    tcase_add_test(tc, name_alone_is_not_enough);
    tcase_add_test(tc, release_file_is_read_below_the_root_only);
    tcase_add_test(tc, target_checks_identity);
    tcase_add_test(tc, options_of_a_later_version);
    Suite *suite = suite_create("jvm");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
