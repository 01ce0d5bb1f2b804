/* SPDX-License-Identifier: Apache-2.0 */
/* chsink/export.h: visibility of the public functions. */
#ifndef CHSINK_EXPORT_H
#define CHSINK_EXPORT_H

#if defined(__GNUC__)
#define CHS_EXPORT   __attribute__((visibility("default")))
#define CHS_MUST_USE __attribute__((warn_unused_result))
#else
#define CHS_EXPORT
#define CHS_MUST_USE
#endif

#endif
