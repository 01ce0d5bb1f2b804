/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_PLAN_H
#define JFR_SRC_PLAN_H

#include "metadata/metadata_impl.h"

/* What one step of a plan reads. */
typedef enum jfr__op_code {
    JFR__OP_VARINT, /* `n` LEB128 integers; one when it fills a slot */
    JFR__OP_FIXED,  /* `n` bytes, big-endian; at most 8 when it fills a slot */
    JFR__OP_STRING, /* a string; its slot gets the offset it lies at */
    JFR__OP_ARRAY   /* a count, then that many times the next `n` ops; its slot gets the offset of
                       the count */
} jfr__op_code;

enum { JFR__SKIP = 0xFF };

typedef struct jfr__op {
    uint8_t code;
    uint8_t slot; /* JFR__SKIP: nobody wants it */
    uint32_t n;
} jfr__op;

/*
 * How to read one value of a type: compiled once per chunk and type from the metadata, then run
 * over each event or pool entry. Neighbouring fields that nobody wants are one op.
 */
typedef struct jfr__plan {
    const jfr__op *ops;
    uint32_t count;
} jfr__plan;

/* What a slot is meant to hold. */
typedef enum jfr__want_kind {
    JFR__WANT_INTEGER = 0, /* the value */
    JFR__WANT_STRING,      /* the offset of a string */
    JFR__WANT_ARRAY        /* the offset of an array's count */
} jfr__want_kind;

/*
 * "The value of the field of this name goes into that slot." Wants that share a slot share a kind.
 * The metadata may give a field of that name another shape: it is then read over, so that a number
 * is never taken for an offset.
 */
typedef struct jfr__want {
    const char *field;
    uint8_t slot;
    uint8_t kind; /* jfr__want_kind */
} jfr__want;

/*
 * Compiles the plan of `type` into `arena`. Fields that `wants` does not name are read over; a want
 * without such a field leaves its slot alone.
 * Returns 0, JFR_ERR_FORMAT (a field of an undefined type, a type that contains itself),
 * JFR_ERR_LIMIT (max_metadata_depth) or JFR_ERR_NOMEM.
 */
int jfr__plan_compile(jfr__plan *out, const jfr__metadata *meta, const jfr__type *type,
                      const jfr__want *wants, size_t want_count, bool compressed,
                      uint32_t max_depth, jfr__arena *arena, jfr_error *err);

/* Reads one value. Sets c->failed when it runs over the cursor's end; the slots are then void. */
void jfr__plan_run(const jfr__plan *plan, jfr__cursor *c, uint64_t *slots);

#endif
