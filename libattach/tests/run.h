#ifndef ATTACH_TESTS_RUN_H
#define ATTACH_TESTS_RUN_H

#include <check.h>

#include "text.h"

#define COUNT_OF(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Runs the suite of one test program; what main returns. */
int run_suite(Suite *suite);

/* The text as a span. */
attach__span span(const char *text);

#endif
