/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ap_recording_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_marker_impl.h"

#define HEADER_SIZE    68
#define OPEN_CHUNK     0x40000000u
#define SETTINGS_BYTES 32768
#define PUNCH_UNIT     4096u

static uint64_t big_endian_64(const uint8_t *b)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | b[i];
    return value;
}

static ssize_t read_at(int fd, void *buf, size_t n, uint64_t offset)
{
    ssize_t got;
    do
        got = pread(fd, buf, n, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Reads the finished chunk at offset; size 0 when it is still open or cut short. */
static int finished_chunk(attach__chunk *out, int fd, uint64_t offset, uint64_t file_size,
                          attach_error *err)
{
    uint8_t header[HEADER_SIZE];
    *out = (attach__chunk){0};
    if (file_size - offset < HEADER_SIZE)
        return ATTACH_OK;
    if (read_at(fd, header, sizeof(header), offset) != (ssize_t)sizeof(header))
        return attach__fail_at(err, ATTACH_ERR_IO, offset, "cannot read the recording");
    if (memcmp(header, "FLR\0", 4) != 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, offset,
                               "the recording has no JFR chunk at byte %" PRIu64, offset);
    uint64_t stated = big_endian_64(header + 8);
    if (stated == OPEN_CHUNK || stated > file_size - offset)
        return ATTACH_OK;
    if (stated < HEADER_SIZE)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, offset + 8,
                               "the chunk at byte %" PRIu64 " states a size of %" PRIu64, offset,
                               stated);
    *out = (attach__chunk){stated, big_endian_64(header + 32), big_endian_64(header + 40)};
    return ATTACH_OK;
}

static int size_of(uint64_t *out, int fd, uint64_t offset, attach_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return attach__fail(err, ATTACH_ERR_IO, "fstat: %s", strerror(errno));
    *out = (uint64_t)st.st_size;
    if (offset > *out)
        return attach__fail_at(err, ATTACH_ERR_USAGE, offset,
                               "the recording has %" PRIu64 " bytes, not %" PRIu64, *out, offset);
    return ATTACH_OK;
}

int attach__recording_chunk(attach__chunk *out, int fd, uint64_t offset, attach_error *err)
{
    uint64_t file_size = 0;
    *out = (attach__chunk){0};
    int rc = size_of(&file_size, fd, offset, err);
    return rc == ATTACH_OK ? finished_chunk(out, fd, offset, file_size, err) : rc;
}

int attach__recording_finished(uint64_t *end, int fd, uint64_t offset, attach_error *err)
{
    uint64_t file_size = 0;
    *end = offset;
    int rc = size_of(&file_size, fd, offset, err);
    while (rc == ATTACH_OK) {
        attach__chunk chunk;
        rc = finished_chunk(&chunk, fd, *end, file_size, err);
        if (rc != ATTACH_OK || chunk.size == 0)
            break;
        *end += chunk.size;
    }
    return rc;
}

static int hand_over(uint8_t *buffer, int fd, uint64_t from, uint64_t to, attach_piece_fn piece,
                     void *ctx, uint64_t deadline_ns, attach_error *err)
{
    while (from < to) {
        size_t wanted = to - from < ATTACH_PIECE_MAX ? (size_t)(to - from) : ATTACH_PIECE_MAX;
        ssize_t got = read_at(fd, buffer, wanted, from);
        if (got <= 0)
            return attach__fail_at(err, ATTACH_ERR_IO, from, "cannot read the recording: %s",
                                   got < 0 ? strerror(errno) : "it was cut short");
        if (attach__now_ns() >= deadline_ns)
            return attach__refuse(err, ATTACH_REASON_ATTACH_TIMEOUT,
                                  "the recording could not be read in time");
        if (piece(ctx, buffer, (size_t)got) != 0)
            return attach__fail_at(err, ATTACH_ERR_IO, from,
                                   "the receiver refused the recording's bytes");
        from += (uint64_t)got;
    }
    return ATTACH_OK;
}

int attach__recording_hand_over(int fd, uint64_t from, uint64_t to, attach_piece_fn piece,
                                void *ctx, uint64_t deadline_ns, attach_error *err)
{
    if (from == to || piece == NULL)
        return ATTACH_OK;
    uint8_t *buffer = malloc(ATTACH_PIECE_MAX);
    if (buffer == NULL)
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory to read the recording");
    int rc = hand_over(buffer, fd, from, to, piece, ctx, deadline_ns, err);
    free(buffer);
    return rc;
}

void attach__recording_punch(int fd, uint64_t to)
{
    uint64_t whole = to - to % PUNCH_UNIT;
    if (whole > 0)
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)whole);
}

/* Finds the engine's name. In an ActiveSetting event the name is followed by the value, each as: 3
 * (UTF-8), length, bytes. */
static attach_ap_engine engine_in(attach__span head)
{
    static const char name[] = "\3\6engine\3";
    attach_ap_engine engine = ATTACH_AP_ENGINE_OFF;
    ptrdiff_t at = attach__span_find(head, name);
    if (at < 0)
        return ATTACH_AP_ENGINE_OFF;
    attach__span value = attach__span_skip(head, (size_t)at + sizeof(name) - 1);
    size_t length = value.n == 0 ? 0 : (unsigned char)value.p[0];
    value = attach__span_skip(value, 1);
    if (length > value.n || !attach__engine_from_name(attach__span_of(value.p, length), &engine))
        return ATTACH_AP_ENGINE_OFF;
    return engine;
}

attach_ap_engine attach__recording_engine(int fd)
{
    char *head = malloc(SETTINGS_BYTES);
    if (head == NULL)
        return ATTACH_AP_ENGINE_OFF;
    ssize_t got = read_at(fd, head, SETTINGS_BYTES, 0);
    attach_ap_engine engine = engine_in(attach__span_of(head, got < 0 ? 0 : (size_t)got));
    free(head);
    return engine;
}
