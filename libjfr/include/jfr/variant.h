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

/* What a value is. */
typedef enum jfr_variant_kind {
    JFR_VARIANT_NULL =
        0, /* a null string, a constant that is not there, a path that leads nowhere */
    JFR_VARIANT_BOOLEAN, /* integer: 0 or 1 */
    JFR_VARIANT_INTEGER, /* byte, short, int, long: integer */
    JFR_VARIANT_CHAR,    /* integer: a UTF-16 unit */
    JFR_VARIANT_FLOAT,   /* number */
    JFR_VARIANT_DOUBLE,  /* number */
    JFR_VARIANT_STRING,  /* text */
    JFR_VARIANT_TIME,    /* of jfr_columns_read only: integer, ns since 1970 UTC */
    JFR_VARIANT_SPAN,    /* of jfr_columns_read only: integer, ns */
    JFR_VARIANT_STRUCT,
    JFR_VARIANT_ARRAY, /* `count` elements */
    JFR_VARIANT_CUT    /* of jfr_variant_visit only: a struct or array below max_depth */
} jfr_variant_kind;

/*
 * A value of an event or of a constant pool. Structs and arrays are places in the recording that
 * the functions below look into. Integers are widened by their sign, or by zero where the field is
 * unsigned (an unsigned long is read as uint64_t).
 * `text` of a string: borrowed until the next jfr_events_next, jfr_event_at, jfr_chunk_constant,
 * jfr_columns_read or jfr_variant_visit on the chunk, at the latest until the chunk ends.
 */
typedef struct jfr_variant {
    uint8_t kind;      /* jfr_variant_kind */
    bool is_unsigned;  /* of INTEGER: the field is unsigned */
    bool is_element;   /* of jfr_variant_visit only: the value is an element of an array */
    uint32_t type;     /* index of the value's type (of the elements', for ARRAY) */
    uint32_t constant; /* index in the constant pool of `type` it came from, or JFR_NONE */
    uint32_t count;    /* of ARRAY */
    uint64_t offset;   /* of STRUCT, ARRAY: private: where it begins */
    uint64_t end;      /* of STRUCT, ARRAY: private: where reading must stop */
    union {
        int64_t integer;
        double number;
        jfr_str text;
        const jfr_field *elements; /* of ARRAY: private */
    };
} jfr_variant;

/*
 * How many constants the chunk has of a type, and one of them by its dense index.
 *   type   index of any type of jfr_chunk_types
 * The first call on a chunk goes through its constant pools.
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged), JFR_ERR_LIMIT
 * (max_pool_entries, max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_constant_count(jfr_chunk *chunk, uint32_t type,
                                                     uint32_t *count, jfr_error *err);
JFR_EXPORT JFR_MUST_USE int jfr_chunk_constant(jfr_chunk *chunk, uint32_t type, uint32_t index,
                                               jfr_variant *out, jfr_error *err);

/* The id that a constant has in the chunk's file. Errors: as above. */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_constant_id(jfr_chunk *chunk, uint32_t type, uint32_t index,
                                                  uint64_t *id, jfr_error *err);

/*
 * A field of a struct, an element of an array: by number, as in jfr_type.fields. The farther behind
 * it lies, the more is read over: to see all of them, jfr_variant_visit.
 * Errors: JFR_ERR_USAGE (no such field or element), JFR_ERR_FORMAT (the bytes do not fit the type),
 * JFR_ERR_LIMIT, JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_variant_field(jfr_chunk *chunk, const jfr_variant *from,
                                              uint32_t index, jfr_variant *out, jfr_error *err);
JFR_EXPORT JFR_MUST_USE int jfr_variant_element(jfr_chunk *chunk, const jfr_variant *from,
                                                uint32_t index, jfr_variant *out, jfr_error *err);

/*
 * Follows a path from a struct or array: field names with dots, array indices in brackets, through
 * constant pools: "stackTrace.frames[0].method.type.name", "sampledThread.javaName". A field's name
 * may have dots in it: the longest name that the rest of the path begins with is taken, and no
 * shorter one is tried after it.
 * Returns 1 when the types have that path: `out` is then the value, NULL where a constant on the
 * way is null or an array is too short. Returns 0 when the types do not have it.
 * Errors: JFR_ERR_FORMAT (the bytes do not fit the type), JFR_ERR_USAGE (not a path: an empty name,
 * a bracket that is not closed), JFR_ERR_LIMIT, JFR_ERR_NOMEM.
 * For many events: jfr/columns.h.
 */
JFR_EXPORT JFR_MUST_USE int jfr_variant_path(jfr_chunk *chunk, const jfr_variant *root,
                                             const char *path, jfr_variant *out, jfr_error *err);

/*
 * A number of a field with a unit as nanoseconds: of a point in time since 1970 UTC, of a duration.
 *   clock   jfr_chunk_get_info of the chunk
 * Returns false when the field has no such unit or the value says "none" (null, or the least long).
 * What does not fit is cut to the largest or least int64_t.
 */
JFR_EXPORT bool jfr_variant_time_ns(const jfr_chunk_info *clock, const jfr_field *field,
                                    const jfr_variant *value, int64_t *out);
JFR_EXPORT bool jfr_variant_span_ns(const jfr_chunk_info *clock, const jfr_field *field,
                                    const jfr_variant *value, int64_t *out);

/* How jfr_variant_visit shows a value's tree. Start from JFR_VISITOR_INIT. */
typedef struct jfr_visitor {
    size_t size; /* sizeof(jfr_visitor) */
    void *ctx;   /* passed on */
    /*
     * A struct or array begins. `field` is the field it is the value of (elements of an array have
     * the array's), NULL for the root; `index` counts the fields of its struct or the elements of
     * its array. Return 0 to go in, 1 to pass it over (no `end`), or a negative code to stop.
     */
    int (*begin)(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value);
    /* What began ends. Return 0, or a negative code to stop. */
    int (*end)(void *ctx, const jfr_field *field, const jfr_variant *value);
    /* Any other value. Return 0, or a negative code to stop. */
    int (*scalar)(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value);
    uint32_t max_depth;  /* structs and arrays in one another; what is deeper is CUT. 0 = 1,024 */
    uint32_t reserved;   /* 0 */
    uint64_t max_values; /* values of one visit, then JFR_ERR_LIMIT. 0 = 1,000,000 */
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
 * Walks a value's whole tree, constants resolved. A constant that contains itself is NULL there.
 * Returns 0, the negative code of a callback, or JFR_ERR_FORMAT (the bytes do not fit the type),
 * JFR_ERR_LIMIT (max_values, max_string_bytes, max_decoded_bytes), JFR_ERR_USAGE, JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_variant_visit(jfr_chunk *chunk, const jfr_variant *root,
                                              const jfr_visitor *visitor, jfr_error *err);

JFR_END_DECLS

#endif
