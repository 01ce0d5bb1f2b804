/* SPDX-License-Identifier: Apache-2.0 */
/* Makes zlib's input const. */
#define ZLIB_CONST
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "internal.h"

/* A window of 32 KiB, and a gzip header is required. */
#define GZIP_ONLY (15 + 16)

bool import__is_gzip(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    return size >= 3 && bytes[0] == 0x1F && bytes[1] == 0x8B && bytes[2] == 8;
}

static void feed(z_stream *zip, const unsigned char *data, size_t size, size_t done)
{
    size_t left = size - done;
    zip->next_in = data + done;
    zip->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
}

size_t import__gunzip_head(void *out, size_t room, const void *data, size_t size)
{
    z_stream zip = {0};
    if (inflateInit2(&zip, GZIP_ONLY) != Z_OK)
        return 0;
    feed(&zip, data, size, 0);
    zip.next_out = out;
    zip.avail_out = (uInt)room;
    (void)inflate(&zip, Z_SYNC_FLUSH);
    size_t got = room - zip.avail_out;
    (void)inflateEnd(&zip);
    return got;
}

/* The state of unpacking. */
typedef struct unpacking {
    z_stream zip;
    const unsigned char *data;
    size_t size, done;
    unsigned char *out;
    size_t out_size, room;
    uint64_t limit;
} unpacking;

static int too_large(const unpacking *u, recording_error *err)
{
    return import__fail(err, RECORDING_E_LIMIT, 0,
                        "it unpacks to more than %llu bytes, which is the limit",
                        (unsigned long long)u->limit);
}

static int grow(unpacking *u, recording_error *err)
{
    if (u->out_size < u->room)
        return 0;
    if (u->room > u->limit)
        return too_large(u, err);
    size_t room = u->room == 0 ? 65536 : u->room * 2;
    room =
        /* One byte more than the limit, to see whether there is more. */
        room > u->limit ? (size_t)u->limit + 1 : room;
    unsigned char *out = realloc(u->out, room);
    if (out == NULL)
        return import__fail(err, RECORDING_E_NOMEM, 0, "there is no memory to unpack it");
    u->out = out;
    u->room = room;
    return 0;
}

/* Runs one step. Returns 1 at the end of the input, 0 to continue, or a code. */
static int step(unpacking *u, recording_error *err)
{
    int rc = grow(u, err);
    if (rc != 0)
        return rc;
    size_t left = u->room - u->out_size;
    uInt piece = left < UINT_MAX ? (uInt)left : UINT_MAX;
    feed(&u->zip, u->data, u->size, u->done);
    uInt given = u->zip.avail_in;
    u->zip.next_out = u->out + u->out_size;
    u->zip.avail_out = piece;
    int end = inflate(&u->zip, Z_NO_FLUSH);
    u->done += given - u->zip.avail_in;
    u->out_size += piece - u->zip.avail_out;
    if (end == Z_STREAM_END && !import__is_gzip(u->data + u->done, u->size - u->done))
        return 1;
    if (end == Z_STREAM_END)
        end = inflateReset(&u->zip);
    if (end == Z_MEM_ERROR)
        return import__fail(err, RECORDING_E_NOMEM, 0, "there is no memory to unpack it");
    if (end == Z_OK && (u->done < u->size || u->zip.avail_out == 0))
        return 0;
    return import__fail(err, RECORDING_E_FORMAT, u->done,
                        u->done == u->size ? "the gzip data end too early"
                                           : "the gzip data are damaged");
}

int import__gunzip(void **out, size_t *out_size, const void *data, size_t size, uint64_t limit,
                   recording_error *err)
{
    unpacking u = {.data = data, .size = size, .limit = limit};
    if (inflateInit2(&u.zip, GZIP_ONLY) != Z_OK)
        return import__fail(err, RECORDING_E_NOMEM, 0, "there is no memory to unpack it");
    int rc;
    do {
        rc = step(&u, err);
    } while (rc == 0);
    (void)inflateEnd(&u.zip);
    if (rc == 1 && u.out_size > limit)
        rc = too_large(&u, err);
    if (rc < 0) {
        free(u.out);
        return rc;
    }
    *out = u.out;
    *out_size = u.out_size;
    return 0;
}
