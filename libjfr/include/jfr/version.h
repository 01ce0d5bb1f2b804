/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_VERSION_H
#define JFR_VERSION_H

/* The version that a program is compiled against. docs/reference/abi.md says what it promises. */
#define JFR_VERSION_MAJOR 0
#define JFR_VERSION_MINOR 1
#define JFR_VERSION_PATCH 0
#define JFR_VERSION       "0.1.0"

/* To compare: #if JFR_VERSION_NUMBER >= 1002000 is "1.2.0 or later". */
#define JFR_VERSION_NUMBER                                                                         \
    (JFR_VERSION_MAJOR * 1000000 + JFR_VERSION_MINOR * 1000 + JFR_VERSION_PATCH)

#endif
