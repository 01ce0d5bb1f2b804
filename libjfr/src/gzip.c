#include "error.h"
#include "input.h"
#include "memory.h"

#include <inttypes.h>
#define ZLIB_CONST
#include <zlib.h>

enum { WINDOW_GZIP = 15 + 16, FIRST_SIZE = 1 << 20, PIECE = 1 << 30 };

bool jfr__is_gzip(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    return len >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

struct sink {
    const jfr_allocator *alloc;
    void *data;
    size_t len;
    size_t cap;
    uint64_t max;
};

/* Gives the stream more room to write to. Returns 0, JFR_ERR_LIMIT or JFR_ERR_NOMEM. */
static int make_room(struct sink *sink, z_stream *z)
{
    if (sink->len >= sink->max)
        return JFR_ERR_LIMIT;
    if (sink->len == sink->cap &&
        jfr__grow(sink->alloc, &sink->data, &sink->cap, sink->len + FIRST_SIZE, 1) < 0)
        return JFR_ERR_NOMEM;
    uint64_t room = sink->cap - sink->len;
    if (room > sink->max - sink->len)
        room = sink->max - sink->len;
    z->next_out = (Bytef *)sink->data + sink->len;
    z->avail_out = (uInt)(room < PIECE ? room : PIECE);
    return 0;
}

static void feed(z_stream *z, size_t *left)
{
    if (z->avail_in > 0 || *left == 0)
        return;
    z->avail_in = (uInt)(*left < PIECE ? *left : PIECE);
    *left -= z->avail_in;
}

/* Returns 0 at the end of all input, else a negative code. */
static int inflate_all(struct sink *sink, z_stream *z, size_t left)
{
    for (;;) {
        feed(z, &left);
        int rc = make_room(sink, z);
        if (rc < 0)
            return z->avail_in == 0 && left == 0 && rc == JFR_ERR_LIMIT ? 0 : rc;
        uInt room = z->avail_out;
        int status = inflate(z, Z_NO_FLUSH);
        sink->len += room - z->avail_out;
        bool drained = z->avail_in == 0 && left == 0;
        if (status == Z_STREAM_END && !drained)
            status = inflateReset(z); /* another member follows */
        else if (status == Z_STREAM_END || (drained && z->avail_out > 0))
            return 0;
        if (status == Z_MEM_ERROR)
            return JFR_ERR_NOMEM;
        if (status != Z_OK && status != Z_BUF_ERROR)
            return JFR_ERR_FORMAT;
    }
}

int jfr__gunzip(void **out, size_t *out_len, const void *data, size_t len, uint64_t max_bytes,
                const jfr_allocator *alloc, jfr_error *err)
{
    struct sink sink = {.alloc = alloc, .max = max_bytes};
    z_stream z = {.next_in = data};
    if (inflateInit2(&z, WINDOW_GZIP) != Z_OK)
        return jfr__fail_nomem(err);
    int rc = inflate_all(&sink, &z, len);
    uint64_t at = (uint64_t)z.total_in;
    inflateEnd(&z);
    if (rc == 0) {
        *out = sink.data;
        *out_len = sink.len;
        return 0;
    }
    if (sink.data != NULL)
        alloc->free(alloc->ctx, sink.data);
    if (rc == JFR_ERR_NOMEM)
        return jfr__fail_nomem(err);
    if (rc == JFR_ERR_LIMIT)
        return jfr__fail(err, rc, at,
                         "The gzip input unpacks to more than max_unpacked_bytes (%" PRIu64 ").",
                         max_bytes);
    return jfr__fail(err, rc, at, "The gzip input is damaged at this offset of the packed bytes.");
}
