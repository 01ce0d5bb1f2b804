/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requests and writes frames of docs/formats/attach-worker.md, for the worker. */
#ifndef HOTSTACK_WORKER_FRAMES_H
#define HOTSTACK_WORKER_FRAMES_H

#include <attach/attach.h>

/* Reads one whole request from fd. Returns 0 or a negative code with err. */
int frames_read_request(attach_request *out, int fd, attach_error *err);

/* Counts the bytes sent; the ctx of frames_send_piece. */
typedef struct frames_output {
    int fd;
    uint64_t bytes;
} frames_output;

/* An attach_piece_fn: sends a data frame. Returns 0 or -1. */
int frames_send_piece(void *ctx, const uint8_t *bytes, size_t n);

/* Sends the last frame. Returns 0 or -1. */
int frames_send_result(frames_output *output, const attach_result *result);

#endif
