/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_OPTIONS_H
#define JFR_SRC_OPTIONS_H

#include <jfr/error.h>
#include <jfr/options.h>
#include <stddef.h>

/*
 * Copies an options struct that begins with its size, from a caller that was built against an older
 * or newer version. `what` names it in messages. Returns 0 or JFR_ERR_USAGE.
 */
int jfr__options_copy(void *out, size_t known, const void *given, size_t size, const char *what,
                      jfr_error *err);

/*
 * Copies the caller's options (NULL = none) and fills in the defaults. `allocator` and `intervals`
 * receive copies of the structs that the options point to. Returns 0 or JFR_ERR_USAGE (an
 * impossible size; unknown fields or flags that are set).
 */
int jfr__options_resolve(jfr_options *out, jfr_allocator *allocator, jfr_intervals *intervals,
                         const jfr_options *given, jfr_error *err);

#endif
