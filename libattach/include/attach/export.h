/* SPDX-License-Identifier: Apache-2.0 */
/* ATTACH_EXPORT marks what libattach offers to its users; everything else is hidden. */
#ifndef ATTACH_EXPORT_H
#define ATTACH_EXPORT_H

#if defined(__GNUC__)
#define ATTACH_EXPORT       __attribute__((visibility("default")))
#define ATTACH_MUST_USE     __attribute__((warn_unused_result))
#define ATTACH_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define ATTACH_EXPORT
#define ATTACH_MUST_USE
#define ATTACH_PRINTF(f, a)
#endif

#endif
