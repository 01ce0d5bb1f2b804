/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_METADATA_H
#define JFR_SRC_METADATA_H

#include "memory_impl.h"
#include "pools/idmap_impl.h"
#include "read/cursor_impl.h"

#include <jfr/error.h>
#include <jfr/options.h>
#include <jfr/string.h>

/* How values of a type are stored in the file. */
typedef enum jfr__shape {
    JFR__STRUCT = 0, /* its fields in order */
    JFR__BOOLEAN,
    JFR__BYTE,
    JFR__CHAR,
    JFR__SHORT,
    JFR__INT,
    JFR__LONG,
    JFR__FLOAT,
    JFR__DOUBLE,
    JFR__STRING
} jfr__shape;

/* The unit in a field's jdk.jfr.Timespan or Timestamp annotation. */
typedef enum jfr__unit {
    JFR__UNIT_NONE = 0,
    JFR__UNIT_TICKS,
    JFR__UNIT_NANOS,
    JFR__UNIT_MILLIS
} jfr__unit;

typedef struct jfr__field {
    jfr_str name;
    uint64_t type_id;
    uint32_t type; /* index in types, JFR_NONE when undefined */
    bool constant_pool;
    bool array;
    jfr__unit unit;
    uint32_t
        last_annotation; /* in annotations, JFR_NONE = none; they form a list from last to first */
} jfr__field;

typedef struct jfr__type {
    uint64_t id;
    jfr_str name;
    jfr_str super_name; /* null: none */
    jfr_str label;      /* null when there is none */
    jfr__shape shape;
    bool simple; /* its one field stands for its values */
    uint32_t last_annotation;
    uint32_t first_field;
    uint32_t field_count;
} jfr__type;

/* An attribute of an annotation: its name ("value", "value-0", ...) and its text, as indices in
 * `strings`, because most are never used. */
typedef struct jfr__attribute {
    uint32_t name;
    uint32_t text;
} jfr__attribute;

/* An annotation of a type or a field. It names its class by an id that may be defined later. */
typedef struct jfr__annotation {
    uint64_t class_id;
    uint32_t type;            /* its class in types, JFR_NONE when undefined */
    uint32_t before;          /* the owner's previous annotation, or JFR_NONE */
    uint32_t first_attribute; /* in attributes */
    uint32_t attribute_count;
} jfr__annotation;

/* The types that one chunk defines. Each chunk has its own ids. */
typedef struct jfr__metadata {
    jfr__type *types;
    size_t type_count;
    jfr__field *fields;
    size_t field_count;
    jfr__annotation *annotations;
    size_t annotation_count;
    jfr__attribute *attributes; /* of annotations */
    jfr_str *strings;           /* of attributes, in the arena */
    size_t attribute_count;
    int32_t utc_offset_s; /* of the recording JVM's time zone, daylight saving included */
    jfr__idmap by_id;     /* type id to index in types */
    size_t type_cap;
    size_t field_cap;
    size_t annotation_cap;
    size_t attribute_cap;
    jfr__arena arena; /* strings that had to be converted */
    /* The metadata event's bytes after its id, from which all of this was read; NULL = read again
     * next time. */
    const uint8_t *body;
    size_t body_size;
    bool body_compressed;
} jfr__metadata;

void jfr__metadata_init(jfr__metadata *meta, const jfr_allocator *alloc, uint64_t max_bytes);
void jfr__metadata_free(jfr__metadata *meta);

/*
 * Reads the metadata event at the cursor into `meta`, replacing its content. Recorders write equal
 * metadata into many chunks: if the bytes equal those read last, the content is kept. Returns 0,
 * JFR_ERR_FORMAT, JFR_ERR_LIMIT or JFR_ERR_NOMEM.
 */
int jfr__metadata_read(jfr__metadata *meta, jfr__cursor *c, const jfr_options *limits,
                       jfr_error *err);
/* Makes the next read parse the metadata again, because the bytes of the last one are about to
 * move. */
void jfr__metadata_forget(jfr__metadata *meta);

/* Returns the type of that id or name, or NULL. */
const jfr__type *jfr__metadata_type(const jfr__metadata *meta, uint64_t id);
const jfr__type *jfr__metadata_named(const jfr__metadata *meta, const char *name);

bool jfr__str_is(jfr_str s, const char *text);
bool jfr__str_starts(jfr_str s, const char *prefix);

#endif
