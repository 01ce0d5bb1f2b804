/* SPDX-License-Identifier: Apache-2.0 */
/* The normaliser, version 1 (docs/formats/stack-id.md, section 3). */
#ifndef STACKAGG_NORMALISE_H
#define STACKAGG_NORMALISE_H

#include <stddef.h>
#include <stdint.h>

/* Applies rules N1 to N5 to the class of a Java frame, in place; returns the new length (never
 * longer). */
size_t sagg__normalise_class(char *name, size_t n);

/* Applies rule N6 to the method of a frame that is not Java, in place; returns the new length. */
size_t sagg__normalise_symbol(const char *name, size_t n);

#endif
