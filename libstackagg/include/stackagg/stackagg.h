/* SPDX-License-Identifier: Apache-2.0 */
/**
 * libstackagg: frames and stacks, stable stack ids, bounded aggregation, flame trees, exports.
 * This header includes all others of the library.
 */
#ifndef STACKAGG_STACKAGG_H
#define STACKAGG_STACKAGG_H

#include <stackagg/aggregate.h>
#include <stackagg/diff.h>
#include <stackagg/error.h>
#include <stackagg/export.h>
#include <stackagg/frame.h>
#include <stackagg/heat.h>
#include <stackagg/output.h>
#include <stackagg/shape.h>
#include <stackagg/tree.h>
#include <stackagg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the library's version, "MAJOR.MINOR.PATCH": a static string. */
SAGG_EXPORT const char *sagg_version(void);

#ifdef __cplusplus
}
#endif

#endif
