/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_OPTIONS_H
#define STACKAGG_OPTIONS_H

#include <stddef.h>

#include <stackagg/error.h>

/*
 * Copies options that begin with their size, of a caller that may be older or newer than we are,
 * over `known` bytes of defaults. Returns 0, or SAGG_ERR_USAGE with the message `unknown`: what
 * stands behind the fields that we know is not zero.
 */
int sagg__options_copy(void *out, size_t known, const void *given, const char *unknown,
                       sagg_error *err);

#endif
