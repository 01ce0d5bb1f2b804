/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of libattach-jvm-target; each adds its case. */
#ifndef TARGET_CASES_H
#define TARGET_CASES_H

#include <check.h>

void target_add_places(Suite *suite);
void target_add_trouble(Suite *suite);
void target_add_sharing(Suite *suite);
void target_add_session(Suite *suite);

#endif
