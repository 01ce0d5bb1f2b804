/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_CHECKPOINT_H
#define JFR_SRC_CHECKPOINT_H

#include "read/reader_impl.h"

/* The callbacks of a walk over a chunk's constant pools. */
typedef struct jfr__pool_visitor {
    /*
     * Called for each pool at `offset`. `type` is an index of the metadata, JFR_NONE when the
     * pool's type is not defined. It must read the pool's count and entries from `c`, and return 0
     * or a code. JFR_ERR_FORMAT ends the checkpoint; any other code, such as 1, ends the walk.
     */
    int (*pool)(void *ctx, uint32_t type, uint64_t offset, jfr__cursor *c, jfr_error *err);
    void (*damage)(void *ctx,
                   uint64_t offset); /* called when a damaged checkpoint ends there; may be NULL */
    void *ctx;
} jfr__pool_visitor;

/* Visits the pools of all readable checkpoints, last checkpoint first. Returns 0 or the code that
 * ended the walk. */
int jfr__checkpoints_walk(jfr_chunk *chunk, const jfr__pool_visitor *visitor, jfr_error *err);

/* Fails with JFR_ERR_FORMAT. */
int jfr__pool_damaged(jfr_error *err, uint64_t offset, const char *what);

#endif
