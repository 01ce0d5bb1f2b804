/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of libattach-jvm-threads; each adds its case. */
#ifndef THREADS_CASES_H
#define THREADS_CASES_H

#include <check.h>

void threads_add_content(Suite *suite);
void threads_add_busy(Suite *suite);
void threads_add_bounds(Suite *suite);
void threads_add_life(Suite *suite);

#endif
