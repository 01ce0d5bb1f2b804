/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include "blocks/compress_impl.h"
#include "coding.h"

enum { STEP = 1 << 18 };

static const char *too_long = "the decompressed body is longer than 1 GiB";
static const char *damaged = "the body is damaged or cut short";

static const char *decode_zlib(chs__buffer *out, const chs__buffer *body)
{
    enum { ANY_WINDOW = 15 + 32 };
    z_stream stream = {0};
    int rc = inflateInit2(&stream, ANY_WINDOW);

    stream.next_in = body->data;
    stream.avail_in = (uInt)body->length;
    while (rc == Z_OK) {
        if (chs__buffer_reserve(out, STEP)) {
            (void)inflateEnd(&stream);
            return too_long;
        }
        stream.next_out = out->data + out->length;
        stream.avail_out = STEP;
        rc = inflate(&stream, Z_NO_FLUSH);
        out->length += STEP - stream.avail_out;
    }
    (void)inflateEnd(&stream);
    return rc == Z_STREAM_END ? NULL : damaged;
}

static const char *decode_zstd(chs__buffer *out, const chs__buffer *body)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {body->data, body->length, 0};
    size_t rc = 1;
    const char *wrong = NULL;

    while (!wrong && (in.pos < in.size || rc != 0)) {
        ZSTD_outBuffer to;
        size_t before = in.pos;

        if (chs__buffer_reserve(out, STEP)) {
            wrong = too_long;
            break;
        }
        to = (ZSTD_outBuffer){out->data + out->length, STEP, 0};
        rc = ZSTD_decompressStream(stream, &to, &in);
        out->length += to.pos;
        if (ZSTD_isError(rc) || (rc && !to.pos && in.pos == before))
            wrong = damaged;
    }
    (void)ZSTD_freeDStream(stream);
    return wrong;
}

static const char *decode_lz4(chs__buffer *out, const chs__buffer *body)
{
    LZ4F_dctx *context = NULL;
    size_t at = 0, hint = 1;
    const char *wrong =
        LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) ? damaged : NULL;

    while (!wrong && hint) {
        size_t taken = body->length - at, made = STEP;

        if (chs__buffer_reserve(out, STEP)) {
            wrong = too_long;
            break;
        }
        hint =
            LZ4F_decompress(context, out->data + out->length, &made, body->data + at, &taken, NULL);
        at += taken;
        out->length += made;
        if (LZ4F_isError(hint) || (hint && !taken && !made))
            wrong = damaged;
    }
    (void)LZ4F_freeDecompressionContext(context);
    return wrong;
}

const char *decode_body(chs__buffer *out, const char *coding, const chs__buffer *body)
{
    out->max = CODING_MAX_BYTES;
    if (strcmp(coding, "gzip") == 0 || strcmp(coding, "deflate") == 0)
        return decode_zlib(out, body);
    if (strcmp(coding, "zstd") == 0)
        return decode_zstd(out, body);
    if (strcmp(coding, "lz4") == 0)
        return decode_lz4(out, body);
    return "the Content-Encoding is not gzip, deflate, zstd or lz4";
}

const char *encode_body(chs__buffer *body, const char *accepted)
{
    static const chs_compression known[] = {CHS_COMPRESSION_ZSTD, CHS_COMPRESSION_GZIP,
                                            CHS_COMPRESSION_LZ4};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++) {
        const char *name = chs__compression_name(known[i]);
        chs_bytes plain = {(const char *)body->data, body->length};
        chs__compressor coded = {0};

        if (!strstr(accepted, name))
            continue;
        if (chs__compress(&coded, known[i], &plain, NULL)) {
            chs__compressor_free(&coded);
            return NULL;
        }
        chs__buffer_free(body);
        *body = coded.out;
        coded.out = (chs__buffer){0};
        chs__compressor_free(&coded);
        return name;
    }
    return NULL;
}
