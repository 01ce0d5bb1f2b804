/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording file of a session: which of its JFR chunks are finished, and its bytes. A chunk's
 * header is 68 bytes, big-endian: magic "FLR\0", version, size at offset 8; an open chunk of
 * async-profiler's has size 0x40000000.
 */
#ifndef ATTACH_AP_RECORDING_H
#define ATTACH_AP_RECORDING_H

#include "jvm/target_impl.h"
#include <attach/profiler.h>

/* Where the finished chunks that follow `offset` end: *end == offset when there is none.
 * ATTACH_ERR_USAGE when offset lies beyond the file, ATTACH_ERR_FORMAT when no chunk begins there.
 */
int attach__recording_finished(uint64_t *end, int fd, uint64_t offset, attach_error *err);

/* One finished chunk; size 0 = none. Times as its header has them: Unix time, and how long. */
typedef struct attach__chunk {
    uint64_t size;
    uint64_t start_ns;
    uint64_t duration_ns;
} attach__chunk;

/* The finished chunk at `offset`. Errors as attach__recording_finished. */
int attach__recording_chunk(attach__chunk *out, int fd, uint64_t offset, attach_error *err);

/* Hands over [from, to). ATTACH_ERR_IO, attach_timeout. */
int attach__recording_hand_over(int fd, uint64_t from, uint64_t to, attach_piece_fn piece,
                                void *ctx, uint64_t deadline_ns, attach_error *err);

/* Gives [0, to) back to the file system where it can; the offsets stay. */
void attach__recording_punch(int fd, uint64_t to);

/* The CPU engine that the recording's own settings name near its beginning. */
attach_ap_engine attach__recording_engine(int fd);

#endif
