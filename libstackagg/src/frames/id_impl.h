/* SPDX-License-Identifier: Apache-2.0 */
/* The hashes of docs/formats/stack-id.md, section 4. */
#ifndef STACKAGG_ID_H
#define STACKAGG_ID_H

#include <string.h>

#include <stackagg/frame.h>

uint64_t sagg__method_hash(uint8_t kind, sagg_str class_name, sagg_str method);

static inline uint64_t sagg__frame_id(uint64_t method_hash, uint32_t line)
{
    return method_hash * UINT64_C(0x9E3779B97F4A7C15) + line;
}

/* Bytes before the frame ids in the input of a stack id's hash. */
#define SAGG__ID_PREFIX 4u

/* Make the input of a stack id's hash: the prefix, then frame ids, 8 bytes each. */
void sagg__id_begin(uint8_t *text, int version);
void sagg__id_end(sagg_stack_id *id, const uint8_t *text, size_t count);

static inline void sagg__id_put(uint8_t *text, size_t index, uint64_t frame_id)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    frame_id = __builtin_bswap64(frame_id);
#endif
    memcpy(text + SAGG__ID_PREFIX + index * 8, &frame_id, sizeof(frame_id));
}

/* Writes the ids of `count` frames, from frame `from` on, into a text with sagg__id_put, from index
 * 0 on. */
typedef void sagg__put_ids(const void *ctx, uint8_t *text, size_t from, size_t count);

/* Computes the id of a stack of `count` frames, of a known version. */
void sagg__id_in_pieces(sagg_stack_id *id, size_t count, int version, sagg__put_ids *put,
                        const void *ctx);

/* Computes the same from given ids. `numbers`: NULL, or for each frame the index of its id. */
void sagg__id_of_frame_ids(sagg_stack_id *id, const uint64_t *frame_ids, const uint32_t *numbers,
                           size_t count, int version);

/* Returns the hash of an id for an index. */
static inline uint64_t sagg__id_hash(const sagg_stack_id *id)
{
    uint64_t hash;
    memcpy(&hash, id->bytes, sizeof(hash));
    return hash;
}

/* Hashes a stack in memory quickly, for an index. */
uint64_t sagg__hash_bytes(const void *bytes, size_t size);

#endif
