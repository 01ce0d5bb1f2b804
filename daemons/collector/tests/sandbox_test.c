/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the seccomp filter. */
#include "../adapters/sandbox.h"
#include "collector_tests.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes calls inside the filter; returns an exit code: 0 = all had the expected result. */
static int try_calls(void)
{
    char message[256] = "";
    char *const words[] = {NULL};
    if (sandbox_enter(message, sizeof(message)) != 0)
        return 1;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != -1 || errno != EPERM)
        return 2;
    if (execve("/bin/true", words, words) != -1 || errno != EPERM)
        return 3;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    return file >= 0 && close(file) == 0 ? 0 : 4;
}

/* A child process enters the filter, as the test's own library needs more calls than the
 * collector. */
START_TEST(what_a_collector_does_not_need_is_refused)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(try_calls());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

TCase *sandbox_tests(void)
{
    TCase *tests = tcase_create("sandbox");
    tcase_add_test(tests, what_a_collector_does_not_need_is_refused);
    return tests;
}
