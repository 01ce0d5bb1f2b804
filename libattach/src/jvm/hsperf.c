/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hsperf_impl.h"

#include <string.h>

#include "error_impl.h"

#define PROLOGUE_SIZE 32
#define ENTRY_SIZE    20

enum { /* offsets in the prologue */
       AT_BYTE_ORDER = 4,
       AT_MAJOR = 5,
       AT_ACCESSIBLE = 7,
       AT_USED = 8,
       AT_ENTRY_OFFSET = 24,
       AT_NUM_ENTRIES = 28
};

static uint32_t u32_at(const attach__hsperf *file, size_t at)
{
    const uint8_t *b = file->bytes + at;
    return file->big_endian
               ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
               : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

int attach__hsperf_open(attach__hsperf *out, const uint8_t *bytes, size_t n, attach_error *err)
{
    static const uint8_t magic[] = {0xca, 0xfe, 0xc0, 0xc0};
    if (n < PROLOGUE_SIZE)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, n, "hsperfdata ends within its prologue");
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0, "hsperfdata has another magic number");
    if (bytes[AT_BYTE_ORDER] > 1 || bytes[AT_MAJOR] != 2)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, AT_BYTE_ORDER,
                               "hsperfdata has an unknown byte order or version");
    if (bytes[AT_ACCESSIBLE] == 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, AT_ACCESSIBLE,
                               "hsperfdata is still being set up by the JVM");
    *out = (attach__hsperf){.bytes = bytes, .n = n, .big_endian = bytes[AT_BYTE_ORDER] == 0};
    out->at = u32_at(out, AT_ENTRY_OFFSET);
    out->left = u32_at(out, AT_NUM_ENTRIES);
    uint32_t used = u32_at(out, AT_USED);
    if (used < out->n)
        out->n = used;
    return ATTACH_OK;
}

static attach__span until_nul(const uint8_t *p, size_t n)
{
    return attach__span_of((const char *)p, strnlen((const char *)p, n));
}

bool attach__hsperf_next(attach__hsperf *file, attach__span *name, attach__span *value)
{
    while (file->left > 0 && file->at <= file->n && file->n - file->at >= ENTRY_SIZE) {
        size_t at = file->at;
        uint32_t length = u32_at(file, at);
        uint32_t name_at = u32_at(file, at + 4), vector = u32_at(file, at + 8);
        uint32_t data_at = u32_at(file, at + 16);
        char type = (char)file->bytes[at + 12];
        if (length < ENTRY_SIZE || length > file->n - at || name_at < ENTRY_SIZE ||
            name_at >= length || data_at < name_at || data_at > length)
            return false;
        file->at = at + length;
        file->left--;
        if (type != 'B' || vector == 0 || vector > length - data_at)
            continue;
        *name = until_nul(file->bytes + at + name_at, data_at - name_at);
        *value = until_nul(file->bytes + at + data_at, vector);
        return true;
    }
    return false;
}
