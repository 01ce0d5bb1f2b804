/* SPDX-License-Identifier: Apache-2.0 */
#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include "blocks/compress_impl.h"

/* The lowest level: a block is sent once, over a short distance, by a process that has to stay
 * small. */
enum { ZSTD_LEVEL = 1, GZIP_LEVEL = 1 };

const char *chs__compression_name(chs_compression compression)
{
    switch (compression) {
    case CHS_COMPRESSION_ZSTD:
        return "zstd";
    case CHS_COMPRESSION_GZIP:
        return "gzip";
    case CHS_COMPRESSION_LZ4:
        return "lz4";
    case CHS_COMPRESSION_NONE:
        break;
    }
    return NULL;
}

static int compress_zstd(chs__compressor *c, const chs_bytes *body)
{
    size_t bound = ZSTD_compressBound(body->length), length;
    int rc = chs__buffer_reserve(&c->out, bound);

    if (!rc && !c->zstd)
        c->zstd = ZSTD_createCCtx();
    if (rc || !c->zstd)
        return CHS_ERR_NO_MEMORY;
    length = ZSTD_compressCCtx(c->zstd, c->out.data, bound, body->data, body->length, ZSTD_LEVEL);
    if (ZSTD_isError(length))
        return CHS_ERR_NO_MEMORY;
    c->out.length = length;
    return 0;
}

static int compress_lz4(chs__buffer *out, const chs_bytes *body)
{
    size_t bound = LZ4F_compressFrameBound(body->length, NULL), length;
    int rc = chs__buffer_reserve(out, bound);

    if (rc)
        return rc;
    length = LZ4F_compressFrame(out->data, bound, body->data, body->length, NULL);
    if (LZ4F_isError(length))
        return CHS_ERR_NO_MEMORY;
    out->length = length;
    return 0;
}

static int compress_gzip(chs__buffer *out, const chs_bytes *body)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };
    z_stream stream = {0};
    uLong bound;
    int rc;

    if (body->length > UINT32_MAX || deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
                                                  MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return CHS_ERR_NO_MEMORY;
    bound = deflateBound(&stream, body->length);
    rc = bound > UINT32_MAX ? CHS_ERR_LIMIT : chs__buffer_reserve(out, bound);
    if (!rc) {
        stream.next_in = (z_const Bytef *)(uintptr_t)body->data;
        stream.avail_in = (uInt)body->length;
        stream.next_out = out->data;
        stream.avail_out = (uInt)bound;
        rc = deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0 : CHS_ERR_NO_MEMORY;
        out->length = stream.total_out;
    }
    (void)deflateEnd(&stream);
    return rc;
}

void chs__compressor_free(chs__compressor *c)
{
    chs__buffer_free(&c->out);
    ZSTD_freeCCtx(c->zstd);
    c->zstd = NULL;
}

int chs__compress(chs__compressor *c, chs_compression compression, const chs_bytes *body,
                  chs_error *err)
{
    int rc;

    c->out.length = 0;
    if (compression == CHS_COMPRESSION_ZSTD)
        rc = compress_zstd(c, body);
    else if (compression == CHS_COMPRESSION_LZ4)
        rc = compress_lz4(&c->out, body);
    else
        rc = compress_gzip(&c->out, body);
    return rc ? CHS__FAIL(err, rc, "No memory to compress a block of %zu bytes", body->length) : 0;
}
