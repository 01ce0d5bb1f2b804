/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_VERSION_H
#define STACKAGG_VERSION_H

/* The version that a program is compiled against; docs/reference/abi.md says what versions promise.
 */
#define SAGG_VERSION_MAJOR 0
#define SAGG_VERSION_MINOR 1
#define SAGG_VERSION_PATCH 0
#define SAGG_VERSION       "0.1.0"

/* To compare: #if SAGG_VERSION_NUMBER >= 1002000 is "1.2.0 or later". */
#define SAGG_VERSION_NUMBER                                                                        \
    (SAGG_VERSION_MAJOR * 1000000 + SAGG_VERSION_MINOR * 1000 + SAGG_VERSION_PATCH)

#endif
