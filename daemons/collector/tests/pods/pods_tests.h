/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the suites of the collector's Kubernetes mode share. */
#ifndef COLLECTOR_PODS_TESTS_H
#define COLLECTOR_PODS_TESTS_H

#include <check.h>

TCase *pod_tests(void);
TCase *pod_policy_tests(void);
TCase *pods_tests(void);

#endif
