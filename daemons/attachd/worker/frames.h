/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's side of docs/formats/attach-worker.md: requests in, frames out. */
#ifndef HOTSTACK_WORKER_FRAMES_H
#define HOTSTACK_WORKER_FRAMES_H

#include <attach/attach.h>

/* Reads one whole request from fd. 0 or a negative code with err. */
int frames_read_request(attach_request *out, int fd, attach_error *err);

/* Counts what it sent; the ctx of frames_send_piece. */
typedef struct frames_output {
    int fd;
    uint64_t bytes;
} frames_output;

/* An attach_piece_fn: sends a data frame. 0 or -1. */
int frames_send_piece(void *ctx, const uint8_t *bytes, size_t n);

/* Sends the last frame. 0 or -1. */
int frames_send_result(frames_output *output, const attach_result *result);

#endif
