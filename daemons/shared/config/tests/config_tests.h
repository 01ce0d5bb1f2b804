/* SPDX-License-Identifier: Apache-2.0 */
/* The table and the suites of this room's tests. */
#ifndef CONFIG_TESTS_H
#define CONFIG_TESTS_H

#include <check.h>
#include <config/config.h>

/* url, timeout, queue size, on/off, limits.targets, tags, a secret token and rules. */
extern const config_program sample_program;

TCase *sources_tests(void);
TCase *watch_tests(void);

#endif
