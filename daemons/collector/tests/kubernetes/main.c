/* SPDX-License-Identifier: Apache-2.0 */
#include "kubernetes_tests.h"

#include "run_suite.h"

int main(void)
{
    Suite *suite = suite_create("collector-kubernetes");
    suite_add_tcase(suite, api_object_tests());
    suite_add_tcase(suite, watch_tests());
    return run_suite(suite);
}
