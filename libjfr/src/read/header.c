/* SPDX-License-Identifier: Apache-2.0 */
#include "read/header_impl.h"

#include "error_impl.h"
#include "read/cursor_impl.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t magic[4] = {'F', 'L', 'R', 0};

int jfr__header_read(jfr__header *out, const uint8_t *data, size_t len, uint64_t offset,
                     jfr_error *err)
{
    if (offset > len || len - offset < JFR__HEADER_SIZE)
        return jfr__fail(err, JFR_ERR_FORMAT, offset,
                         "Only %" PRIu64 " bytes where a chunk header of %d bytes must be: is this "
                         "a whole JFR recording?",
                         offset > len ? 0 : len - offset, JFR__HEADER_SIZE);
    if (memcmp(data + offset, magic, sizeof(magic)) != 0)
        return jfr__fail(err, JFR_ERR_FORMAT, offset,
                         "No JFR chunk begins here: the magic bytes \"FLR\" are missing.");
    jfr__cursor c = {data, data + offset + sizeof(magic), data + offset + JFR__HEADER_SIZE, false,
                     false};
    out->major = (uint16_t)jfr__read_be(&c, 2);
    out->minor = (uint16_t)jfr__read_be(&c, 2);
    out->size = jfr__read_be(&c, 8);
    out->pool_offset = jfr__read_be(&c, 8);
    out->metadata_offset = jfr__read_be(&c, 8);
    out->start_ns = (int64_t)jfr__read_be(&c, 8);
    out->duration_ns = jfr__read_be(&c, 8);
    out->start_ticks = jfr__read_be(&c, 8);
    out->ticks_per_second = jfr__read_be(&c, 8);
    /* 1.0, 2.0: an int, 1 = compressed. 2.1: state, two bytes of padding, flags (JDK ChunkHeader).
     */
    out->state = jfr__read_u8(&c);
    jfr__skip_bytes(&c, 2);
    out->compressed = (jfr__read_u8(&c) & 1) != 0;
    if (out->major == 0)
        return jfr__fail(
            err, JFR_ERR_FORMAT, offset + 4,
            "JFR version %u.%u is the format of Oracle's JDK 7 or 8, which is not read; "
            "versions 1 and 2 are: JDK 9 and later, OpenJDK 8u262 and later.",
            out->major, out->minor);
    if (out->major > 2)
        return jfr__fail(err, JFR_ERR_FORMAT, offset + 4,
                         "JFR version %u.%u is not known; versions 1 and 2 are.", out->major,
                         out->minor);
    if (out->ticks_per_second == 0)
        return jfr__fail(err, JFR_ERR_FORMAT, offset + 56,
                         "The chunk header states no clock frequency: times cannot be told.");
    return 0;
}

bool jfr__header_is_finished(const jfr__header *h)
{
    return h->state == 0 && h->size >= JFR__HEADER_SIZE && h->metadata_offset >= JFR__HEADER_SIZE &&
           h->metadata_offset < h->size && h->pool_offset >= JFR__HEADER_SIZE &&
           h->pool_offset < h->size;
}

bool jfr__header_is_copy(const jfr__header *h, const jfr__header *of, uint64_t distance)
{
    return h->start_ns == of->start_ns && h->size == distance + JFR__HEADER_SIZE;
}

uint64_t jfr__header_find(const uint8_t *data, size_t len, uint64_t from)
{
    while (from < len) {
        const uint8_t *hit = memmem(data + from, len - from, magic, sizeof(magic));
        if (hit == NULL)
            return len;
        from = (uint64_t)(hit - data);
        jfr__header header;
        if (jfr__header_read(&header, data, len, from, NULL) == 0)
            return from;
        from++;
    }
    return len;
}
