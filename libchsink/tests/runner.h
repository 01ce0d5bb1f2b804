/* What every test program of this folder ends with. */
#ifndef CHSINK_TESTS_RUNNER_H
#define CHSINK_TESTS_RUNNER_H

#include "run_suite.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof *(table)))

#endif
