/* SPDX-License-Identifier: Apache-2.0 */
#include <recording/deflate.h>

#include <stdlib.h>
#include <zlib.h>

enum { OUT_SIZE = 65536 };

struct recording_deflate {
    z_stream stream;
    unsigned char out[OUT_SIZE];
};

recording_deflate *recording_deflate_new(void)
{
    recording_deflate *d = calloc(1, sizeof(*d));
    if (d != NULL && deflateInit(&d->stream, Z_DEFAULT_COMPRESSION) == Z_OK)
        return d;
    free(d);
    return NULL;
}

void recording_deflate_free(recording_deflate *deflate)
{
    if (deflate == NULL)
        return;
    (void)deflateEnd(&deflate->stream);
    free(deflate);
}

/* sagg_compress.write; pieces are far smaller than a uInt. */
static int compress_piece(void *ctx, const void *data, size_t bytes, bool last,
                          const sagg_sink *out)
{
    recording_deflate *d = ctx;
    int rc = Z_OK;
    d->stream.next_in = (z_const Bytef *)(uintptr_t)data;
    d->stream.avail_in = (uInt)bytes;
    do {
        d->stream.next_out = d->out;
        d->stream.avail_out = OUT_SIZE;
        rc = deflate(&d->stream, last ? Z_FINISH : Z_NO_FLUSH);
        size_t made = OUT_SIZE - d->stream.avail_out;
        if (rc == Z_STREAM_ERROR || (made > 0 && out->write(out->ctx, d->out, made) != 0))
            return -1;
    } while (d->stream.avail_out == 0 || (last && rc != Z_STREAM_END));
    return 0;
}

sagg_compress recording_deflate_page(recording_deflate *deflate)
{
    return (sagg_compress){compress_piece, deflate};
}
