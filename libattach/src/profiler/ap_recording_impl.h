/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording file of a session: its finished JFR chunks and their bytes. A chunk's header is 68
 * bytes, big-endian: magic "FLR\0", version, size at offset 8. The size of an open chunk of
 * async-profiler is 0x40000000.
 */
#ifndef ATTACH_AP_RECORDING_H
#define ATTACH_AP_RECORDING_H

#include "jvm/target_impl.h"
#include <attach/profiler.h>

/* Finds where the finished chunks after `offset` end; *end == offset when there is none. Returns
 * ATTACH_ERR_USAGE when offset is beyond the file, ATTACH_ERR_FORMAT when no chunk begins there. */
int attach__recording_finished(uint64_t *end, int fd, uint64_t offset, attach_error *err);

/* One finished chunk; size 0 = none. Start (Unix time) and duration are those of its header. */
typedef struct attach__chunk {
    uint64_t size;
    uint64_t start_ns;
    uint64_t duration_ns;
} attach__chunk;

/* Reads the finished chunk at `offset`. Errors as attach__recording_finished. */
int attach__recording_chunk(attach__chunk *out, int fd, uint64_t offset, attach_error *err);

/* Passes the bytes [from, to) to `piece`. Errors: ATTACH_ERR_IO, attach_timeout. */
int attach__recording_hand_over(int fd, uint64_t from, uint64_t to, attach_piece_fn piece,
                                void *ctx, uint64_t deadline_ns, attach_error *err);

/* Frees the disk space of [0, to) where the file system can; offsets do not change. */
void attach__recording_punch(int fd, uint64_t to);

/* Returns the CPU engine that the recording's own settings name near its beginning. */
attach_ap_engine attach__recording_engine(int fd);

#endif
