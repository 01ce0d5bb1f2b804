/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_GENERIC_H
#define JFR_SRC_GENERIC_H

/*
 * Events and values of any type. All of this is built when it is first needed and lives in the
 * chunk's arena, so it costs nothing to callers that only read samples.
 */
#include "read/reader_impl.h"

typedef struct jfr__constant {
    uint64_t id;
    uint64_t offset; /* of its value */
} jfr__constant;

/* The constants of one type, over all checkpoints. */
typedef struct jfr__constants {
    jfr__idmap index; /* id to dense index */
    jfr__constant *list;
} jfr__constants;

/* How to read the times of an event type; each plan skips the fields before its time. */
typedef struct jfr__event_times {
    bool known;
    bool has_start;
    bool has_duration;
    jfr__plan to_start;
    jfr__plan to_duration; /* from the field after the start time */
} jfr__event_times;

typedef struct jfr__generic {
    jfr_type *types;
    uint32_t type_count;
    bool *contents;            /* by type: it is an annotation that states the content of a field */
    jfr__plan *skips;          /* by type: how to skip a value; ops is NULL until needed */
    jfr__event_times *times;   /* by type */
    jfr__constants *constants; /* by type; NULL until the pools are indexed */
    jfr_allocator from_arena;  /* the allocator of the index maps; never frees */
} jfr__generic;

/* Limit of nested simple types; no valid file has more. */
enum { JFR__MAX_WRAPPED = 8 };

/* schema.c: `out` is borrowed until the chunk ends. */
int jfr__generic_get(jfr_chunk *chunk, jfr__generic **out, jfr_error *err);

/* constants.c: finds a constant. Returns 1 with its dense index and offset, 0 when there is none,
 * or a negative code. */
int jfr__constant_find(jfr_chunk *chunk, uint32_t type, uint64_t id, uint32_t *index,
                       uint64_t *offset, jfr_error *err);

/* skip.c: gives the plans that skip a value of a type, and `count` fields of a type from `first`
 * on. */
int jfr__skip_of(jfr_chunk *chunk, uint32_t type, const jfr__plan **out, jfr_error *err);
int jfr__skip_fields(jfr_chunk *chunk, uint32_t type, uint32_t first, uint32_t count,
                     jfr__plan *out, jfr_error *err);
/* Skips one value of a field, or one element of its array. */
int jfr__skip_value(jfr_chunk *chunk, const jfr_field *field, bool element, jfr__cursor *c,
                    jfr_error *err);

/*
 * variant.c: reads the value of a field (`element`: of one element of its array) at the cursor.
 * Moves the cursor past scalars and references, but not past structs and arrays, whose content the
 * caller may read. Converted strings go to `arena`.
 */
int jfr__variant_read(jfr_chunk *chunk, const jfr_field *field, bool element, jfr__cursor *c,
                      jfr__arena *arena, jfr_variant *out, jfr_error *err);
/* Reads constant `index`, which is at `offset`. */
int jfr__constant_read(jfr_chunk *chunk, uint32_t type, uint32_t index, uint64_t offset,
                       jfr__arena *arena, jfr_variant *out, jfr_error *err);

/* Returns a cursor over a struct or array. */
static inline jfr__cursor jfr__variant_cursor(const jfr_chunk *chunk, const jfr_variant *value)
{
    return jfr__chunk_cursor(chunk, value->offset, value->end);
}

/* The position of a path in the types. */
typedef struct jfr__spot {
    const jfr_field *field; /* the last field that was named */
    uint32_t index;         /* its place in its type */
    uint32_t type;          /* of the value, or of the array's elements */
    bool is_array;
} jfr__spot;
/* path.c: one part of a path. */
typedef struct jfr__part {
    bool by_index;
    uint32_t index; /* of the element or field; JFR_NONE: the type has no such field */
} jfr__part;
/* Removes the next part, at `spot`, from `*rest`. Returns 1 with it, 0 at the end, or
 * JFR_ERR_USAGE. */
int jfr__path_next(const jfr_type *types, const jfr__spot *spot, const char **rest, jfr__part *out,
                   jfr_error *err);

/* Follows one part. Returns false when the types do not have it. */
bool jfr__spot_step(const jfr_type *types, jfr__spot *spot, const jfr__part *part);

int jfr__bad_value(uint64_t offset, jfr_error *err);

#endif
