/* SPDX-License-Identifier: Apache-2.0 */
#include "frames/id_impl.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fail_impl.h"
#include "frames/utf8_impl.h"

/* The kind and the lengths of two cleaned names: 3 bytes at most, each. */
#define HEAD_ROOM 7u

/* Writes unsigned LEB128. */
static size_t put_varint(uint8_t *out, size_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

static size_t put_name(uint8_t *out, sagg_str name)
{
    size_t size = put_varint(out, name.size);
    if (name.size > 0)
        memcpy(out + size, name.data, name.size);
    return size + name.size;
}

static uint64_t hash_in_pieces(uint8_t kind, sagg_str class_name, sagg_str method)
{
    XXH3_state_t state;
    uint8_t head[1 + 10];
    (void)XXH3_64bits_reset(&state);
    head[0] = kind;
    (void)XXH3_64bits_update(&state, head, 1 + put_varint(head + 1, class_name.size));
    (void)XXH3_64bits_update(&state, class_name.data, class_name.size);
    (void)XXH3_64bits_update(&state, head, put_varint(head, method.size));
    (void)XXH3_64bits_update(&state, method.data, method.size);
    return XXH3_64bits_digest(&state);
}

uint64_t sagg__method_hash(uint8_t kind, sagg_str class_name, sagg_str method)
{
    uint8_t text[512];
    if (class_name.size + method.size > sizeof(text) - HEAD_ROOM)
        return hash_in_pieces(kind, class_name, method);
    size_t size = 1;
    text[0] = kind;
    size += put_name(text + size, class_name);
    size += put_name(text + size, method);
    return XXH3_64bits(text, size);
}

void sagg__id_begin(uint8_t *text, int version)
{
    const uint8_t prefix[SAGG__ID_PREFIX] = {'H', 'S', '1', (uint8_t)version};
    memcpy(text, prefix, sizeof(prefix));
}

static void put_hash(sagg_stack_id *id, XXH128_hash_t hash)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    memcpy(id->bytes, canonical.digest, sizeof(id->bytes));
}

void sagg__id_end(sagg_stack_id *id, const uint8_t *text, size_t count)
{
    put_hash(id, XXH3_128bits(text, SAGG__ID_PREFIX + count * 8));
}

/* Frame ids that are hashed at a time. */
enum { PIECE = 128 };

void sagg__id_in_pieces(sagg_stack_id *id, size_t count, int version, sagg__put_ids *put,
                        const void *ctx)
{
    uint8_t text[SAGG__ID_PREFIX + PIECE * 8];
    sagg__id_begin(text, version);
    put(ctx, text, 0, count < PIECE ? count : PIECE);
    if (count <= PIECE) {
        sagg__id_end(id, text, count);
        return;
    }
    XXH3_state_t state;
    (void)XXH3_128bits_reset(&state);
    (void)XXH3_128bits_update(&state, text, sizeof(text));
    for (size_t at = PIECE; at < count; at += PIECE) {
        size_t piece = count - at < PIECE ? count - at : PIECE;
        put(ctx, text, at, piece);
        (void)XXH3_128bits_update(&state, text + SAGG__ID_PREFIX, piece * 8);
    }
    put_hash(id, XXH3_128bits_digest(&state));
}

/* Frames as numbers of their ids, or without `numbers` as the ids themselves. */
struct given_ids {
    const uint64_t *frame_ids;
    const uint32_t *numbers;
};

static void put_given(const void *ctx, uint8_t *text, size_t from, size_t count)
{
    const struct given_ids *given = ctx;
    const uint64_t *ids = given->frame_ids;
    if (given->numbers == NULL) {
        for (size_t i = 0; i < count; i++)
            sagg__id_put(text, i, ids[from + i]);
        return;
    }
    const uint32_t *numbers = given->numbers + from;
    size_t at = 0;
    for (; at + 4 <= count; at += 4) {
        sagg__id_put(text, at, ids[numbers[at]]);
        sagg__id_put(text, at + 1, ids[numbers[at + 1]]);
        sagg__id_put(text, at + 2, ids[numbers[at + 2]]);
        sagg__id_put(text, at + 3, ids[numbers[at + 3]]);
    }
    for (; at < count; at++)
        sagg__id_put(text, at, ids[numbers[at]]);
}

void sagg__id_of_frame_ids(sagg_stack_id *id, const uint64_t *frame_ids, const uint32_t *numbers,
                           size_t count, int version)
{
    struct given_ids given = {frame_ids, numbers};
    sagg__id_in_pieces(id, count, version, put_given, &given);
}

uint64_t sagg__hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

void sagg_stack_id_hex(char hex[33], const sagg_stack_id *id)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof(id->bytes); i++) {
        hex[2 * i] = digits[id->bytes[i] >> 4];
        hex[2 * i + 1] = digits[id->bytes[i] & 15];
    }
    hex[32] = '\0';
}

void sagg_frame_hash(uint64_t *method_hash, uint64_t *frame_id, const sagg_frame *frame)
{
    uint64_t hash = sagg__method_hash(frame->kind, frame->class_name, frame->method);
    if (method_hash != NULL)
        *method_hash = hash;
    if (frame_id != NULL)
        *frame_id = sagg__frame_id(hash, frame->line);
}
