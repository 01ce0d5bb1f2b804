/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_EXPORT_H
#define JFR_EXPORT_H

/* Marks what the shared library exports; everything else is hidden. */
#if defined(__GNUC__)
#define JFR_EXPORT   __attribute__((visibility("default")))
#define JFR_MUST_USE __attribute__((warn_unused_result))
#else
#define JFR_EXPORT
#define JFR_MUST_USE
#endif

#ifdef __cplusplus
#define JFR_BEGIN_DECLS extern "C" {
#define JFR_END_DECLS   }
#else
#define JFR_BEGIN_DECLS
#define JFR_END_DECLS
#endif

#endif
