/* What every test program of this folder ends with. */
#ifndef CHSINK_TESTS_RUNNER_H
#define CHSINK_TESTS_RUNNER_H

#include <check.h>
#include <stdlib.h>

#define ROWS(table) ((int)(sizeof(table) / sizeof *(table)))

/* Runs the suite and gives main's exit code. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
