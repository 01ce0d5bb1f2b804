/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_RANDOM_H
#define JFR_SRC_RANDOM_H

#include <stdint.h>

/* A number that the writer of a recording cannot guess: hash tables are keyed by it, so that ids
 * cannot be chosen to collide. Nothing that is read depends on it. */
uint64_t jfr__random(void);

#endif
