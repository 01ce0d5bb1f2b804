/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes check 13 of docs/formats/ingest.md, section Order of checks: the dictionary. Each stack's
 * id must equal the one computed from its frames by docs/formats/stack-id.md. Every frame is
 * normalised and hashed once, even if many stacks contain it.
 */
#include <stdlib.h>
#include <string.h>

#include <stackagg/stackagg.h>

#include <contract/check.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NORMALISERS = 2, KINDS = 5 };
_Static_assert(NORMALISERS == 2, "check_ids tells versions 0 and 1 apart");

/* The ids of all frames for each normaliser version, computed when a stack first needs the version.
 */
typedef struct frame_ids {
    const stack_dictionary *dictionary;
    uint64_t *ids[NORMALISERS];
    uint64_t *buffer; /* the frame ids of one stack */
} frame_ids;

static int check_shape(const stack_dictionary *d, const ingest_limits *limits, verdict *v)
{
    size_t stacks = d->stack_ids.length / STACK_ID_BYTES;
    const named_column frames[] = {{"frame_class_str", d->frame_class.count},
                                   {"frame_method_str", d->frame_method.count},
                                   {"frame_file_str", d->frame_file.count},
                                   {"frame_line", d->frame_line.count},
                                   {"frame_kind", d->frame_kind.length}};
    const named_column columns[] = {{"stack_ids", stacks},
                                    {"normaliser", d->normaliser.length},
                                    {"stack_depth", d->stack_depth.count},
                                    {"stack_flags", d->stack_flags.length}};

    if (d->stack_ids.length % STACK_ID_BYTES != 0)
        return verdict_reject(v, "bad_stacks",
                              "stacks.stack_ids has %zu bytes; it must be a multiple of 16.",
                              d->stack_ids.length);
    if (check_lengths("stacks", frames, COUNT(frames), "bad_stacks", v) != 0 ||
        check_lengths("stacks", columns, COUNT(columns), "bad_stacks", v) != 0)
        return -1;
    if (stacks > limits->stacks_per_batch)
        return verdict_reject(v, "too_many_rows",
                              "stacks has %zu entries; at most %llu are "
                              "allowed.",
                              stacks, (unsigned long long)limits->stacks_per_batch);
    return 0;
}

static int check_depths(const stack_dictionary *d, const ingest_limits *limits, verdict *v)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < d->stack_depth.count; i++) {
        if (d->stack_depth.at[i] > limits->frames_per_stack)
            return verdict_reject(v, "bad_stacks",
                                  "stacks.stack_depth: entry %zu is %u; at most %llu frames are "
                                  "allowed.",
                                  i, d->stack_depth.at[i],
                                  (unsigned long long)limits->frames_per_stack);
        sum += d->stack_depth.at[i];
    }
    if (sum != d->stack_frame.count)
        return verdict_reject(v, "bad_stacks",
                              "stacks.stack_frame has %zu entries, but the depths add up to %llu.",
                              d->stack_frame.count, (unsigned long long)sum);
    return 0;
}

static int check_bytes(const char *name, text column, unsigned bound, verdict *v)
{
    for (size_t i = 0; i < column.length; i++) {
        unsigned value = (unsigned char)column.data[i];
        if (value >= bound)
            return verdict_reject(v, "bad_stacks",
                                  "stacks.%s: entry %zu is %u; below %u is "
                                  "understood here.",
                                  name, i, value, bound);
    }
    return 0;
}

static int check_dictionary_ranges(const stack_dictionary *d, verdict *v)
{
    size_t strings = d->strings.length.count;

    if (check_indexes("stacks.frame_class_str", d->frame_class, strings, "bad_stacks", v) != 0 ||
        check_indexes("stacks.frame_method_str", d->frame_method, strings, "bad_stacks", v) != 0 ||
        check_indexes("stacks.frame_file_str", d->frame_file, strings, "bad_stacks", v) != 0 ||
        check_indexes("stacks.stack_frame", d->stack_frame, d->frame_class.count, "bad_stacks",
                      v) != 0 ||
        check_bytes("frame_kind", d->frame_kind, KINDS, v) != 0)
        return -1;
    return check_bytes("normaliser", d->normaliser, NORMALISERS, v);
}

static sagg_str to_sagg(const string_columns *strings, uint32_t index)
{
    text value = string_at(strings, index);

    return (sagg_str){value.data, value.length};
}

static int hash_frame(uint64_t *out, const stack_dictionary *d, size_t i, int version, verdict *v)
{
    sagg_frame given = {.class_name = to_sagg(&d->strings, d->frame_class.at[i]),
                        .method = to_sagg(&d->strings, d->frame_method.at[i]),
                        .line = d->frame_line.at[i],
                        .kind = (uint8_t)d->frame_kind.data[i]};
    sagg_frame normal;
    char *storage = NULL;

    if (sagg_frame_normalise(&normal, &storage, &given, version, NULL) != 0)
        return check_no_memory(v);
    sagg_frame_hash(NULL, out, &normal);
    free(storage);
    return 0;
}

static int make_frame_ids(frame_ids *frames, int version, verdict *v)
{
    size_t count = frames->dictionary->frame_class.count;
    uint64_t *ids = malloc((count + 1) * sizeof(*ids));

    if (ids == NULL)
        return check_no_memory(v);
    frames->ids[version] = ids;
    for (size_t i = 0; i < count; i++) {
        if (hash_frame(&ids[i], frames->dictionary, i, version, v) != 0)
            return -1;
    }
    return 0;
}

static int hash_stack(sagg_stack_id *out, frame_ids *frames, int version, const uint32_t *stack,
                      uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        frames->buffer[i] = frames->ids[version][stack[i]];
    return sagg_stack_id_of_frame_ids(out, frames->buffer, depth, version, NULL);
}

static int check_ids(frame_ids *frames, verdict *v)
{
    const stack_dictionary *d = frames->dictionary;
    const uint32_t *stack = d->stack_frame.at;
    sagg_stack_id id;

    for (size_t i = 0; i < d->stack_depth.count; i++) {
        /* Other versions do not pass the range check. */
        int version = d->normaliser.data[i] == 0 ? 0 : 1;
        if (frames->ids[version] == NULL && make_frame_ids(frames, version, v) != 0)
            return -1;
        if (hash_stack(&id, frames, version, stack, d->stack_depth.at[i]) != 0 ||
            memcmp(id.bytes, d->stack_ids.data + i * STACK_ID_BYTES, STACK_ID_BYTES) != 0)
            return verdict_reject(v, "stack_id_mismatch",
                                  "stacks.stack_ids: entry %zu is not the id of its %u frames.", i,
                                  d->stack_depth.at[i]);
        stack += d->stack_depth.at[i];
    }
    return 0;
}

int check_stacks(stack_dictionary *d, const ingest_limits *limits, verdict *v)
{
    frame_ids frames = {.dictionary = d};

    if (check_shape(d, limits, v) != 0 || check_depths(d, limits, v) != 0 ||
        check_dictionary_ranges(d, v) != 0 || check_frame_texts(d, limits, v) != 0)
        return -1;
    frames.buffer = calloc(limits->frames_per_stack + 1, sizeof(*frames.buffer));
    int rc = frames.buffer != NULL ? check_ids(&frames, v) : check_no_memory(v);
    free(frames.buffer);
    free(frames.ids[0]);
    free(frames.ids[1]);
    return rc;
}
