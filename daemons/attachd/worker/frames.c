/* SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RESULT_MAX 4096

static int refuse(attach_error *err, const char *sentence)
{
    *err = (attach_error){.code = ATTACH_ERR_FORMAT};
    (void)snprintf(err->message, sizeof(err->message), "%s", sentence);
    return err->code;
}

static int read_all(int fd, uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t got = read(fd, bytes, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        bytes += got;
        n -= (size_t)got;
    }
    return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

int frames_read_request(attach_request *out, int fd, attach_error *err)
{
    static uint8_t request[ATTACH_REQUEST_MAX];
    size_t body = 0;
    if (read_all(fd, request, ATTACH_REQUEST_HEADER) != 0)
        return refuse(err, "no request on standard input: this program is started by "
                           "hotstack-attachd and hotstack, see docs/formats/attach-worker.md");
    int rc = attach_request_body_length(&body, request, err);
    if (rc != ATTACH_OK)
        return rc;
    if (read_all(fd, request + ATTACH_REQUEST_HEADER, body) != 0)
        return refuse(err, "the request on standard input is cut short");
    return attach_request_decode(out, request, ATTACH_REQUEST_HEADER + body, err);
}

static int send_frame(const frames_output *output, attach_frame_type type, const uint8_t *bytes,
                      size_t n)
{
    uint8_t header[ATTACH_FRAME_HEADER];
    if (attach_answer_header_encode(header, type, n, NULL) != ATTACH_OK)
        return -1;
    if (write_all(output->fd, header, sizeof(header)) != 0)
        return -1;
    return write_all(output->fd, bytes, n);
}

int frames_send_piece(void *ctx, const uint8_t *bytes, size_t n)
{
    frames_output *output = ctx;
    if (send_frame(output, ATTACH_FRAME_DATA, bytes, n) != 0)
        return -1;
    output->bytes += n;
    return 0;
}

int frames_send_result(frames_output *output, const attach_result *result)
{
    uint8_t bytes[RESULT_MAX];
    size_t n = 0;
    attach_result last = *result;
    last.bytes = output->bytes;
    if (attach_answer_result_encode(bytes, sizeof(bytes), &n, &last, NULL) != ATTACH_OK)
        return -1;
    return send_frame(output, ATTACH_FRAME_RESULT, bytes, n);
}
