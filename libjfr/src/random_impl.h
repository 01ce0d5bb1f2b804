/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_RANDOM_H
#define JFR_SRC_RANDOM_H

#include <stdint.h>

/* Returns a number that the writer of a recording cannot guess. Hash tables are keyed with it, so
 * that nobody can choose ids that collide. No result depends on it. */
uint64_t jfr__random(void);

#endif
