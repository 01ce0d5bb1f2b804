/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_ERROR_H
#define STACKAGG_ERROR_H

#include <stdint.h>

/**
 * Error codes. Functions return 0 or one of these negative codes; the comment of each function
 * names those that it returns.
 */
enum sagg_code {
    SAGG_OK = 0,
    SAGG_ERR_USAGE =
        -1, /**< the caller broke a contract (unknown type id, index out of range, bad option) */
    SAGG_ERR_LIMIT = -2,  /**< a hard cap leaves no room for something that must not be dropped */
    SAGG_ERR_NOMEM = -3,  /**< the allocator returned NULL */
    SAGG_ERR_IO = -4,     /**< the write callback refused */
    SAGG_ERR_FORMAT = -5, /**< a given text (template, meta) has the wrong form */
};

/**
 * Details of one failure, filled by the failing call when the caller passed a place for it.
 * On success it is unchanged.
 */
typedef struct sagg_error {
    int code;          /**< the code that the call returned */
    uint64_t offset;   /**< byte offset in the given text where that applies, else 0 */
    char message[256]; /**< one sentence, NUL-terminated: what, where, what to do */
} sagg_error;

#endif
