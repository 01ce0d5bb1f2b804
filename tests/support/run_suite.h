/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a test program's main function. */
#ifndef HOTSTACK_TESTS_RUN_SUITE_H
#define HOTSTACK_TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/* The number of rows of a table: the end of a loop test. */
#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Runs a suite in the mode of the environment (CK_ENV) and frees it. Returns main's exit status. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
