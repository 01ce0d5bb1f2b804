/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_VARIANT_H
#define JFR_VARIANT_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/settings.h>
#include <jfr/string.h>
#include <jfr/type.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* The kind of a value, and the member of jfr_variant's union that holds it. */
typedef enum jfr_variant_kind {
    JFR_VARIANT_NULL = 0, /* a null string, a missing constant, or a path that ends early */
    JFR_VARIANT_BOOLEAN,  /* integer: 0 or 1 */
    JFR_VARIANT_INTEGER,  /* byte, short, int, long: integer */
    JFR_VARIANT_CHAR,     /* integer: a UTF-16 unit */
    JFR_VARIANT_FLOAT,    /* number */
    JFR_VARIANT_DOUBLE,   /* number */
    JFR_VARIANT_STRING,   /* text */
    JFR_VARIANT_TIME,     /* from jfr_columns_read only: integer, ns since 1970 UTC */
    JFR_VARIANT_SPAN,     /* from jfr_columns_read only: integer, ns */
    JFR_VARIANT_STRUCT,
    JFR_VARIANT_ARRAY, /* `count` elements */
    JFR_VARIANT_CUT    /* from jfr_variant_visit only: a struct or array below max_depth */
} jfr_variant_kind;

/*
 * A value of an event or of a constant pool. A struct or array is a place in the recording, from
 * which the functions below read. Integers are sign-extended, or zero-extended where the field is
 * unsigned (read an unsigned long as uint64_t). The `text` of a string is borrowed until the next
 * jfr_events_next, jfr_event_at, jfr_chunk_constant, jfr_columns_read or jfr_variant_visit on the
 * chunk, or until the chunk ends.
 */
typedef struct jfr_variant {
    uint8_t kind;      /* jfr_variant_kind */
    bool is_unsigned;  /* INTEGER: the field is unsigned */
    bool is_element;   /* in jfr_variant_visit: the value is an element of an array */
    uint32_t type;     /* index of the value's type; ARRAY: of its elements' type */
    uint32_t constant; /* the value's index in the constant pool of `type`, or JFR_NONE */
    uint32_t count;    /* ARRAY: how many elements */
    uint64_t offset;   /* STRUCT, ARRAY; private: where it begins */
    uint64_t end;      /* STRUCT, ARRAY; private: where reading must stop */
    union {
        int64_t integer;
        double number;
        jfr_str text;
        const jfr_field *elements; /* ARRAY; private */
    };
} jfr_variant;

/*
 * Count the constants that the chunk has of a type, and read one by its dense index.
 *   type   index of a type of jfr_chunk_types
 * The first call on a chunk walks its constant pools.
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged), JFR_ERR_LIMIT
 * (max_pool_entries, max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_constant_count(jfr_chunk *chunk, uint32_t type,
                                                     uint32_t *count, jfr_error *err);
JFR_EXPORT JFR_MUST_USE int jfr_chunk_constant(jfr_chunk *chunk, uint32_t type, uint32_t index,
                                               jfr_variant *out, jfr_error *err);

/* Gives the id that a constant has in the file. Errors: as above. */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_constant_id(jfr_chunk *chunk, uint32_t type, uint32_t index,
                                                  uint64_t *id, jfr_error *err);

/*
 * Read field `index` of a struct, in the order of jfr_type.fields, or element `index` of an array.
 * The library skips all fields or elements before it: to read all of them, use jfr_variant_visit.
 * Errors: JFR_ERR_USAGE (no such field or element), JFR_ERR_FORMAT (the bytes do not fit the type),
 * JFR_ERR_LIMIT, JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_variant_field(jfr_chunk *chunk, const jfr_variant *from,
                                              uint32_t index, jfr_variant *out, jfr_error *err);
JFR_EXPORT JFR_MUST_USE int jfr_variant_element(jfr_chunk *chunk, const jfr_variant *from,
                                                uint32_t index, jfr_variant *out, jfr_error *err);

/*
 * Follows a path from a struct or array: field names separated by dots, with array indices in
 * brackets: "stackTrace.frames[0].method.type.name", "sampledThread.javaName". It passes through
 * constant pools. A field's name may contain dots; the longest name that the rest of the path
 * begins with is taken, and no shorter one is tried.
 * Returns 1 with the value when the types have that path; the value is NULL when a constant on the
 * path is null or an array is too short. Returns 0 when the types do not have the path.
 * Errors: JFR_ERR_FORMAT (the bytes do not fit the type), JFR_ERR_USAGE (not a path: an empty name,
 * a bracket that is not closed), JFR_ERR_LIMIT, JFR_ERR_NOMEM.
 * To read a path of many events, use jfr/columns.h.
 */
JFR_EXPORT JFR_MUST_USE int jfr_variant_path(jfr_chunk *chunk, const jfr_variant *root,
                                             const char *path, jfr_variant *out, jfr_error *err);

/*
 * Convert the number of a field with a unit to nanoseconds: a point in time since 1970 UTC, or a
 * duration.
 *   clock   the chunk's jfr_chunk_get_info
 * Return false when the field has no such unit or the value says "none" (null, or the least long).
 * A result that does not fit becomes the largest or least int64_t.
 */
JFR_EXPORT bool jfr_variant_time_ns(const jfr_chunk_info *clock, const jfr_field *field,
                                    const jfr_variant *value, int64_t *out);
JFR_EXPORT bool jfr_variant_span_ns(const jfr_chunk_info *clock, const jfr_field *field,
                                    const jfr_variant *value, int64_t *out);

/* Callbacks for the values of a tree. Start from JFR_VISITOR_INIT. */
typedef struct jfr_visitor {
    size_t size; /* sizeof(jfr_visitor) */
    void *ctx;   /* passed to each callback */
    /*
     * A struct or array begins. `field` is the field that holds it: for an element of an array the
     * array's field, for the root NULL. `index` is its number in the enclosing struct or array.
     * Return 0 to visit its contents, 1 to skip them (`end` is not called then), or a negative code
     * to stop.
     */
    int (*begin)(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value);
    /* The struct or array ends. Return 0, or a negative code to stop. */
    int (*end)(void *ctx, const jfr_field *field, const jfr_variant *value);
    /* Any other value. Return 0, or a negative code to stop. */
    int (*scalar)(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value);
    uint32_t max_depth;  /* nesting of structs and arrays; deeper ones are CUT. 0 = 1,024 */
    uint32_t reserved;   /* 0 */
    uint64_t max_values; /* values in one visit; more fail with JFR_ERR_LIMIT. 0 = 1,000,000 */
} jfr_visitor;

#ifdef __cplusplus
#define JFR_VISITOR_INIT                                                                           \
    [] {                                                                                           \
        jfr_visitor init_ = jfr_visitor();                                                         \
        init_.size = sizeof(jfr_visitor);                                                          \
        return init_;                                                                              \
    }()
#else
#define JFR_VISITOR_INIT                                                                           \
    {                                                                                              \
        .size = sizeof(jfr_visitor)                                                                \
    }
#endif

/*
 * Calls `visitor` for each value of a tree, with constants resolved. Where a constant contains
 * itself, the inner one is given as NULL. Returns 0, the negative code of a callback, or
 * JFR_ERR_FORMAT (the bytes do not fit the type), JFR_ERR_LIMIT (max_values, max_string_bytes,
 * max_decoded_bytes), JFR_ERR_USAGE, JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_variant_visit(jfr_chunk *chunk, const jfr_variant *root,
                                              const jfr_visitor *visitor, jfr_error *err);

JFR_END_DECLS

#endif
