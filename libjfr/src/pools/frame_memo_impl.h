/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_FRAME_MEMO_H
#define JFR_SRC_FRAME_MEMO_H

#include "pools/frames_impl.h"
#include "read/reader_impl.h"

struct jfr_frame_memo {
    jfr_frame_memo_options options;
    jfr_allocator allocator;
    jfr__values_loop *loop;
    void *block; /* memory of the buckets, which begin at a multiple of their size */
    jfr__memo_bucket *buckets;
    unsigned bits; /* log2 of how many */
    uint32_t used; /* slots */
    uint32_t lost; /* frames that made room for others, in this table */
};

#endif
