/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_OPTIONS_H
#define STACKAGG_OPTIONS_H

#include <stddef.h>

#include <stackagg/error.h>

/*
 * Copies options that begin with their size over `known` bytes of defaults. The caller may be older
 * or newer than the library. Returns 0, or SAGG_ERR_USAGE with the message `unknown` when the bytes
 * after the known fields are not zero.
 */
int sagg__options_copy(void *out, size_t known, const void *given, const char *unknown,
                       sagg_error *err);

#endif
