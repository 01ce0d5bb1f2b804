/* SPDX-License-Identifier: Apache-2.0 */
/* Tests killed workers that do not end. It is compiled with the reaper and defines waitpid for it,
 * because a test cannot make a process hang in the kernel. */
#include <check.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "../src/reaper.h"
#include "run_suite.h"
#include <attachclient/attachclient.h>

static bool hangs = true;
static int waits_that_could_block;

pid_t wait_for_worker(pid_t pid, int *status, int options);

pid_t wait_for_worker(pid_t pid, int *status, int options)
{
    (void)status;
    waits_that_could_block += (options & WNOHANG) == 0;
    return hangs ? 0 : pid;
}

START_TEST(a_worker_that_does_not_end_is_counted_and_reaped_later)
{
    attachclient__reap(4711);
    attachclient__reap(4712);
    ck_assert_uint_eq(attachclient_unreaped(), 2);
    ck_assert_int_eq(waits_that_could_block, 0);
    hangs = false;
    ck_assert_uint_eq(attachclient_unreaped(), 0);
    attachclient__reap(4713);
    ck_assert_uint_eq(attachclient_unreaped(), 0);
}
END_TEST

START_TEST(with_too_many_no_other_is_started)
{
    attach_request request = {.op = ATTACH_OP_STATUS,
                              .identity = {.pid = 1},
                              .timeout_ms = 1000,
                              .installation_id = "abc1"};
    attachclient_options options = ATTACHCLIENT_OPTIONS_INIT;
    attach_result result;
    attach_error err = {0};
    options.worker = "/nonexistent/hotstack-attach-worker";
    for (int i = 0; i < ATTACHCLIENT_UNREAPED_MAX; i++) {
        ck_assert_int_eq(attachclient_run(&result, &request, NULL, NULL, &options, &err),
                         ATTACH_ERR_IO);
        attachclient__reap(5000 + i);
    }
    ck_assert_int_eq(attachclient_run(&result, &request, NULL, NULL, &options, &err),
                     ATTACH_ERR_LIMIT);
    hangs = false;
    ck_assert_int_eq(attachclient_run(&result, &request, NULL, NULL, &options, &err),
                     ATTACH_ERR_IO);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("reaper");
    tcase_set_timeout(tests, 400);
    tcase_add_test(tests, a_worker_that_does_not_end_is_counted_and_reaped_later);
    tcase_add_test(tests, with_too_many_no_other_is_started);
    Suite *suite = suite_create("reaper");
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
