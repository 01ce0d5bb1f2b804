/* SPDX-License-Identifier: Apache-2.0 */
/* Converts batches to ProfileBatch, and back to split them. */
#include "wire_impl.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { QUEUE_LEVEL = 3 };

Hotstack__V1__Collector *wire__collector(const wire *self, arena *in)
{
    Hotstack__V1__Collector *to = arena_take(in, sizeof(*to));
    if (to == NULL)
        return NULL;
    hotstack__v1__collector__init(to);
    to->cluster = (char *)(uintptr_t)self->sender.cluster;
    to->node = (char *)(uintptr_t)self->sender.node;
    to->instance = (char *)(uintptr_t)self->sender.instance;
    to->version = (char *)(uintptr_t)self->sender.version;
    to->run_id = self->sender.run_id;
    return to;
}

static int compress(uint8_t *bytes, size_t length, uint8_t **out, size_t *out_length)
{
    size_t room = ZSTD_compressBound(length);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    *out = malloc(room);
    *out_length = 0;
    if (zstd != NULL && *out != NULL) {
        /* The backend's digest does not cover the stacks' names, which a disk may damage, too. */
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, QUEUE_LEVEL);
        *out_length = ZSTD_compress2(zstd, *out, room, bytes, length);
    }
    ZSTD_freeCCtx(zstd);
    if (*out_length > 0 && !ZSTD_isError(*out_length))
        return 0;
    free(*out);
    *out = NULL;
    return -1;
}

int wire_encode(void *context, const batch *one, uint8_t **out, size_t *length)
{
    const wire *self = context;
    arena in = {0};
    uint8_t *packed = NULL;
    size_t packed_length = 0;
    Hotstack__V1__Collector *sender = wire__collector(self, &in);
    *out = NULL;
    if (sender != NULL)
        sender->run_id = 0; /* another run that makes the same batch gives it the same digest */
    int rc = sender != NULL ? batch_pack(one, sender, &packed, &packed_length) : -1;
    if (rc == 0)
        rc = compress(packed, packed_length, out, length);
    free(packed);
    arena_free(&in);
    return rc;
}

Hotstack__V1__ProfileBatch *wire__open(const uint8_t *entry, size_t length)
{
    unsigned long long size = ZSTD_getFrameContentSize(entry, length);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
        size > ENTRY_BYTES_MAX)
        return NULL;
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL)
        return NULL;
    size_t got = ZSTD_decompress(bytes, size, entry, length);
    Hotstack__V1__ProfileBatch *message = NULL;
    if (!ZSTD_isError(got))
        message = hotstack__v1__profile_batch__unpack(NULL, got, bytes);
    free(bytes);
    return message;
}

int wire_decode(void *context, const uint8_t *entry, size_t length, batch *out)
{
    (void)context;
    static const uint8_t no_id[BATCH_ID_SIZE];
    batch_begin(out, no_id, 0);
    Hotstack__V1__ProfileBatch *message = wire__open(entry, length);
    if (message == NULL)
        return -1;
    int rc = batch_unpack(out, message);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    return rc;
}
