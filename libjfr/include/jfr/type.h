/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_TYPE_H
#define JFR_TYPE_H

#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/settings.h>
#include <jfr/string.h>
#include <stdbool.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* How values of a type are stored in the file. */
typedef enum jfr_kind {
    JFR_KIND_STRUCT = 0, /* its fields in order */
    JFR_KIND_BOOLEAN,
    JFR_KIND_BYTE,
    JFR_KIND_CHAR,
    JFR_KIND_SHORT,
    JFR_KIND_INT,
    JFR_KIND_LONG,
    JFR_KIND_FLOAT,
    JFR_KIND_DOUBLE,
    JFR_KIND_STRING
} jfr_kind;

/* The unit of a number that is a time, by the field's annotation jdk.jfr.Timestamp or Timespan. */
typedef enum jfr_unit {
    JFR_UNIT_NONE = 0,
    JFR_UNIT_TIME_TICKS, /* a point in time, in ticks of the chunk's clock */
    JFR_UNIT_TIME_MS,    /* a point in time, milliseconds since 1970 UTC */
    JFR_UNIT_SPAN_TICKS, /* a duration, as all below */
    JFR_UNIT_SPAN_NS,
    JFR_UNIT_SPAN_US,
    JFR_UNIT_SPAN_MS,
    JFR_UNIT_SPAN_S
} jfr_unit;

/* One element of an annotation: "value" = "BYTES". An array has elements "value-0", "value-1", ...
 */
typedef struct jfr_annotation_value {
    jfr_str name;
    jfr_str text;
} jfr_annotation_value;

/* An annotation of a type or a field, as in the recorder's Java source. */
typedef struct jfr_annotation {
    jfr_str name; /* its class: "jdk.jfr.Label"; null when the chunk does not define the class */
    const jfr_annotation_value *values;
    uint32_t value_count;
} jfr_annotation;

/* A field of a type. */
typedef struct jfr_field {
    jfr_str name;
    jfr_str label;        /* null where there is none */
    jfr_str description;  /* null where there is none */
    jfr_str content;      /* class of its content annotation: "jdk.jfr.DataAmount", ...; or null */
    jfr_str content_unit; /* value of the content annotation: "BYTES", "TICKS", ...; or null */
    uint32_t type;        /* index of its type, or its elements' type; JFR_NONE when undefined */
    uint8_t kind;         /* jfr_kind of its values; a simple type has the kind that it wraps */
    uint8_t unit;         /* jfr_unit */
    bool is_array;
    bool is_constant; /* its values are in the constant pool of its type */
    bool is_unsigned; /* jdk.jfr.Unsigned */
    const jfr_annotation *annotations;
    uint32_t annotation_count;
} jfr_field;

/* A type that a chunk defines, for events, values or annotations. Each chunk has its own ids. */
typedef struct jfr_type {
    uint64_t id;
    uint32_t index; /* its place in jfr_chunk_types */
    uint8_t kind;   /* jfr_kind */
    bool is_event;
    bool is_simple;     /* it wraps one field, whose value stands for it */
    jfr_str name;       /* "jdk.ExecutionSample", "java.lang.Thread", "int" */
    jfr_str super_name; /* null where there is none */
    jfr_str label;
    jfr_str description;
    const jfr_field *fields;
    uint32_t field_count;
    const jfr_annotation *annotations;
    uint32_t annotation_count;
} jfr_type;

/*
 * Gives all types of the chunk, in the file's order.
 *   types   receives an array of `*count` types. The array and all strings are borrowed until the
 *           chunk ends (see jfr_next_chunk)
 * The first call on a chunk builds the array.
 * Errors: JFR_ERR_LIMIT (max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_types(jfr_chunk *chunk, const jfr_type **types,
                                            uint32_t *count, jfr_error *err);

/*
 * Finds the chunk's type called `name`. Returns 1 with the type, borrowed as above, or 0 when there
 * is none. Errors: as jfr_chunk_types.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_find_type(jfr_chunk *chunk, const char *name,
                                                const jfr_type **out, jfr_error *err);

/* Returns the field of that name, borrowed as the type is, or NULL. */
JFR_EXPORT const jfr_field *jfr_type_field(const jfr_type *type, const char *name);

/* Returns the annotation of class `name` ("jdk.jfr.Category") in a list of `count`, or NULL. */
JFR_EXPORT const jfr_annotation *jfr_annotation_find(const jfr_annotation *list, uint32_t count,
                                                     const char *name);

/*
 * Tells whether filters choose an event type. They have the form of the JDK's jfr tool: names
 * separated by commas, with `*` and `?`.
 *   events      filters the type's whole name, and the part after its last dot ("jdk.CPULoad",
 *               "GC*"); NULL = all
 *   categories  filters each of its categories, and the initials of a category of several words
 *               ("GC", "Java*", "JVM" for "Java Virtual Machine"); NULL = all
 * Returns false for a type that is no event type.
 */
JFR_EXPORT bool jfr_type_matches(const jfr_type *type, const char *events, const char *categories);

JFR_END_DECLS

#endif
