/* What the backend knows already: stacks that need not be sent again. */
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

/* A stack is known per namespace, workload and day: their hash, mixed with the stack's. */
static uint64_t workload_hash(const batch *one, uint32_t target)
{
    size_t length = 0;
    const batch_target *at = &one->targets[target];
    const char *text = string_table_at(&one->strings, at->namespace_str, &length);
    uint64_t hash = XXH3_64bits_withSeed(text, length, one->day);
    text = string_table_at(&one->strings, at->workload_str, &length);
    return XXH3_64bits_withSeed(text, length, hash);
}

static uint64_t known_key(const batch *one, const uint64_t *workloads, const batch_row *row)
{
    return XXH3_64bits_withSeed(one->stack_ids.keys + (size_t)row->stack * STACK_ID_SIZE,
                                STACK_ID_SIZE, workloads[one->windows[row->window].target]);
}

static uint64_t *workload_hashes(const batch *one)
{
    uint64_t *hashes = calloc(one->target_count + 1, sizeof(*hashes));
    for (uint32_t i = 0; hashes != NULL && i < one->target_count; i++)
        hashes[i] = workload_hash(one, i);
    return hashes;
}

static bool indexes_hold(const batch *one)
{
    for (size_t i = 0; i < one->window_count; i++) {
        if (one->windows[i].target >= one->target_count ||
            one->windows[i].totals.type >= PROFILE_TYPE_END)
            return false;
    }
    for (size_t i = 0; i < one->row_count; i++) {
        if (one->rows[i].window >= one->window_count || one->rows[i].stack >= one->stack_ids.count)
            return false;
    }
    return true;
}

