#ifndef JFR_TESTS_RUN_H
#define JFR_TESTS_RUN_H

#include <check.h>

/* Runs the suite of one test program; what main returns. */
int run_suite(Suite *suite);

#endif
