/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHSINK_VERSION_H
#define CHSINK_VERSION_H

/* The version that a program is compiled against; docs/reference/abi.md says what versions promise.
 */
#define CHS_VERSION_MAJOR 0
#define CHS_VERSION_MINOR 1
#define CHS_VERSION_PATCH 0
#define CHS_VERSION       "0.1.0"

/* To compare: #if CHS_VERSION_NUMBER >= 1002000 is "1.2.0 or later". */
#define CHS_VERSION_NUMBER                                                                         \
    (CHS_VERSION_MAJOR * 1000000 + CHS_VERSION_MINOR * 1000 + CHS_VERSION_PATCH)

#endif
