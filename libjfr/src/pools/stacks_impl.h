/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_STACKS_H
#define JFR_SRC_STACKS_H

#include "pools/frames_impl.h"
#include "read/reader_impl.h"

struct jfr_stacks {
    const jfr_chunk *chunk;
    jfr_number_frame *number;
    void *ctx;
    jfr_allocator allocator;
    jfr__values_loop *loop;
    void *block; /* memory of the buckets, which begin at a multiple of their size */
    jfr__memo_bucket *buckets;
    unsigned bits; /* log2 of how many */
    uint32_t used; /* slots */
    uint32_t lost; /* frames that were evicted from this table */
};

#endif