int wire_learn(void *context, const uint8_t *entry, size_t length, entry_sums *sums)
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
        sums->raw[one.windows[i].totals.type] += one.windows[i].totals.raw_total;
    pthread_mutex_lock(&self->lock);
    if (self->known.count + one.row_count > KNOWN_MAX)
        key_table_clear(&self->known); /* forgetting costs a need_stacks, not a stack */
    for (size_t i = 0; i < one.row_count && rc == 0; i++) {
        uint64_t key = known_key(&one, workloads, &one.rows[i]);
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

/* For each stack whether some workload that uses it is new to it. NULL = send all. */
static bool *choose_stacks(wire *self, const batch *one)
{
    bool *wanted = indexes_hold(one) ? calloc(one->stack_ids.count + 1, sizeof(*wanted)) : NULL;
    uint64_t *workloads = wanted != NULL ? workload_hashes(one) : NULL;
    if (workloads == NULL) {
        free(wanted);
        return NULL;
    }
    for (size_t i = 0; i < one->row_count; i++) {
        const batch_row *row = &one->rows[i];
        if (!wanted[row->stack])
            wanted[row->stack] = !is_known(self, known_key(one, workloads, row));
    }
    free(workloads);
    return wanted;
}

/* Cuts the unwanted stacks out of a dictionary, in place, with the frames and strings that only
 * they used. */
typedef struct cut {
    Hotstack__V1__StackDictionary *on;
    uint32_t *frame_map; /* new index + 1, 0 = not used */
    uint32_t *string_map;
} cut;

static void keep_wanted_stacks(const cut *in, const bool *wanted)
{
    Hotstack__V1__StackDictionary *on = in->on;
    size_t kept = 0;
    size_t at = 0;
    size_t kept_frames = 0;
    for (size_t i = 0; i < on->n_stack_depth; i++) {
        uint32_t depth = on->stack_depth[i];
        if (wanted[i]) {
            memmove(on->stack_ids.data + kept * STACK_ID_SIZE,
                    on->stack_ids.data + i * STACK_ID_SIZE, STACK_ID_SIZE);
            on->normaliser.data[kept] = on->normaliser.data[i];
            on->stack_flags.data[kept] = on->stack_flags.data[i];
            on->stack_depth[kept++] = depth;
            for (uint32_t k = 0; k < depth; k++) {
                on->stack_frame[kept_frames] = on->stack_frame[at + k];
                in->frame_map[on->stack_frame[kept_frames++]] = 1;
            }
        }
        at += depth;
    }
    on->n_stack_depth = kept;
    on->n_stack_frame = kept_frames;
    on->stack_ids.len = kept * STACK_ID_SIZE;
    on->normaliser.len = on->stack_flags.len = kept;
}

static void keep_used_frames(const cut *in)
{
    Hotstack__V1__StackDictionary *on = in->on;
    uint32_t kept = 0;
    in->string_map[0] = 1;
    for (size_t i = 0; i < on->n_frame_class_str; i++) {
        if (in->frame_map[i] == 0)
            continue;
        on->frame_class_str[kept] = on->frame_class_str[i];
        on->frame_method_str[kept] = on->frame_method_str[i];
        on->frame_file_str[kept] = on->frame_file_str[i];
        on->frame_line[kept] = on->frame_line[i];
        on->frame_kind.data[kept] = on->frame_kind.data[i];
        in->string_map[on->frame_class_str[kept]] = 1;
        in->string_map[on->frame_method_str[kept]] = 1;
        in->string_map[on->frame_file_str[kept]] = 1;
        in->frame_map[i] = ++kept;
    }
    on->n_frame_class_str = on->n_frame_method_str = on->n_frame_file_str = kept;
    on->n_frame_line = on->frame_kind.len = kept;
    for (size_t i = 0; i < on->n_stack_frame; i++)
        on->stack_frame[i] = in->frame_map[on->stack_frame[i]] - 1;
}

static void keep_used_strings(const cut *in)
{
    Hotstack__V1__StackDictionary *on = in->on;
    Hotstack__V1__StringTable *strings = on->strings;
    uint32_t kept = 0;
    size_t from = 0;
    size_t to = 0;
    for (size_t i = 0; i < strings->n_length; i++) {
        uint32_t length = strings->length[i];
        if (in->string_map[i] != 0) {
            if (length > 0)
                memmove(strings->data.data + to, strings->data.data + from, length);
            to += length;
            strings->length[kept] = length;
            in->string_map[i] = ++kept;
        }
        from += length;
    }
    strings->n_length = kept;
    strings->data.len = to;
    for (size_t i = 0; i < on->n_frame_class_str; i++) {
        on->frame_class_str[i] = in->string_map[on->frame_class_str[i]] - 1;
        on->frame_method_str[i] = in->string_map[on->frame_method_str[i]] - 1;
        on->frame_file_str[i] = in->string_map[on->frame_file_str[i]] - 1;
    }
}

static int cut_dictionary(Hotstack__V1__StackDictionary *on, const bool *wanted)
{
    cut in = {.on = on,
              .frame_map = calloc(on->n_frame_class_str + 1, sizeof(uint32_t)),
              .string_map = calloc(on->strings->n_length + 1, sizeof(uint32_t))};
    int rc = in.frame_map != NULL && in.string_map != NULL ? 0 : -1;
    if (rc == 0) {
        keep_wanted_stacks(&in, wanted);
        keep_used_frames(&in);
        keep_used_strings(&in);
    }
    free(in.frame_map);
    free(in.string_map);
    return rc;
}

int wire_dress(void *context, const uint8_t *entry, size_t length, bool all_stacks, uint8_t **out,
               size_t *out_length)
{
    wire *self = context;
    batch one;
    if (wire_decode(self, entry, length, &one) != 0) /* also checks every index of the columns */
        return -1;
    Hotstack__V1__ProfileBatch *message = wire__open(entry, length);
    bool *wanted = all_stacks ? NULL : choose_stacks(self, &one);
    int rc = message != NULL ? 0 : -1;
    if (rc == 0 && wanted != NULL)
        rc = cut_dictionary(message->stacks, wanted);
    if (rc == 0)
        rc = message_pack(&message->base, out, out_length);
    free(wanted);
    batch_clear(&one);
    if (message != NULL)
        hotstack__v1__profile_batch__free_unpacked(message, NULL);
    return rc;
}
