/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_VERSION_H
#define ATTACH_VERSION_H

/* The version that a program is compiled against; docs/reference/abi.md says what versions promise.
 */
#define ATTACH_VERSION_MAJOR 0
#define ATTACH_VERSION_MINOR 1
#define ATTACH_VERSION_PATCH 0
#define ATTACH_VERSION       "0.1.0"

/* To compare: #if ATTACH_VERSION_NUMBER >= 1002000 is "1.2.0 or later". */
#define ATTACH_VERSION_NUMBER                                                                      \
    (ATTACH_VERSION_MAJOR * 1000000 + ATTACH_VERSION_MINOR * 1000 + ATTACH_VERSION_PATCH)

#endif
