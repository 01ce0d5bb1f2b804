/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_SORT_H
#define STACKAGG_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Compares the elements with the numbers `a` and `b`: negative, 0, positive. */
typedef int sagg__order(const void *context, uint32_t a, uint32_t b);

/* Sorts `count` numbers, stably. `room` has space for as many. The C library's qsort has no context
 * parameter. */
void sagg__sort(uint32_t *numbers, uint32_t *room, uint32_t count, sagg__order *order,
                const void *context);

#endif
