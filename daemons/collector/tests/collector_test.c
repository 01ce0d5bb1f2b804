/* SPDX-License-Identifier: Apache-2.0 */
#include "collector_tests.h"

#include <stdlib.h>

#include "run_suite.h"

int main(void)
{
    Suite *suite = suite_create("collector");
    suite_add_tcase(suite, batch_tests());
    suite_add_tcase(suite, jobs_tests());
    suite_add_tcase(suite, lanes_tests());
    suite_add_tcase(suite, metrics_tests());
    suite_add_tcase(suite, queue_tests());
    suite_add_tcase(suite, reader_tests());
    suite_add_tcase(suite, rules_tests());
    suite_add_tcase(suite, sandbox_tests());
    suite_add_tcase(suite, session_tests());
    suite_add_tcase(suite, session_policy_tests());
    suite_add_tcase(suite, session_position_tests());
    suite_add_tcase(suite, snapshot_tests());
    suite_add_tcase(suite, spool_tests());
    suite_add_tcase(suite, uploader_tests());
    suite_add_tcase(suite, wire_tests());
    return run_suite(suite);
}
