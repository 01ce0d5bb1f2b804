/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/input_impl.h"

#include <inttypes.h>
#define ZLIB_CONST
#include <zlib.h>

enum { WINDOW_GZIP = 15 + 16, PIECE = 1 << 20, FEED_SIZE = 1 << 30 };

/* Unpacks gzip piece by piece, including several successive members. */
typedef struct inflater {
    z_stream z;
    uint64_t max;
    uint64_t in;  /* packed bytes taken so far */
    uint64_t out; /* bytes unpacked so far */
    bool at_end;  /* a member has ended; another may follow */
} inflater;

/* Unpacks one piece of output. Returns zlib's code. */
static int inflate_piece(inflater *f, jfr__buffer *out, size_t room)
{
    f->z.next_out = out->data + out->len;
    f->z.avail_out = (uInt)room;
    uInt had = f->z.avail_in;
    int status = inflate(&f->z, Z_NO_FLUSH);
    size_t written = room - f->z.avail_out;
    out->len += written;
    f->out += written;
    f->in += had - f->z.avail_in;
    f->at_end = status == Z_STREAM_END;
    return status;
}

static int too_much(const inflater *f, jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_LIMIT, f->in,
                     "The gzip input unpacks to more than max_unpacked_bytes (%" PRIu64 ").",
                     f->max);
}

/*
 * Unpacks the bytes and appends the result to `out`. Returns 0, JFR_ERR_FORMAT, JFR_ERR_LIMIT (more
 * than f->max in all) or JFR_ERR_NOMEM; bytes unpacked before a failure stay in `out`.
 */
static int unpack(inflater *f, const void *data, size_t len, jfr__buffer *out, jfr_error *err)
{
    const uint8_t *next = data;
    f->z.avail_in = 0;
    for (;;) {
        if (f->z.avail_in == 0 && len > 0) {
            f->z.next_in = next;
            f->z.avail_in = (uInt)(len < FEED_SIZE ? len : FEED_SIZE);
            next += f->z.avail_in;
            len -= f->z.avail_in;
        }
        if (f->z.avail_in == 0 && f->at_end)
            return 0;
        if (f->at_end && inflateReset(&f->z) != Z_OK)
            return jfr__fail_nomem(err);
        /* One byte beyond the limit shows whether the input ends there or continues. */
        uint64_t room = f->max - f->out < PIECE ? f->max - f->out + 1 : PIECE;
        int rc = jfr__buffer_reserve(out, (size_t)room, err);
        if (rc < 0)
            return rc;
        int status = inflate_piece(f, out, (size_t)room);
        if (f->out > f->max) {
            out->len--;
            f->out--;
            return too_much(f, err);
        }
        if (status == Z_MEM_ERROR)
            return jfr__fail_nomem(err);
        if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END)
            return jfr__fail(err, JFR_ERR_FORMAT, f->in,
                             "The gzip input is damaged at this offset of the packed bytes.");
        bool drained = f->z.avail_in == 0 && len == 0;
        if (drained && f->z.avail_out > 0)
            return 0;
    }
}

int jfr__gunzip(jfr__unpacked *out, const void *data, size_t len, uint64_t max_bytes,
                const jfr_allocator *alloc, jfr_error *err)
{
    inflater f = {.max = max_bytes};
    *out = (jfr__unpacked){0};
    if (inflateInit2(&f.z, WINDOW_GZIP) != Z_OK)
        return jfr__fail_nomem(err);
    jfr__buffer buffer = {.alloc = alloc};
    int rc = unpack(&f, data, len, &buffer, err);
    uint64_t left = len - f.in;
    if (rc == 0 && f.in > 0 && !f.at_end)
        rc = jfr__fail(err, JFR_ERR_FORMAT, len, "The gzip input is cut short at this offset.");
    inflateEnd(&f.z);
    bool damaged = rc == JFR_ERR_FORMAT && buffer.len > 0;
    if (rc < 0 && !damaged) {
        jfr__buffer_free(&buffer);
        return rc;
    }
    *out = (jfr__unpacked){buffer.data, buffer.len, damaged, left};
    return 0;
}
