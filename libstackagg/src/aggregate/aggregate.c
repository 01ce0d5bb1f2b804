/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees an aggregate, and adds to it. */
#include "aggregate/aggregate_impl.h"

#include <string.h>

#include "fail_impl.h"
#include "frames/frame_impl.h"
#include "options_impl.h"

#define DEFAULT_MAX_STACKS  200000u
#define DEFAULT_MAX_THREADS 10000u
#define DEFAULT_MAX_FRAMES  2048u
#define DEFAULT_MAX_BYTES   (UINT64_C(512) << 20)
#define LEAST_MAX_BYTES     (UINT64_C(1) << 20)
#define MOST_SECONDS        86400u
#define MOST_STACKS         (UINT32_MAX / 8)

/* Copies the known part of the caller's options; the rest of a longer struct must be zero. */
static int read_options(sagg_options *out, const sagg_options *given, sagg_error *err)
{
    memset(out, 0, sizeof(*out));
    if (given == NULL || given->size < offsetof(sagg_options, normaliser))
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "sagg_new needs options with the table of types: start from "
                          "SAGG_OPTIONS_INIT.");
    return sagg__options_copy(out, sizeof(*out), given,
                              "The options have fields set that this library does not know: use a "
                              "newer libstackagg.",
                              err);
}

static int check_caps(const sagg_options *o, sagg_error *err)
{
    if (!sagg__version_known(o->normaliser))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Option normaliser is %d: use 0 or 1.",
                          o->normaliser);
    if (o->group < SAGG_BY_THREAD || o->group > SAGG_BY_NONE)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Option group is %d: use enum sagg_group.",
                          o->group);
    if (o->max_frames == 1)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Option max_frames is 1: it must be at least 2.");
    if (o->max_stacks > MOST_STACKS || o->max_threads > MOST_STACKS)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Options max_stacks and max_threads must not pass %u.", MOST_STACKS);
    if (o->max_bytes != 0 && o->max_bytes < LEAST_MAX_BYTES)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Option max_bytes is below 1 MiB: raise it.");
    if (o->seconds > MOST_SECONDS)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Option seconds is %u: at most %u are kept.",
                          o->seconds, MOST_SECONDS);
    const sagg_allocator *a = &o->allocator;
    bool any = a->alloc != NULL || a->realloc != NULL || a->free != NULL;
    bool all = a->alloc != NULL && a->realloc != NULL && a->free != NULL;
    if (any && !all)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Set all functions of the allocator or none.");
    return 0;
}

static int check_types(const sagg_options *o, sagg_error *err)
{
    if (o->types == NULL || o->type_count == 0 || o->type_count > SAGG_MAX_TYPE)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "The table of types must have 1 to %u rows.",
                          SAGG_MAX_TYPE);
    uint64_t seen = 0;
    for (size_t i = 0; i < o->type_count; i++) {
        const sagg_type *type = &o->types[i];
        bool valid =
            type->id >= 1 && type->id <= SAGG_MAX_TYPE && type->name != NULL && type->unit != NULL;
        if (!valid || (seen >> type->id & 1) != 0)
            return sagg__fail(err, SAGG_ERR_USAGE, 0,
                              "Row %zu of the table of types is not valid: ids are distinct, 1 to "
                              "%u, with a name and a unit.",
                              i, SAGG_MAX_TYPE);
        seen |= UINT64_C(1) << type->id;
    }
    return 0;
}

static const char *append_text(char *text, size_t *at, const char *from)
{
    size_t size = strlen(from) + 1;
    char *to = text + *at;
    memcpy(to, from, size);
    *at += size;
    return to;
}

static int copy_types(sagg *agg, const sagg_options *o)
{
    size_t bytes = 0;
    for (size_t i = 0; i < o->type_count; i++)
        bytes += strlen(o->types[i].name) + strlen(o->types[i].unit) + 2;
    agg->type_text = sagg__alloc(&agg->mem, bytes);
    if (agg->type_text == NULL)
        return SAGG_ERR_NOMEM;
    agg->type_text_size = bytes;
    memset(agg->slot_of, SAGG__NO_SLOT, sizeof(agg->slot_of));
    size_t at = 0;
    for (size_t i = 0; i < o->type_count; i++) {
        agg->types[i].id = o->types[i].id;
        agg->types[i].name = append_text(agg->type_text, &at, o->types[i].name);
        agg->types[i].unit = append_text(agg->type_text, &at, o->types[i].unit);
        agg->slot_of[o->types[i].id] = (uint8_t)i;
    }
    agg->type_count = (uint32_t)o->type_count;
    return 0;
}

static void release_name(sagg *agg, uint32_t slot)
{
    char *name = agg->renamed[slot];
    sagg__release(&agg->mem, name, name != NULL ? strlen(name) + 1 : 0);
}

int sagg_type_rename(sagg *agg, uint32_t type, const char *name, sagg_error *err)
{
    uint32_t slot = type <= SAGG_MAX_TYPE ? agg->slot_of[type] : SAGG__NO_SLOT;
    size_t size = strlen(name) + 1;
    if (slot == SAGG__NO_SLOT)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Profile type %u is not in the aggregate's table.", type);
    char *copy = sagg__alloc(&agg->mem, size);
    if (copy == NULL)
        return sagg__no_memory(err);
    memcpy(copy, name, size);
    release_name(agg, slot);
    agg->renamed[slot] = copy;
    agg->types[slot].name = copy;
    return 0;
}

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value != 0 ? value : fallback;
}

