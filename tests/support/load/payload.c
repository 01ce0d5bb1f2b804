/* SPDX-License-Identifier: Apache-2.0 */
#include "payload.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <contract/wire/message.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { LEVEL = 3 };

/* Returns the key of a stack, which is known per namespace, workload and day. All JVMs of a fleet
 * share the namespace. */
static uint64_t stack_key(const batch *one, uint32_t target, uint32_t stack)
{
    size_t length = 0;
    const char *workload =
        string_table_at(&one->strings, one->targets[target].workload_str, &length);
    uint64_t seed = XXH3_64bits_withSeed(workload, length, one->day);

    return XXH3_64bits_withSeed(one->stack_ids.keys + (size_t)stack * STACK_ID_SIZE, STACK_ID_SIZE,
                                seed);
}

/* Notes a use of a stack, and whether the batch must contain it. */
static void note_use(const batch *one, uint32_t target, uint32_t stack, const key_table *known,
                     payload *out, bool *wanted)
{
    uint64_t key = stack_key(one, target, stack);

    out->uses[out->use_count++] = key;
    wanted[stack] = wanted[stack] || known == NULL || !key_table_has(known, &key);
}

/* Returns for each stack of a batch whether the batch must contain it; NULL = no memory. */
static bool *choose_stacks(const batch *one, const key_table *known, payload *out)
{
    bool *wanted = calloc(one->stack_ids.count + 1, sizeof(*wanted));

    out->uses = malloc((one->row_count + one->state_count + 1) * sizeof(*out->uses));
    if (wanted == NULL || out->uses == NULL) {
        free(wanted);
        return NULL;
    }
    for (size_t i = 0; i < one->row_count; i++)
        note_use(one, one->windows[one->rows[i].window].target, one->rows[i].stack, known, out,
                 wanted);
    for (size_t i = 0; i < one->state_count; i++) {
        const batch_state *state = &one->states[i];
        if (state->stack > 0)
            note_use(one, one->snapshots[state->snapshot].target, state->stack - 1, known, out,
                     wanted);
    }
    return wanted;
}

/* Packs the message of a try: the whole one with fewer stacks and another attempt. Returns 0 or
 * -1. */
static int edit(const batch *one, const bool *wanted, const payload_try *how, uint8_t **bytes,
                size_t *length)
{
    Hotstack__V1__ProfileBatch *message =
        hotstack__v1__profile_batch__unpack(NULL, *length, *bytes);
    const frame_source frames = batch_frames(one);
    batch brought;
    arena in = {0};

    free(*bytes);
    *bytes = NULL;
    if (message == NULL)
        return -1;
    Hotstack__V1__StackDictionary *all = message->stacks;
    batch_begin(&brought, one->id, one->day);
    int rc = 0;
    for (size_t i = 0; i < one->stack_ids.count && rc == 0; i++) {
        uint32_t index = 0;
        if (wanted[i])
            rc = batch_add_stack(&brought, &frames, &one->stacks[i], &index);
    }
    message->attempt = how->attempt;
    message->waited_ms = how->waited_ms;
    message->stacks = rc == 0 ? batch_dictionary(&brought, &in) : NULL;
    rc = message->stacks != NULL ? message_pack(&message->base, bytes, length) : -1;
    message->stacks = all;
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    batch_clear(&brought);
    arena_free(&in);
    return rc;
}

int payload_compress(const uint8_t *bytes, size_t length, payload *out)
{
    size_t room = ZSTD_compressBound(length);

    out->bytes = malloc(room);
    if (out->bytes == NULL)
        return -1;
    out->length = ZSTD_compress(out->bytes, room, bytes, length, LEVEL);
    return ZSTD_isError(out->length) ? -1 : 0;
}

Hotstack__V1__Collector *payload_sender_of(const fleet *f, uint32_t node, payload_sender *to)
{
    hotstack__v1__collector__init(&to->message);
    fleet_node(f, node, to->node);
    to->message.cluster = (char *)(uintptr_t)f->cluster;
    to->message.node = to->message.instance = to->node;
    to->message.version = (char *)(uintptr_t) "0.1.0";
    to->message.run_id = 1;
    return &to->message;
}

int payload_make(const fleet *f, batch_name name, const payload_try *how, payload *out)
{
    payload_sender sender;
    uint8_t *bytes = NULL;
    size_t length = 0;
    batch one;

    *out = (payload){0};
    int rc = fleet_batch(f, name, &one);
    bool *wanted = rc == 0 ? choose_stacks(&one, how->known, out) : NULL;
    rc = wanted != NULL
             ? batch_pack(&one, payload_sender_of(f, name.node, &sender), &bytes, &length)
             : -1;
    if (rc == 0)
        rc = edit(&one, wanted, how, &bytes, &length);
    if (rc == 0)
        rc = payload_compress(bytes, length, out);
    free(bytes);
    free(wanted);
    batch_clear(&one);
    return rc;
}

void payload_clear(payload *one)
{
    free(one->bytes);
    free(one->uses);
    *one = (payload){0};
}

int payload_note_stored(const payload *one, key_table *known)
{
    for (size_t i = 0; i < one->use_count; i++) {
        uint32_t index = 0;
        bool is_new = false;
        if (key_table_add(known, &one->uses[i], &index, &is_new) != 0)
            return -1;
    }
    return 0;
}
