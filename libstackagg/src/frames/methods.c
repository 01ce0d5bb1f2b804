/* SPDX-License-Identifier: Apache-2.0 */
/* Methods and frames of an aggregate. */
#include <string.h>

#include "aggregate/aggregate_impl.h"
#include "fail_impl.h"
#include "frames/frame_impl.h"
#include "frames/id_impl.h"
#include "frames/utf8_impl.h"

struct wanted_method {
    const sagg *agg;
    const sagg_frame *frame;
};

static bool is_method(const void *context, uint32_t value)
{
    const struct wanted_method *wanted = context;
    const sagg__method *method = SAGG__AT(sagg__method, wanted->agg->methods.array, value);
    const sagg__names *names = &wanted->agg->names;
    return method->kind == wanted->frame->kind &&
           sagg__name_is(names, method->class_name, wanted->frame->class_name) &&
           sagg__name_is(names, method->method, wanted->frame->method);
}

/* Returns whether `a` is the better file name: it is not empty, and it is smaller bytewise. */
static bool better_file(sagg_str a, sagg_str b)
{
    if (a.size == 0 || b.size == 0)
        return a.size > 0;
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order < 0 || (order == 0 && a.size < b.size);
}

static int offer_file(sagg *agg, uint32_t method, sagg_str file)
{
    sagg__method *row = SAGG__AT(sagg__method, agg->methods.array, method);
    if (!better_file(file, sagg__name_get(&agg->names, row->file)))
        return 0;
    uint32_t number;
    int rc = sagg__name_add(&agg->mem, &agg->names, file, &number);
    if (rc == 0)
        row->file = number;
    return rc;
}

static bool find_method(const sagg *agg, uint32_t *index, const sagg_frame *frame, uint64_t *hash)
{
    struct wanted_method wanted = {agg, frame};
    *hash = sagg__method_hash(frame->kind, frame->class_name, frame->method);
    return sagg__index_find(&agg->methods.index, *hash, is_method, &wanted, index);
}

static int add_method(sagg *agg, uint32_t *index, const sagg_frame *frame)
{
    sagg__method method = {.kind = frame->kind};
    if (find_method(agg, index, frame, &method.hash))
        return 0;
    int rc = sagg__set_reserve(agg, &agg->methods, sizeof(method));
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, frame->class_name, &method.class_name);
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, frame->method, &method.method);
    if (rc != 0)
        return rc;
    *index = agg->methods.count++;
    *SAGG__AT(sagg__method, agg->methods.array, *index) = method;
    sagg__index_put(&agg->methods.index, method.hash, *index);
    return 0;
}

struct wanted_frame {
    const sagg *agg;
    const sagg__frame *frame;
};

static bool is_frame(const void *context, uint32_t value)
{
    const struct wanted_frame *wanted = context;
    const sagg__frame *frame = SAGG__AT(sagg__frame, wanted->agg->frames.array, value);
    return frame->method == wanted->frame->method && frame->line == wanted->frame->line;
}

/* Interns the frame of a method at a line. Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. */
static int intern_line(sagg *agg, uint32_t *index, uint32_t method, uint32_t line)
{
    const sagg__method *of = SAGG__AT(sagg__method, agg->methods.array, method);
    sagg__frame row = {sagg__frame_id(of->hash, line), method, line};
    struct wanted_frame wanted = {agg, &row};
    if (sagg__index_find(&agg->frames.index, row.id, is_frame, &wanted, index))
        return 0;
    int rc = sagg__set_reserve(agg, &agg->frames, sizeof(row));
    if (rc != 0)
        return rc;
    *index = agg->frames.count++;
    *SAGG__AT(sagg__frame, agg->frames.array, *index) = row;
    sagg__index_put(&agg->frames.index, row.id, *index);
    return 0;
}

static int intern_method(sagg *agg, uint32_t *method, const sagg_frame *frame)
{
    int rc = add_method(agg, method, frame);
    return rc != 0 ? rc : offer_file(agg, *method, frame->file);
}

int sagg__intern_frame(sagg *agg, uint32_t *index, const sagg_frame *frame)
{
    uint32_t method;
    int rc = intern_method(agg, &method, frame);
    return rc != 0 ? rc : intern_line(agg, index, method, frame->line);
}

/* Cleans and normalises a frame's names in scratch memory; the file is only cleaned. */
static int prepare(sagg *agg, sagg_frame *out, const sagg_frame *frame, sagg_error *err)
{
    if (!sagg__kind_known(frame->kind))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "A frame has the unknown kind %u: use 0 to 4.",
                          frame->kind);
    size_t names = sagg__frame_room(frame);
    char *room = sagg__scratch(agg, names + sagg__clean_room(frame->file.size));
    if (room == NULL)
        return sagg__no_memory(err);
    sagg__frame_prepare(out, room, frame, agg->normaliser);
    out->file.data = room + names;
    out->file.size = sagg__clean(room + names, frame->file.data, frame->file.size);
    return 0;
}

static int fail_interning(sagg *agg, int rc, sagg_error *err)
{
    if (rc == SAGG_ERR_LIMIT) {
        agg->full = true;
        return sagg__fail(err, rc, 0,
                          "The aggregate's byte cap is reached: give the frame's stacks as "
                          "SAGG_DROPPED, or call sagg_compact.");
    }
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_add_frame(sagg *agg, uint32_t *frame_index, const sagg_frame *frame, sagg_error *err)
{
    sagg_frame prepared;
    int rc = prepare(agg, &prepared, frame, err);
    if (rc != 0)
        return rc;
    return fail_interning(agg, sagg__intern_frame(agg, frame_index, &prepared), err);
}

int sagg_add_method(sagg *agg, uint32_t *method, const sagg_frame *frame, sagg_error *err)
{
    sagg_frame prepared;
    uint64_t hash;
    /* Stored names are clean and normalised, so equal names need no preparation. */
    if (frame->file.size == 0 && find_method(agg, method, frame, &hash))
        return 0;
    int rc = prepare(agg, &prepared, frame, err);
    if (rc != 0)
        return rc;
    return fail_interning(agg, intern_method(agg, method, &prepared), err);
}

int sagg_add_line(sagg *agg, uint32_t *frame_index, uint32_t method, uint32_t line, sagg_error *err)
{
    if (method >= agg->methods.count)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Method %u does not exist: indices of methods are void after "
                          "sagg_compact.",
                          method);
    return fail_interning(agg, intern_line(agg, frame_index, method, line), err);
}
