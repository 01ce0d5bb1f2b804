/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_EXPORT_H
#define STACKAGG_EXPORT_H

/** Marks the public functions of the library; all others are hidden. */
#if defined(__GNUC__)
#define SAGG_EXPORT   __attribute__((visibility("default")))
#define SAGG_MUST_USE __attribute__((warn_unused_result))
#else
#define SAGG_EXPORT
#define SAGG_MUST_USE
#endif

#endif
