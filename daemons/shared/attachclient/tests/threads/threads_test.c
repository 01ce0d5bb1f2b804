/* SPDX-License-Identifier: Apache-2.0 */
/* Tests thread snapshots of real JVMs of every installed version. */
#include <check.h>
#include <stdio.h>

#include "run_suite.h"
#include "threads_ask.h"
#include "threads_cases.h"

int main(void)
{
    if (jvm_fixture_any() == NULL) {
        (void)printf("1..0 # SKIP no JDK: ./dev test installs them\n");
        return 0;
    }
    for (int i = 0; i < THREADS_VERSIONS; i++)
        if (threads_java(i) == NULL)
            (void)printf("# JDK %s is missing here and stays untested\n", threads_version(i));
    Suite *suite = suite_create("libattach-jvm-threads");
    threads_add_content(suite);
    threads_add_busy(suite);
    threads_add_bounds(suite);
    threads_add_life(suite);
    return run_suite(suite);
}