static void set_caps(sagg *agg, const sagg_options *o)
{
    agg->normaliser = o->normaliser;
    agg->group = o->group;
    agg->max_stacks = or_default(o->max_stacks, DEFAULT_MAX_STACKS);
    agg->max_threads = or_default(o->max_threads, DEFAULT_MAX_THREADS);
    agg->max_frames = or_default(o->max_frames, DEFAULT_MAX_FRAMES);
    agg->origin_ns = o->origin_ns;
    agg->seconds = o->seconds;
}

static int fill_first_rows(sagg *agg, const sagg_options *o)
{
    uint32_t label;
    int rc = copy_types(agg, o);
    if (rc == 0)
        rc = sagg__names_init(&agg->mem, &agg->names);
    if (rc == 0)
        rc = sagg__add_stack_zero(agg);
    if (rc == 0)
        rc = sagg__add_first_threads(agg);
    if (rc == 0)
        rc = sagg_add_label(agg, &label, 0, (sagg_str){NULL, 0}, NULL);
    if (rc == 0)
        rc = sagg__seconds_init(agg);
    return rc;
}

int sagg_new(sagg **out, const sagg_options *options, sagg_error *err)
{
    sagg_options o;
    int rc = read_options(&o, options, err);
    if (rc == 0)
        rc = check_caps(&o, err);
    if (rc == 0)
        rc = check_types(&o, err);
    if (rc != 0)
        return rc;
    sagg__mem mem;
    sagg__mem_init(&mem, &o.allocator, o.max_bytes != 0 ? o.max_bytes : DEFAULT_MAX_BYTES);
    sagg *agg = sagg__alloc_zero(&mem, 1, sizeof(*agg));
    if (agg == NULL)
        return sagg__no_memory(err);
    agg->mem = mem;
    set_caps(agg, &o);
    rc = fill_first_rows(agg, &o);
    if (rc != 0) {
        sagg_free(agg);
        if (rc == SAGG_ERR_NOMEM)
            return sagg__no_memory(err);
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "The per-second totals alone would pass max_bytes: lower option seconds "
                          "or raise max_bytes.");
    }
    *out = agg;
    return 0;
}

void sagg__set_free(sagg *agg, sagg__set *set, size_t each)
{
    sagg__array_free(&agg->mem, &set->array, each);
    sagg__index_free(&agg->mem, &set->index);
}

void sagg_free(sagg *agg)
{
    if (agg == NULL)
        return;
    for (uint32_t i = 0; i < agg->type_count; i++)
        release_name(agg, i);
    sagg__release(&agg->mem, agg->type_text, agg->type_text_size);
    sagg__names_free(&agg->mem, &agg->names);
    sagg__set_free(agg, &agg->methods, sizeof(sagg__method));
    sagg__set_free(agg, &agg->frames, sizeof(sagg__frame));
    sagg__set_free(agg, &agg->stacks, sizeof(sagg__stack));
    sagg__array_free(&agg->mem, &agg->stack_frames, sizeof(uint16_t));
    sagg__set_free(agg, &agg->threads, sizeof(sagg__thread));
    sagg__set_free(agg, &agg->labels, sizeof(sagg__label));
    sagg__set_free(agg, &agg->entries, sizeof(sagg__kept));
    sagg__array_free(&agg->mem, &agg->high_samples, sizeof(uint32_t));
    sagg__array_free(&agg->mem, &agg->thread_totals, sizeof(sagg_totals));
    sagg__array_free(&agg->mem, &agg->dropped, sizeof(sagg_totals));
    sagg__set_free(agg, &agg->second_rows, sizeof(sagg__second_row));
    sagg__array_free(&agg->mem, &agg->second_values, sizeof(uint64_t));
    sagg__array_free(&agg->mem, &agg->scratch, 1);
    sagg__mem mem = agg->mem;
    sagg__release(&mem, agg, sizeof(*agg));
}

void sagg_expect(sagg *agg, uint32_t stacks, uint32_t entries)
{
    sagg__mem *mem = &agg->mem;
    uint64_t bytes =
        (uint64_t)stacks * sizeof(sagg__stack) + (uint64_t)entries * sizeof(sagg__kept);
    sagg__index_expect(mem, &agg->stacks.index, stacks);
    if (mem->used + bytes < mem->cap / 4)
        (void)(sagg__extend(mem, &agg->stacks.array, stacks, sizeof(sagg__stack)) == 0 &&
               sagg__extend(mem, &agg->entries.array, entries, sizeof(sagg__kept)) == 0);
}

void *sagg__scratch(sagg *agg, size_t bytes)
{
    uint64_t cap = agg->mem.cap;
    agg->mem.cap = UINT64_MAX; /* its size is bounded by other caps; dropping needs it */
    int rc = sagg__extend(&agg->mem, &agg->scratch, bytes > 0 ? bytes : 1, 1);
    agg->mem.cap = cap;
    return rc == 0 ? agg->scratch.items : NULL;
}
