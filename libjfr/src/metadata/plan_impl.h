/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_PLAN_H
#define JFR_SRC_PLAN_H

#include "metadata/metadata_impl.h"

/* The kinds of steps of a plan. */
typedef enum jfr__op_code {
    JFR__OP_VARINT, /* `n` LEB128 integers; one when it fills a slot */
    JFR__OP_FIXED,  /* `n` bytes, big-endian; at most 8 when it fills a slot */
    JFR__OP_STRING, /* a string; its slot gets the string's offset */
    JFR__OP_ARRAY   /* a count, then that many times the next `n` ops; its slot gets the offset of
                       the count */
} jfr__op_code;

enum { JFR__SKIP = 0xFF };

typedef struct jfr__op {
    uint8_t code;
    uint8_t slot; /* JFR__SKIP: the value is not wanted */
    uint32_t n;
} jfr__op;

/*
 * How to read one value of a type. A plan is compiled from the metadata once per chunk and type,
 * and then run for each event or pool entry. Adjacent unwanted fields are one op.
 */
typedef struct jfr__plan {
    const jfr__op *ops;
    uint32_t count;
} jfr__plan;

/* The kind of value that a slot receives. */
typedef enum jfr__want_kind {
    JFR__WANT_INTEGER = 0, /* the value */
    JFR__WANT_STRING,      /* the offset of a string */
    JFR__WANT_ARRAY        /* the offset of an array's count */
} jfr__want_kind;

/*
 * The value of the field with this name goes into that slot. Wants with the same slot have the same
 * kind. If the metadata gives the field another shape, the plan skips the field, so that a number
 * is never used as an offset.
 */
typedef struct jfr__want {
    const char *field;
    uint8_t slot;
    uint8_t kind; /* jfr__want_kind */
} jfr__want;

/*
 * Compiles the plan of `type` into `arena`. The plan skips fields that `wants` does not name, and
 * does not write the slot of a want without a field. Returns 0, JFR_ERR_FORMAT (a field of an
 * undefined type, a type that contains itself), JFR_ERR_LIMIT (max_metadata_depth) or
 * JFR_ERR_NOMEM.
 */
int jfr__plan_compile(jfr__plan *out, const jfr__metadata *meta, const jfr__type *type,
                      const jfr__want *wants, size_t want_count, bool compressed,
                      uint32_t max_depth, jfr__arena *arena, jfr_error *err);

/* Reads one value. Sets c->failed when the value passes the cursor's end; the slots are then
 * invalid. */
void jfr__plan_run(const jfr__plan *plan, jfr__cursor *c, uint64_t *slots);

#endif
