/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the findings of attachd's self-check. */
#include "../adapters/self_check.h"

#include <check.h>
#include <linux/capability.h>
#include <string.h>

#include "run_suite.h"

#define ALL                                                                                        \
    (UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_KILL | UINT64_C(1) << CAP_SETUID |         \
     UINT64_C(1) << CAP_SETGID)
#define SOUND .proc_root = "/proc", .is_procfs = true

static const struct {
    self_facts facts;
    size_t count;
    const char *words, *check; /* of the first finding */
} rows[] = {
    {{SOUND, .capabilities = ALL}, 0, "", ""},
    {{SOUND, .capabilities = ALL, .hidepid = "2"}, 0, "", ""},
    {{SOUND, .capabilities = ALL, .confinement = "docker-default (enforce)"}, 0, "", ""},
    {{.proc_root = "/host/proc", .capabilities = ALL}, 1, "/host/proc is not a procfs", "mount"},
    {{SOUND, .uid = 1001},
     1,
     "SYS_PTRACE, KILL, SETUID, SETGID are missing: only JVMs of uid 1001",
     "capability"},
    {{SOUND, .capabilities = ALL & ~(UINT64_C(1) << CAP_KILL)},
     1,
     "the capabilities KILL are",
     "capability"},
    {{SOUND, .capabilities = ALL & ~(UINT64_C(1) << CAP_SYS_PTRACE), .hidepid = "invisible"},
     2,
     "are missing",
     "capability"},
    {{SOUND, .capabilities = ALL, .own_pid_namespace = true},
     1,
     "pid namespace of its own",
     "pid_namespace"},
    {{SOUND, .capabilities = ALL, .first_refused = true, .confinement = "docker-default"},
     1,
     "security module forbids it (profile docker-default)",
     "security_module"},
    {{SOUND, .first_refused = true}, 1, "are missing", "capability"},
    {{SOUND, .capabilities = ALL, .openat2_refused = true, .pidfd_refused = true},
     1,
     "openat2 and pidfd_open",
     "seccomp"},
};

START_TEST(each_lack_is_a_sentence)
{
    self_check found;
    self_check_judge(&found, &rows[_i].facts);
    ck_assert_uint_eq(found.count, rows[_i].count);
    if (found.count > 0)
        ck_assert_msg(strstr(found.findings[0].message, rows[_i].words) != NULL, "%s",
                      found.findings[0].message);
    if (found.count > 0)
        ck_assert_str_eq(found.findings[0].check, rows[_i].check);
    for (size_t i = 0; i < found.count; i++)
        ck_assert_str_ne(found.findings[i].fix, "");
}
END_TEST

START_TEST(what_hides_others_is_told_by_its_name)
{
    self_check found;
    const self_facts facts = {SOUND, .hidepid = "invisible"};
    self_check_judge(&found, &facts);
    ck_assert_uint_eq(found.count, 2);
    ck_assert_str_eq(found.findings[1].check, "hidepid");
    ck_assert_ptr_nonnull(strstr(found.findings[1].message, "hidepid=invisible"));
}
END_TEST

START_TEST(hidepid_is_that_of_the_procfs)
{
    static const char text[] =
        "21 26 0:20 / /proc rw,nosuid - proc proc rw,hidepid=invisible,gid=5\n"
        "22 26 0:21 / /host/proc rw - proc proc rw,hidepid=0\n"
        "23 26 0:22 / /data rw - ext4 /dev/sda rw,hidepid=2\n"
        "cut\n";
    char value[16];
    self_check_hidepid(value, text, "/proc");
    ck_assert_str_eq(value, "invisible");
    self_check_hidepid(value, text, "/host/proc");
    ck_assert_str_eq(value, "");
    self_check_hidepid(value, text, "/data");
    ck_assert_str_eq(value, "");
    self_check_hidepid(value, "", "/proc");
    ck_assert_str_eq(value, "");
}
END_TEST

START_TEST(the_kernel_answers)
{
    self_facts facts;
    self_facts_read(&facts, "/tmp");
    ck_assert(!facts.is_procfs);
    self_facts_read(&facts, "");
    ck_assert(facts.is_procfs);
    ck_assert_str_eq(facts.proc_root, "/proc");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("self-check");
    tcase_add_loop_test(tests, each_lack_is_a_sentence, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tests, what_hides_others_is_told_by_its_name);
    tcase_add_test(tests, hidepid_is_that_of_the_procfs);
    tcase_add_test(tests, the_kernel_answers);
    Suite *suite = suite_create("self-check");
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
