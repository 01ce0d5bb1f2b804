/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the stacks that the backend knows, which need not be sent again. */
#include "wire_impl.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

wire *wire_new(const wire_sender *sender)
{
    wire *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    self->sender = *sender;
    self->known.key_size = sizeof(uint64_t);
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void wire_free(wire *self)
{
    if (self == NULL)
        return;
    key_table_clear(&self->known);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Hashes the namespace, workload and day, for which a stack is known; the stack's hash is mixed in
 * later. */
static uint64_t workload_hash(const batch *one, uint32_t target)
{
    size_t length = 0;
    const batch_target *at = &one->targets[target];
    const char *text = string_table_at(&one->strings, at->namespace_str, &length);
    uint64_t hash = XXH3_64bits_withSeed(text, length, one->day);
    text = string_table_at(&one->strings, at->workload_str, &length);
    return XXH3_64bits_withSeed(text, length, hash);
}

/* The stack of a sample row or of a thread, and the JVM that it belongs to. */
typedef struct stack_use {
    uint32_t target, stack;
} stack_use;

static size_t use_count(const batch *one)
{
    return one->row_count + one->state_count;
}

/* Gets use `i`, which is below use_count; returns false for a thread without a stack. */
static bool use_at(const batch *one, size_t i, stack_use *out)
{
    if (i < one->row_count) {
        const batch_row *row = &one->rows[i];
        *out = (stack_use){one->windows[row->window].target, row->stack};
        return true;
    }
    const batch_state *state = &one->states[i - one->row_count];
    *out = (stack_use){one->snapshots[state->snapshot].target, state->stack - 1};
    return state->stack > 0;
}

static uint64_t known_key(const batch *one, const uint64_t *workloads, const stack_use *use)
{
    return XXH3_64bits_withSeed(one->stack_ids.keys + (size_t)use->stack * STACK_ID_SIZE,
                                STACK_ID_SIZE, workloads[use->target]);
}

static uint64_t *workload_hashes(const batch *one)
{
    uint64_t *hashes = calloc(one->target_count + 1, sizeof(*hashes));
    for (uint32_t i = 0; hashes != NULL && i < one->target_count; i++)
        hashes[i] = workload_hash(one, i);
    return hashes;
}

static bool texts_hold(const batch *one, const batch_target *target)
{
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        if (*batch_target_text(target, i) >= one->strings.count)
            return false;
    }
    return true;
}

static bool indexes_hold(const batch *one)
{
    for (size_t i = 0; i < one->target_count; i++) {
        if (!texts_hold(one, &one->targets[i]))
            return false;
    }
    for (size_t i = 0; i < one->window_count; i++) {
        if (one->windows[i].target >= one->target_count ||
            one->windows[i].engine_str >= one->strings.count ||
            one->windows[i].part.source >= PROFILE_SOURCE_END)
            return false;
    }
    for (size_t i = 0; i < one->row_count; i++) {
        const batch_row *row = &one->rows[i];
        if (row->window >= one->window_count || row->stack >= one->stack_ids.count ||
            row->pool_str >= one->strings.count || row->object_str >= one->strings.count)
            return false;
    }
    for (size_t i = 0; i < one->snapshot_count; i++) {
        if (one->snapshots[i].target >= one->target_count)
            return false;
    }
    for (size_t i = 0; i < one->state_count; i++) {
        if (one->states[i].snapshot >= one->snapshot_count ||
            one->states[i].stack > one->stack_ids.count)
            return false;
    }
    return true;
}

int wire_note_stored(void *context, const uint8_t *entry, size_t length, entry_sums *sums)
{
    wire *self = context;
    batch one;
    *sums = (entry_sums){0};
    if (wire_decode(self, entry, length, &one) != 0)
        return -1;
    uint64_t *workloads = indexes_hold(&one) ? workload_hashes(&one) : NULL;
    int rc = workloads != NULL ? 0 : -1;
    memcpy(sums->id, one.id, BATCH_ID_SIZE);
    sums->rows = one.row_count;
    for (size_t i = 0; i < one.window_count && rc == 0; i++)
        profile_sum_add(&sums->of[one.windows[i].part.source], &one.windows[i].part.total);
    pthread_mutex_lock(&self->lock);
    if (self->known.count + use_count(&one) > KNOWN_MAX)
        key_table_clear(&self->known); /* if the backend lacks a forgotten stack, it asks for it */
    for (size_t i = 0; rc == 0 && i < use_count(&one); i++) {
        stack_use use;
        if (!use_at(&one, i, &use))
            continue;
        uint64_t key = known_key(&one, workloads, &use);
        uint32_t index = 0;
        bool is_new = false;
        rc = key_table_add(&self->known, &key, &index, &is_new);
    }
    pthread_mutex_unlock(&self->lock);
    free(workloads);
    batch_clear(&one);
    return rc;
}

static bool is_known(wire *self, uint64_t key)
{
    pthread_mutex_lock(&self->lock);
    bool known = key_table_has(&self->known, &key);
    pthread_mutex_unlock(&self->lock);
    return known;
}

/* Returns for each stack whether it is new to some workload that uses it. NULL = send all. */
static bool *choose_stacks(wire *self, const batch *one)
{
    bool *wanted = indexes_hold(one) ? calloc(one->stack_ids.count + 1, sizeof(*wanted)) : NULL;
    uint64_t *workloads = wanted != NULL ? workload_hashes(one) : NULL;
    if (workloads == NULL) {
        free(wanted);
        return NULL;
    }
    for (size_t i = 0; i < use_count(one); i++) {
        stack_use use;
        if (use_at(one, i, &use) && !wanted[use.stack])
            wanted[use.stack] = !is_known(self, known_key(one, workloads, &use));
    }
    free(workloads);
    return wanted;
}

/* Copies the wanted stacks of a batch, with their frames, into an empty batch. */
static int take_stacks(batch *to, const batch *one, const bool *wanted)
{
    const frame_source source = batch_frames(one);
    batch_begin(to, one->id, one->day);
    for (size_t i = 0; i < one->stack_ids.count; i++) {
        uint32_t index = 0;
        if (wanted[i] && batch_add_stack(to, &source, &one->stacks[i], &index) != 0)
            return -1;
    }
    return 0;
}

/* Packs a message with only those stacks that the backend may not know. */
static int pack_known(wire *self, const batch *one, Hotstack__V1__ProfileBatch *message,
                      uint8_t **out, size_t *length)
{
    Hotstack__V1__StackDictionary *all = message->stacks;
    bool *wanted = choose_stacks(self, one);
    batch stacks;
    arena in = {0};
    if (wanted == NULL)
        return message_pack(&message->base, out, length);
    int rc = take_stacks(&stacks, one, wanted);
    message->stacks = rc == 0 ? batch_dictionary(&stacks, &in) : NULL;
    rc = message->stacks != NULL ? message_pack(&message->base, out, length) : -1;
    message->stacks = all;
    free(wanted);
    batch_clear(&stacks);
    arena_free(&in);
    return rc;
}

int wire_pack_entry(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                    const entry_tries *tries, uint8_t **out, size_t *out_length)
{
    batch one;
    Hotstack__V1__ProfileBatch *message = wire__open(entry, length);
    if (message == NULL)
        return -1;
    message->attempt = tries->attempt;
    message->waited_ms = tries->waited_ms;
    int rc = batch_unpack(&one, message); /* also checks the indexes into the dictionary */
    if (rc == 0)
        rc = all_stacks ? message_pack(&message->base, out, out_length)
                        : pack_known(context, &one, message, out, out_length);
    batch_clear(&one);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    return rc;
}
