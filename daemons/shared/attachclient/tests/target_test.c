/* SPDX-License-Identifier: Apache-2.0 */
/* Tests JVMs that are hard to serve: other users, other namespaces, stopped, dead, locked down,
 * taken. */
#include <check.h>
#include <stdio.h>

#include "jvm_operation.h"
#include "run_suite.h"
#include "target_cases.h"

int main(void)
{
    if (jvm_fixture_any() == NULL || jvm_fixture_profiler() == NULL) {
        (void)printf("1..0 # SKIP no %s: ./dev test installs them\n",
                     jvm_fixture_any() == NULL ? "JDK" : "libasyncProfiler.so");
        return 0;
    }
    Suite *suite = suite_create("libattach-jvm-target");
    target_add_places(suite);
    target_add_trouble(suite);
    target_add_sharing(suite);
    target_add_session(suite);
    return run_suite(suite);
}
