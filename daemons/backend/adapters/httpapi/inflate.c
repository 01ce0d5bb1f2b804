/* SPDX-License-Identifier: Apache-2.0 */
#include "inflate.h"

#include <stdlib.h>

#include <zstd.h>

#include <contract/check.h>

enum { WINDOW_LOG = 23, FIRST_BYTES = 65536 };

/* The output under construction. */
typedef struct output {
    char *data;
    size_t used;
    size_t capacity;
    size_t limit;
} output;

static int too_large(const output *o, verdict *v)
{
    return verdict_reject(v, "payload_too_large",
                          "The body is longer than %zu bytes once it is decompressed.", o->limit);
}

static int grow(output *o, verdict *v)
{
    size_t capacity = o->capacity == 0 ? FIRST_BYTES : 2 * o->capacity;

    /* One byte more than the limit: a body that fills it is too large. */
    if (capacity > o->limit + 1)
        capacity = o->limit + 1;
    if (capacity == o->capacity)
        return too_large(o, v);
    char *data = realloc(o->data, capacity);
    if (data == NULL)
        return check_no_memory(v);
    o->data = data;
    o->capacity = capacity;
    return 0;
}

static int unpack(output *o, ZSTD_DStream *stream, ZSTD_inBuffer *in, verdict *v)
{
    for (;;) {
        if (o->used == o->capacity && grow(o, v) != 0)
            return -1;
        ZSTD_outBuffer out = {o->data, o->capacity, o->used};
        size_t left = ZSTD_decompressStream(stream, &out, in);
        o->used = out.pos;
        if (ZSTD_isError(left))
            return verdict_reject(v, "bad_compression", "The body is no zstd frame: %s.",
                                  ZSTD_getErrorName(left));
        if (left == 0)
            break;
        if (in->pos == in->size && o->used < o->capacity)
            return verdict_reject(v, "bad_compression", "The body's zstd frame is cut short.");
    }
    if (o->used > o->limit)
        return too_large(o, v);
    if (in->pos != in->size)
        return verdict_reject(v, "bad_compression", "Bytes follow the body's zstd frame.");
    return 0;
}

/* Unpacks a frame of known size in one call. */
static int unpack_at_once(output *o, const void *data, size_t length, size_t announced, verdict *v)
{
    o->data = malloc(announced + 1);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (o->data == NULL || context == NULL) {
        ZSTD_freeDCtx(context);
        return check_no_memory(v);
    }
    o->used = ZSTD_decompressDCtx(context, o->data, announced, data, length);
    ZSTD_freeDCtx(context);
    if (ZSTD_isError(o->used))
        return verdict_reject(v, "bad_compression", "The body is no zstd frame: %s.",
                              ZSTD_getErrorName(o->used));
    return 0;
}

/* Unpacks any other frame piece by piece. */
static int unpack_stream(output *o, const void *data, size_t length, verdict *v)
{
    ZSTD_inBuffer in = {data, length, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();

    if (stream == NULL)
        return check_no_memory(v);
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG);
    int rc = unpack(o, stream, &in, v);
    ZSTD_freeDStream(stream);
    return rc;
}

size_t inflate_size(const void *data, size_t length, size_t limit)
{
    unsigned long long announced = ZSTD_getFrameContentSize(data, length);

    return announced < limit ? (size_t)announced : limit;
}

int inflate_zstd(char **out, size_t *out_length, const void *data, size_t length, size_t limit,
                 verdict *v)
{
    output o = {.limit = limit};
    unsigned long long announced = ZSTD_getFrameContentSize(data, length);
    bool known = announced != ZSTD_CONTENTSIZE_UNKNOWN && announced != ZSTD_CONTENTSIZE_ERROR;

    if (known && announced > limit)
        return too_large(&o, v);
    bool is_whole = known && ZSTD_findFrameCompressedSize(data, length) == length;
    int rc = is_whole ? unpack_at_once(&o, data, length, (size_t)announced, v)
                      : unpack_stream(&o, data, length, v);
    if (rc != 0) {
        free(o.data);
        return -1;
    }
    *out = o.data;
    *out_length = o.used;
    return 0;
}
