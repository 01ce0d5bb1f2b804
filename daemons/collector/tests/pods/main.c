/* SPDX-License-Identifier: Apache-2.0 */
#include "pods_tests.h"

#include "run_suite.h"

int main(void)
{
    Suite *suite = suite_create("collector-pods");
    suite_add_tcase(suite, pod_tests());
    suite_add_tcase(suite, pod_policy_tests());
    suite_add_tcase(suite, pods_tests());
    return run_suite(suite);
}
