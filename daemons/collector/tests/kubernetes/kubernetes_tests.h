/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the suites of the API server's adapter share. */
#ifndef COLLECTOR_KUBERNETES_TESTS_H
#define COLLECTOR_KUBERNETES_TESTS_H

#include <check.h>

TCase *api_object_tests(void);
TCase *watch_tests(void);

#endif
